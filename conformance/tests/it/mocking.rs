//! Recordings that are made without a client, and mock servers that answer what was recorded.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt as _;
use mcp_conformance::{Body, Mock, Replay, Target, Transcript};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::check::correct::correct;
use crate::command_line::run;
use crate::serve::serve;
use crate::small_server::{self, echo, server};

const BINARY: &str = env!("CARGO_BIN_EXE_mcp-conformance");
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Two pages of tools, a tool that counts, one whose answer has a time, progress and a secret, and an error.
const RECORDED: &str = r#"{"transcript":1,"name":"recorded"}
{"open":"main"}
{"mcp":{"method":"tools/list"},"expect":{"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","nextCursor":{"$capture":"cursor1"},"tools":[{"name":"count","inputSchema":{"type":"object"}}]}}}
{"mcp":{"method":"tools/list","params":{"cursor":{"$var":"cursor1"}}},"expect":{"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"login","inputSchema":{"$literal":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object"}}}]}}}
{"mcp":{"method":"tools/call","params":{"name":"count","arguments":{}}},"expect":{"result":{"resultType":"complete","content":[{"type":"text","text":"1"}]}}}
{"mcp":{"method":"tools/call","params":{"name":"count"}},"expect":{"result":{"resultType":"complete","content":[{"type":"text","text":"2"}]}}}
{"mcp":{"method":"tools/call","params":{"name":"login","arguments":{"user":"a","password":"***"}}},"expect":{"notifications":[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}],"result":{"resultType":"complete","content":[{"type":"text","text":{"$match":"^a \\(at [0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(?:Z|[+-][0-9:]+)?\\)$"}}]}}}
{"mcp":{"method":"resources/read","params":{"uri":"test://gone"}},"expect":{"error":{"code":-32002,"message":"gone"}}}
"#;

/// The transcript in a folder, and the mock server for it over both transports.
async fn mocks(folder: &Path) -> [Target; 2] {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(Mock::read(&[folder]).unwrap().serve(listener));
    let arguments = ["mock".as_ref(), "--stdio".as_ref(), folder.as_os_str()];
    [Target::url(&url).unwrap(), Target::command(BINARY, arguments)]
}

/// A client of the era of a revision.
struct Client {
    target: Target,
    version: &'static str,
    session: Option<String>,
}

impl Client {
    async fn open(target: &Target, version: &'static str) -> Self {
        let mut client = Self { target: target.clone(), version, session: None };
        let (method, params) = match version {
            MODERN => ("server/discover", json!({})),
            _ => ("initialize", json!({"protocolVersion": version, "capabilities": {}})),
        };
        let (status, headers, messages) = client.send(method, params).await;
        assert_eq!(status, 200, "{messages:?}");
        assert!(messages[0]["result"]["capabilities"]["tools"].is_object(), "{messages:?}");
        client.session = headers.get("mcp-session-id").map(|it| it.to_str().unwrap().to_owned());
        client
    }

    /// The status, the headers, and the messages of the answer.
    async fn send(&self, method: &str, mut params: Value) -> (u16, HeaderMap, Vec<Value>) {
        if self.version == MODERN {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        }
        let message = json!({"jsonrpc": "2.0", "id": "own", "method": method, "params": params});
        let mut request = Request::post("/mcp").header("content-type", "application/json");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        let request = request.body(Bytes::from(message.to_string())).unwrap();
        let response = self.target.send(request).await.unwrap();
        let (head, body) = response.into_parts();
        let text = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(text.to_vec()).unwrap();
        let lines = text.lines().filter_map(|it| it.strip_prefix("data: ").or(Some(it)));
        let messages = lines.filter_map(|it| serde_json::from_str(it).ok()).collect();
        (head.status.as_u16(), head.headers, messages)
    }

    async fn answer(&self, method: &str, params: Value) -> Value {
        let (.., messages) = self.send(method, params).await;
        let answer = messages.last().unwrap().clone();
        assert_eq!(answer["id"], "own", "{answer}");
        answer
    }
}

#[tokio::test]
async fn what_was_recorded_is_answered_in_both_eras_over_both_transports() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recorded.jsonl"), RECORDED).unwrap();
    for target in mocks(folder.path()).await {
        for version in [LEGACY, MODERN] {
            let client = Client::open(&target, version).await;
            let page = client.answer("tools/list", json!({})).await;
            let cursor = page["result"]["nextCursor"].clone();
            let page = client.answer("tools/list", json!({ "cursor": cursor })).await;
            let schema = &page["result"]["tools"][0]["inputSchema"];
            assert!(schema["$schema"].is_string(), "{page}");

            // In the order in which it was recorded, then always the last.
            for count in ["1", "2", "2"] {
                let params = json!({"name": "count", "_meta": {"progressToken": 7}});
                let answer = client.answer("tools/call", params).await;
                assert_eq!(answer["result"]["content"][0]["text"], count, "{version} {target}");
            }

            let params = json!({"name": "login", "arguments": {"user": "a", "password": "real"}, "_meta": {"progressToken": 7}});
            let (_, _, messages) = client.send("tools/call", params.clone()).await;
            assert_eq!(messages[0]["params"]["progressToken"], 7, "{messages:?}");
            let text = &messages[1]["result"]["content"][0]["text"];
            assert_eq!(text, "a (at 2026-01-01T00:00:00Z)", "{messages:?}");

            let answer = client.answer("resources/read", json!({"uri": "test://gone"})).await;
            assert_eq!(answer["error"], json!({"code": -32002, "message": "gone"}));
        }
    }
}

