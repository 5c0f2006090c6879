//! What a replay does beside sending and comparing: answers, headers, endpoints, going on.

use serde_json::json;

use http::{Response, header::HeaderMap};
use http_body_util::{BodyExt as _, Full};
use mcp_conformance::{Body, BoxError, Era, Replay, Target, Transcript};
use serde_json::Value;

use crate::command_line::run;
use crate::serve::serve;
use crate::small_server::{echo, events, fails, json as answer, replay, server};

const OPEN: &str = r#"{"open":"main"}"#;

fn accepted() -> Response<Body> {
    let body = Full::default().map_err(BoxError::from).boxed_unsync();
    Response::builder().status(202).body(body).unwrap()
}

fn modern(steps: &str) -> Transcript {
    let text =
        format!("{{\"transcript\":1,\"name\":\"t\",\"eras\":[\"modern\"]}}\n{OPEN}\n{steps}");
    Transcript::parse("t.jsonl", &text).unwrap()
}

#[tokio::test]
async fn the_url_is_the_endpoint_and_the_rest_lies_beside_it() {
    let (target, asked) = server(echo);
    let url = serve(target);
    let steps = r#"{"mcp":{"method":"tools/list"},"expect":{"result":{"tools":[]}}}
{"http":{"method":"POST","path":"/mcp","json":{}},"expect":{"status":202}}
{"http":{"method":"POST","path":"/health","json":{}},"expect":{"status":202}}"#;
    for (given, expected) in [
        ("", ["/mcp", "/mcp", "/health"]),
        ("/mcp", ["/mcp", "/mcp", "/health"]),
        ("/base/mcp", ["/base/mcp", "/base/mcp", "/base/health"]),
        ("/other", ["/other", "/other", "/health"]),
        ("/", ["/", "/", "/health"]),
    ] {
        asked.lock().unwrap().clear();
        let target = Target::url(&format!("{url}{given}")).unwrap();
        Replay::new(target).run_one(&modern(steps), Era::Modern).await.unwrap();
        let lines: Vec<String> =
            asked.lock().unwrap().iter().map(|(line, ..)| line.clone()).collect();
        assert_eq!(lines, expected.map(|path| format!("POST {path}")), "{given}");
    }
}

#[tokio::test]
async fn headers_and_tokens_go_with_every_request_and_never_into_a_report() {
    let (target, asked) = server(echo);
    let (url, folder) = (serve(target), tempfile::tempdir().unwrap());
    let path = folder.path().join("t.jsonl");
    std::fs::write(&path, format!("{{\"transcript\":1,\"name\":\"t\"}}\n{OPEN}\n")).unwrap();
    let path = path.to_str().unwrap();
    // The search path is an environment variable that is there everywhere.
    let token = std::env::var("PATH").unwrap();
    let (code, out, err) = run(&[
        "replay",
        "--url",
        &url,
        "--header",
        "X-Tenant: a",
        "--token-env",
        "PATH",
        "--era",
        "legacy",
        path,
    ])
    .await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    for (_, headers, _) in asked.lock().unwrap().iter() {
        assert_eq!(headers["x-tenant"], "a");
        assert_eq!(headers["authorization"], format!("Bearer {token}"));
    }
    for (arguments, says) in [
        (["--header", "no colon"], "--header has no colon"),
        (["--header", "a b: c"], "cannot be sent as a header"),
        (["--token-env", "NO_SUCH_VARIABLE"], "the environment variable NO_SUCH_VARIABLE"),
    ] {
        let (code, _, err) =
            run(&[&["replay", "--url", &url, path], &arguments[..]].concat()).await;
        assert_eq!(code, 2);
        assert!(err.contains(says), "{err}");
    }
}

#[tokio::test]
async fn no_server_there_is_code_3() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let step = r#"{"mcp":{"method":"tools/list"},"expect":{"result":{}}}"#;
    std::fs::write(&path, format!("{{\"transcript\":1,\"name\":\"t\"}}\n{OPEN}\n{step}\n"))
        .unwrap();
    let path = path.to_str().unwrap();
    for server in [["--url", &format!("http://{unused}/mcp")], ["--command", "/no/such/program"]] {
        let (code, out, _) = run(&[&["replay"], &server[..], &[path]].concat()).await;
        assert_eq!(code, 3, "{out}");
        assert!(out.contains("cannot be reached"), "{out}");
    }
}

#[tokio::test]
async fn modern_headers_repeat_what_they_must() {
    let (target, asked) = server(echo);
    let steps = r#"{"mcp":{"method":"tasks/get","params":{"taskId":"t-1"}},"expect":{"result":{}}}
{"mcp":{"method":"prompts/get","params":{"name":"grüß"}},"expect":{"result":{"messages":[]}}}
{"mcp":{"method":"resources/read","params":{"uri":"=?base64?eA==?="}},"expect":{"result":{"contents":[]}}}"#;
    replay(&target, Era::Modern, &format!("{OPEN}\n{steps}")).await.unwrap();
    let names: Vec<String> =
        asked.lock().unwrap().iter().map(|(_, headers, _)| named(headers)).collect();
    assert_eq!(names, ["t-1", "=?base64?Z3LDvMOf?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="]);
}

fn named(headers: &HeaderMap) -> String {
    headers["mcp-name"].to_str().unwrap().to_owned()
}

/// Refuses calls until a header repeats an argument; it sees bodies alone, so it counts.
fn picky(_: &str, body: &Value) -> Response<Body> {
    let id = &body["id"];
    if body["method"] == "tools/list" {
        let schema = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}});
        let result =
            json!({"resultType": "complete", "tools": [{"name": "t", "inputSchema": schema}]});
        return answer(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }
    if id == 1 {
        let error = json!({"code": -32020, "message": "Mcp-Param-Region is missing"});
        return answer(400, &json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }
    answer(
        200,
        &json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": []}}),
    )
}

#[tokio::test]
async fn arguments_are_repeated_in_headers_once_the_tool_is_known() {
    let (target, asked) = server(picky);
    let call = r#"{"mcp":{"method":"tools/call","params":{"name":"t","arguments":{"region":"süd","deep":{"n":7}}}},"expect":{"result":{"content":[]}}}"#;
    replay(&target, Era::Modern, &format!("{OPEN}\n{call}\n{call}")).await.unwrap();
    let asked = asked.lock().unwrap();
    let methods: Vec<&Value> = asked.iter().map(|(_, _, body)| &body["method"]).collect();
    assert_eq!(methods, ["tools/call", "tools/list", "tools/call", "tools/call"]);
    for (_, headers, _) in &asked[2..] {
        assert_eq!(headers["mcp-param-region"], "=?base64?c8O8ZA==?=");
        assert_eq!(headers["mcp-param-n"], "7");
    }
}