#[tokio::test]
async fn what_was_not_recorded_gets_an_error_that_names_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recorded.jsonl"), RECORDED).unwrap();
    for target in mocks(folder.path()).await {
        for version in [LEGACY, MODERN] {
            let client = Client::open(&target, version).await;
            let params = json!({"name": "login", "arguments": {"user": "b", "password": "x"}});
            let error = client.answer("tools/call", params).await["error"].take();
            assert_eq!(error["code"], -32602, "{error}");
            let message = error["message"].as_str().unwrap();
            let nearest = "the nearest recorded one is tools/call with {\"arguments\":{\"password\":\"***\",\"user\":\"a\"},\"name\":\"login\"}";
            assert!(message.contains(nearest), "{message}");
            assert!(message.ends_with("recorded.jsonl:7)"), "{message}");
            assert_eq!(error["data"]["nearest"]["method"], "tools/call");

            let (status, _, messages) = client.send("prompts/list", json!({})).await;
            let error = &messages[0]["error"];
            assert_eq!(error["code"], -32601, "{error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("the recorded methods are "), "{message}");
            assert!(message.contains("resources/read, "), "{message}");
            let is_refused = version == MODERN && client.target.to_string().starts_with("http");
            assert_eq!(status, if is_refused { 404 } else { 200 });
        }
    }
}

#[tokio::test]
async fn sessions_are_those_of_the_legacy_era() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("recorded.jsonl"), RECORDED).unwrap();
    let [target, _] = mocks(folder.path()).await;
    let count = json!({"name": "count"});
    let text = |answer: &Value| answer["result"]["content"][0]["text"].clone();
    // Each session begins anew.
    let mut one = Client::open(&target, LEGACY).await;
    assert_eq!(text(&one.answer("tools/call", count.clone()).await), "1");
    let two = Client::open(&target, LEGACY).await;
    assert_eq!(text(&two.answer("tools/call", count.clone()).await), "1");
    assert_eq!(text(&one.answer("tools/call", count.clone()).await), "2");
    assert_ne!(one.session, two.session);

    let bare = |method: Method, name: &'static str, value: String| {
        let request = Request::builder().method(method).uri("/mcp").header(name, value);
        target.send(request.body(Bytes::new()).unwrap())
    };
    let session = one.session.clone().unwrap();
    let ended = bare(Method::DELETE, "mcp-session-id", session.clone()).await.unwrap();
    assert_eq!(ended.status(), 204);
    assert_eq!(one.send("tools/call", count.clone()).await.0, 404);
    one.session = None;
    let (status, _, messages) = one.send("tools/call", count).await;
    assert_eq!(status, 400);
    assert!(messages[0]["error"]["message"].as_str().unwrap().contains("Mcp-Session-Id"));
    assert_eq!(bare(Method::GET, "mcp-session-id", session).await.unwrap().status(), 405);
    let foreign = "https://evil.example".to_owned();
    assert_eq!(bare(Method::POST, "origin", foreign).await.unwrap().status(), 403);
}

#[tokio::test]
async fn what_a_transcript_does_not_name_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let written = r#"{"transcript":1,"name":"written"}
{"open":"main","expect":{"result":{"$contains":{"instructions":"ask"}}}}
{"mcp":{"method":"server/discover"},"era":"modern","expect":{"result":{"$contains":{"instructions":"ask"}}}}
{"mcp":{"method":"tools/list"},"expect":{"result":{"$contains":{"tools":[{"$contains":{"name":"a"}}]}}}}"#;
    fs::write(folder.path().join("written.jsonl"), written).unwrap();
    for target in mocks(folder.path()).await {
        for version in [LEGACY, MODERN] {
            let client = Client::open(&target, version).await;
            let (method, member) = match version {
                MODERN => ("server/discover", "supportedVersions"),
                _ => ("initialize", "protocolVersion"),
            };
            let result = client.answer(method, json!({})).await["result"].take();
            assert_eq!(result["instructions"], "ask", "{result}");
            assert!(result[member].to_string().contains(version), "{result}");
            let result = client.answer("tools/list", json!({})).await["result"].take();
            assert_eq!(result["tools"], json!([{"name": "a"}]), "{result}");
            assert_eq!(result["cacheScope"].is_string(), version == MODERN, "{result}");
        }
    }
}