/// Asks for a name before it answers: on the stream in the legacy era, by a result in the modern one.
fn curious(_: &str, body: &Value) -> Response<Body> {
    let question = json!({"method": "elicitation/create", "params": {"message": "Who?"}});
    match body["method"].as_str() {
        Some("initialize") | None if body["id"] != 70 => echo("", body),
        None => accepted(),
        Some("tools/call") if body["params"]["_meta"].is_object() => {
            let done = body["params"]["inputResponses"]["who"]["content"]["name"] == "Ada"
                && body["params"]["requestState"] == "s";
            let result = if done {
                json!({"resultType": "complete", "content": [], "ok": true})
            } else {
                json!({"resultType": "input_required", "requestState": "s", "inputRequests": {"who": question}})
            };
            answer(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
        }
        Some("tools/call") => {
            let asks = json!({"jsonrpc": "2.0", "id": 70, "method": "elicitation/create", "params": {"message": "Who?"}});
            let done =
                json!({"jsonrpc": "2.0", "id": body["id"], "result": {"content": [], "ok": true}});
            events(&[&format!("data: {asks}\n\n"), &format!("data: {done}\n\n")], false)
        }
        _ => echo("", body),
    }
}

#[tokio::test]
async fn questions_are_answered_in_both_eras() {
    let open = r#"{"open":"main","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"},"answers":[{"method":"elicitation/create","params":{"$contains":{"message":"Who?"}},"result":{"action":"accept","content":{"name":"Ada"}}}]}"#;
    let call = r#"{"mcp":{"method":"tools/call","params":{"name":"t"}},"expect":{"result":{"content":[],"ok":true}}}"#;
    for era in Era::ALL {
        let (target, asked) = server(curious);
        replay(&target, era, &format!("{open}\n{call}")).await.unwrap();
        let said = asked
            .lock()
            .unwrap()
            .iter()
            .any(|(_, _, body)| body["id"] == 70 && body["result"]["content"]["name"] == "Ada");
        assert_eq!(said, era == Era::Legacy);

        let (target, _) = server(curious);
        let other = open.replace("Who?", "Where?");
        fails(
            replay(&target, era, &format!("{other}\n{call}")).await,
            3,
            "the transcript has no answer: elicitation/create {\\\"message\\\":\\\"Who?\\\"}",
        );
        let (target, _) = server(curious);
        let ping = r#"{"mcp":{"method":"ping"},"expect":{"result":{}}}"#;
        fails(
            replay(&target, era, &format!("{open}\n{ping}")).await,
            2,
            "did not send elicitation/create",
        );
    }
}

#[tokio::test]
async fn a_replay_goes_on_and_says_what_it_could_not_run() {
    let (target, _) = server(|path, _| answer(200, &json!({"path": path})));
    let step = |path: &str, expected: &str| {
        format!(
            r#"{{"http":{{"method":"GET","path":"{path}"}},"expect":{{"status":200,"json":{expected}}}}}"#
        )
    };
    let steps = [
        step("/a", r#"{"path":"/x","no":{"$capture":"u"}}"#),
        step("/${u}", r#"{"$any":true}"#),
        step("/b", r#"{"path":{"$match":"^/c"}}"#),
        step("/d", r#"{"path":"/d"}"#),
    ];
    let text =
        format!("{{\"transcript\":1,\"name\":\"t\",\"eras\":[\"legacy\"]}}\n{}", steps.join("\n"));
    let (summary, report) =
        Replay::new(target).report(&[Transcript::parse("t.jsonl", &text).unwrap()]).await;
    assert_eq!(summary.failed, 1);
    assert!(report.contains("at t.jsonl:2: GET /a"), "{report}");
    assert!(report.contains("/json/no: expected a value, found nothing"), "{report}");
    assert!(report.contains("/json/path: expected \"/x\", found \"/a\""), "{report}");
    assert!(report.contains("at t.jsonl:4: GET /b"), "{report}");
    assert!(report.contains("expected a string in which /^/c/ is found, found \"/b\""), "{report}");
    assert!(report.contains("1 step was not run: it depends on a failed step"), "{report}");
    assert!(
        !report.contains('$') || report.contains("${u}"),
        "no matcher is shown as it is written: {report}"
    );
}

#[tokio::test]
async fn a_server_on_pipes_is_another_one_for_each_era() {
    // It knows one era alone: the one of its first line.
    let script = r#"read -r first; case "$first" in *initialize*) era=legacy;; *) era=modern;; esac
        line=$first; while :; do
        case "$line" in *'"_meta"'*) asks=modern;; *) asks=legacy;; esac
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        if [ -n "$id" ]; then printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","same":"%s","tools":[],"capabilities":{},"serverInfo":{"name":"s","version":"1"},"protocolVersion":"2025-11-25"}}\n' "$id" "$([ $era = $asks ] && echo yes || echo no)"; fi
        read -r line || exit 0; done"#;
    let expect = r#"{"result":{"same":"yes","tools":[],"capabilities":{},"serverInfo":{"name":"s","version":"1"},"protocolVersion":{"$any":true},"resultType":"complete"}}"#;
    let text = format!(
        "{{\"transcript\":1,\"name\":\"t\"}}\n{OPEN}\n{{\"mcp\":{{\"method\":\"tools/list\"}},\"expect\":{expect}}}"
    );
    let target = Target::command("sh", ["-c", script]);
    let (summary, report) =
        Replay::new(target).report(&[Transcript::parse("t.jsonl", &text).unwrap()]).await;
    assert_eq!(summary.passed, 2, "{report}");
}