#[tokio::test]
async fn a_mock_of_one_era_says_so_to_clients_of_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let modern = RECORDED.replacen("\"recorded\"", "\"recorded\",\"eras\":[\"modern\"]", 1);
    fs::write(folder.path().join("recorded.jsonl"), modern).unwrap();
    for target in mocks(folder.path()).await {
        let client = Client { target, version: LEGACY, session: None };
        let params = json!({"protocolVersion": LEGACY, "capabilities": {}});
        let answer = client.answer("initialize", params).await;
        assert_eq!(answer["error"]["code"], -32022, "{answer}");
        assert_eq!(answer["error"]["data"]["supported"], json!([MODERN]));
    }
    let (code, _, err) = run(&["mock", "no/such/file.jsonl"]).await;
    assert_eq!(code, 2, "{err}");
}

/// Records the calls in a file of a server; what was said on stderr.
async fn record(server: &[&str], calls: &Path, revision: &str, folder: &Path) -> String {
    let (calls, out) = (calls.to_str().unwrap(), folder.to_str().unwrap());
    let options = ["record", "--calls", calls, "--revision", revision, "--out", out];
    let (code, _, err) = run(&[&options[..], server].concat()).await;
    assert_eq!(code, 0, "{err}");
    err
}

#[tokio::test]
async fn calls_are_recorded_without_a_client_and_hold_for_the_server_and_for_its_mock() {
    let folder = tempfile::tempdir().unwrap();
    let calls = folder.path().join("calls.jsonl");
    let lines = "{\"name\":\"look\"}\n{\"name\":\"write\",\"arguments\":{}}\n";
    fs::write(&calls, lines).unwrap();
    let url = format!("{}/mcp", serve(correct()));
    for revision in [LEGACY, "2024-11-05", MODERN] {
        let one = folder.path().join(revision);
        let err = record(&["--upstream", &url], &calls, revision, &one).await;
        assert!(err.contains(&format!("made 2 calls in {revision}\nwrote ")), "{err}");
        let transcripts = Transcript::read_all([&one]).unwrap();
        assert_eq!(transcripts.len(), 1, "{err}");
        let text = fs::read_to_string(transcripts[0].source_name()).unwrap();
        for method in ["tools/list", "prompts/list", "\"name\":\"look\"", "\"name\":\"write\""] {
            assert!(text.contains(method), "{text}");
        }
        Replay::new(Target::url(&url).unwrap()).hold([&one]).await;
        for mock in mocks(&one).await {
            Replay::new(mock).hold([&one]).await;
        }

        // The same from a program.
        let two = folder.path().join(format!("{revision} stdio"));
        let mock = ["--", BINARY, "mock", "--stdio", one.to_str().unwrap()];
        let err = record(&mock, &calls, revision, &two).await;
        assert!(err.contains(&format!("made 2 calls in {revision}\nwrote ")), "{err}");
        for mock in mocks(&two).await {
            Replay::new(mock).hold([&one, &two]).await;
        }
    }
}

#[tokio::test]
async fn calls_that_cannot_be_made_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let (out, calls) = (folder.path().to_str().unwrap(), folder.path().join("calls.jsonl"));
    fs::write(&calls, "{\"name\":\"lok\"}").unwrap();
    let calls = calls.to_str().unwrap();
    let url = format!("{}/mcp", serve(correct()));
    let (code, _, err) = run(&["record", "--calls", calls, "--upstream", &url, "--out", out]).await;
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("the most similar one is \"look\""), "{err}");
    let nowhere = ["--upstream", "http://127.0.0.1:9/mcp"];
    let (code, told, _) =
        run(&[&["record", "--calls", calls, "--out", out], &nowhere[..]].concat()).await;
    assert_eq!(code, 3, "{told}");
}

/// A server whose tool repeats a secret that only this program sends.
fn telling(_: &str, body: &Value) -> Response<Body> {
    let result = match body["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "telling", "version": "1"},
        }),
        Some("tools/list") => {
            json!({"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]})
        }
        Some("tools/call") => {
            json!({"content": [{"type": "text", "text": "you are hunter-two-two or jäger-zwei"}]})
        }
        _ => return echo("", body),
    };
    small_server::json(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
}

#[tokio::test]
async fn a_secret_of_the_program_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let (calls, out) = (folder.path().join("calls.jsonl"), folder.path().join("out"));
    fs::write(&calls, "{\"name\":\"tell\"}").unwrap();
    let url = format!("{}/mcp", serve(server(telling).0));
    let keys = ["x-api-key: hunter-two-two", "x-auth-token: jäger-zwei"];
    let upstream = ["--upstream", &url, "--header", keys[0], "--header", keys[1]];
    record(&upstream, &calls, "2025-06-18", &out).await;
    let transcripts = Transcript::read_all([&out]).unwrap();
    let text = fs::read_to_string(transcripts[0].source_name()).unwrap();
    assert!(text.contains("you are ") && !text.contains("hunter"), "{text}");
    assert!(!text.contains("jäger"), "{text}");
    for mock in mocks(&out).await {
        Replay::new(mock).hold([&out]).await;
    }
}
