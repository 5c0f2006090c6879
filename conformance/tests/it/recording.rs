//! Sessions recorded through the proxies, replayed, and replayed against servers that differ in one byte.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::Response;
use mcp_conformance::{
    Body, Era, RecordedFile, Recorder, Replay, Target, Transcript, proxy, transcript_schema,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::command_line::run;
use crate::serve::serve;
use crate::server::target;
use crate::small_server::{echo, events, json as answer, server};

pub(crate) fn universe(names: &[&str]) -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts/universe");
    let files: Vec<PathBuf> =
        names.iter().map(|name| folder.join(format!("{name}.jsonl"))).collect();
    Transcript::read_all(files).unwrap()
}

/// Records what the replay of `transcripts` says to `upstream`.
pub(crate) async fn record(
    upstream: Target,
    transcripts: &[Transcript],
    folder: &Path,
    split: bool,
) -> Vec<RecordedFile> {
    let recorder = Recorder::new(folder, split).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let upstream = Target::url(&serve(upstream)).unwrap();
    let proxy = tokio::spawn(proxy(listener, upstream, recorder.clone()));
    let (summary, report) = Replay::new(Target::url(&url).unwrap()).report(transcripts).await;
    assert!(summary.is_success(), "{report}");
    proxy.abort();
    recorder.finish().unwrap()
}

#[tokio::test]
async fn what_was_recorded_holds_in_both_eras_and_fits_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let transcripts = universe(&["REQ-MCP-01", "REQ-MCP-02", "REQ-MCP-04"]);
    record(target(None), &transcripts, folder.path(), false).await;
    let eras: Vec<Era> = Transcript::read_all([folder.path()])
        .unwrap()
        .iter()
        .flat_map(|one| one.eras().to_vec())
        .collect();
    assert!(eras.contains(&Era::Legacy) && eras.contains(&Era::Modern), "{eras:?}");
    Replay::new(target(None)).hold([folder.path()]).await;

    let schema = jsonschema::validator_for(&transcript_schema()).unwrap();
    let written = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
    let mut lines = 0;
    for folder in [folder.path().to_owned(), written] {
        for transcript in Transcript::read_all([folder]).unwrap() {
            for line in std::fs::read_to_string(transcript.source_name()).unwrap().lines() {
                let value: Value = serde_json::from_str(line).unwrap();
                assert!(schema.is_valid(&value), "{}: {line}", transcript.source_name());
                lines += 1;
            }
        }
    }
    assert!(lines > 100);
    for broken in [
        json!({"transcript": 2, "name": "x"}),
        json!({"transcript": 1}),
        json!({"open": "a", "verson": "x"}),
        json!({"mcp": {"methd": "x"}}),
        json!({"await": 1}),
    ] {
        assert!(!schema.is_valid(&broken), "{broken}");
    }
}

#[tokio::test]
async fn one_behaviour_per_file_holds_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    record(target(None), &universe(&["REQ-MCP-02"]), folder.path(), true).await;
    let transcripts = Transcript::read_all([folder.path()]).unwrap();
    assert!(transcripts.len() >= 8, "{}", transcripts.len());
    for transcript in &transcripts {
        let (summary, report) = Replay::new(target(None)).report([transcript]).await;
        assert!(summary.is_success(), "{report}");
    }
}

fn written(folder: &Path) -> String {
    let mut text = String::new();
    for transcript in Transcript::read_all([folder]).unwrap() {
        text += &std::fs::read_to_string(transcript.source_name()).unwrap();
    }
    text
}

#[tokio::test]
async fn no_secret_is_written() {
    let (upstream, _) = server(|_, body| match body["method"].as_str() {
        Some("tools/call") => {
            let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLW9m";
            let text = format!("token {jwt} for hunter-two-two, key sk-abcdefghijklmnop1234");
            let result = json!({"resultType": "complete", "apiKey": "k-1234",
                "content": [{"type": "text", "text": text}]});
            answer(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
        }
        _ => echo("", body),
    });
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let upstream = serve(upstream);
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-conformance"))
        .args(["record", "--upstream", &upstream, "--listen", "127.0.0.1:0", "--out", out])
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).await.unwrap();
    let url = line.trim_end().rsplit_once(' ').unwrap().1;
    let steps = r#"{"transcript":1,"name":"t"}
{"open":"main"}
{"mcp":{"method":"tools/call","params":{"name":"t","arguments":{"password":"hunter-two-two","note":"hunter-two-two"}}},"expect":{"result":{"$any":true}}}"#;
    let client = Target::url(url).unwrap().header("x-api-key", "hunter-two-two").unwrap();
    let (summary, report) =
        Replay::new(client).report(&[Transcript::parse("t", steps).unwrap()]).await;
    assert!(summary.is_success(), "{report}");
    let id = Pid::from_raw(child.id().unwrap().cast_signed()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    let mut told = String::new();
    stderr.read_to_string(&mut told).await.unwrap();
    assert_eq!(child.wait().await.unwrap().code(), Some(0));
    assert!(told.contains("/result/apiKey: not compared exactly (a secret)"), "{told}");
    let text = written(folder.path());
    for secret in ["hunter", "eyJhbGci", "sk-abc", "k-1234"] {
        assert!(!text.contains(secret) && !told.contains(secret), "{secret}: {text}");
    }
    assert!(text.contains(r#""password":"***""#), "{text}");
    let (code, out, _) = run(&["replay", "--url", &upstream, out]).await;
    assert_eq!(code, 0, "{out}");
}

/// Makes an identifier, a time and a cursor for each call, which are never the same, and knows what it made last.
fn making(_: &str, body: &Value) -> Response<Body> {
    static MADE: AtomicUsize = AtomicUsize::new(1);
    let made = |number| format!("00000000-0000-4000-8000-{number:012}");
    let last = MADE.load(Ordering::Relaxed) - 1;
    let params = &body["params"];
    let mut result = match body["method"].as_str() {
        Some("tools/call") => {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let at = format!("2026-11-23T10:00:{:02}Z", number % 60);
            json!({"content": [], "id": made(number), "at": at, "echo": params["arguments"]["own"],
                "nextCursor": format!("c{number}"), "said": format!("made {}", made(number))})
        }
        Some("tools/list") => json!({"tools": [], "fits": params["cursor"] == format!("c{last}")}),
        Some("resources/read") => {
            json!({"contents": [], "uri": params["uri"], "last": params["uri"] == format!("x://{}", made(last))})
        }
        _ => return echo("", body),
    };
    result["resultType"] = "complete".into();
    answer(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}))
}

const OWN: &str = "11111111-2222-4333-8444-555555555555";

#[tokio::test]
async fn what_comes_back_is_captured_and_what_changes_is_matched() {
    let any = json!({"result": {"$any": true}});
    let steps = [
        json!({"transcript": 1, "name": "t"}),
        json!({"open": "main"}),
        json!({"mcp": {"method": "tools/call", "params": {"name": "make", "arguments": {"own": OWN}}},
            "expect": {"result": {"$contains": {"id": {"$capture": "u"}, "nextCursor": {"$capture": "c"}}}}}),
        json!({"mcp": {"method": "tools/list", "params": {"cursor": "${c}"}}, "expect": any}),
        json!({"mcp": {"method": "resources/read", "params": {"uri": "x://${u}"}}, "expect": any}),
    ];
    let steps: Vec<String> = steps.iter().map(Value::to_string).collect();
    let (upstream, _) = server(making);
    let folder = tempfile::tempdir().unwrap();
    let transcript = [Transcript::parse("t", &steps.join("\n")).unwrap()];
    let files = record(upstream.clone(), &transcript, folder.path(), false).await;
    let text = written(folder.path());
    assert!(text.contains(r#""cursor":{"$var":"cursor"#), "{text}");
    assert!(text.contains(r#""uri":"x://${id"#), "{text}");
    assert!(text.contains(r#""fits":true"#) && text.contains(r#""last":true"#), "{text}");
    assert!(
        text.contains(&format!(r#""echo":"{OWN}""#)),
        "what the client made up is exact: {text}"
    );
    for file in &files {
        assert!(file.loosened.iter().any(|place| place.path == "/result/at"), "{file:?}");
    }
    Replay::new(upstream).hold([folder.path()]).await;
}

#[tokio::test]
async fn requests_that_are_not_messages_name_the_version_that_was_agreed_on() {
    let (upstream, _) = server(echo);
    let steps = r#"{"transcript":1,"name":"t","eras":["legacy"]}
{"open":"main","version":"2025-11-25"}
{"http":{"method":"DELETE","path":"/mcp","headers":{"mcp-session-id":"${main.session}"}},"expect":{"status":202}}"#;
    let folder = tempfile::tempdir().unwrap();
    let transcript = [Transcript::parse("t", steps).unwrap()];
    record(upstream, &transcript, folder.path(), false).await;
    let text = written(folder.path());
    let line = text.lines().find(|line| line.contains("DELETE"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(r#""mcp-protocol-version":"2025-06-18""#), "{line}");
}

/// Its answer to a call comes on a stream that was broken off before.
fn breaking(_: &str, body: &Value) -> Response<Body> {
    match body["method"].as_str() {
        Some("tools/call") => events(&["id: e-1\nretry: 1\ndata:\n\n"], false),
        None => events(
            &["id: e-2\ndata: {\"jsonrpc\":\"2.0\",\"id\":2,\
                 \"result\":{\"content\":[],\"ok\":true}}\n\n"],
            false,
        ),
        _ => echo("", body),
    }
}

#[tokio::test]
async fn a_stream_that_was_resumed_is_one_answer() {
    let (upstream, _) = server(breaking);
    let steps = r#"{"transcript":1,"name":"t","eras":["legacy"]}
{"open":"main"}
{"mcp":{"method":"tools/call","params":{"name":"t"}},"expect":{"result":{"content":[],"ok":true}}}"#;
    let folder = tempfile::tempdir().unwrap();
    record(upstream.clone(), &[Transcript::parse("t", steps).unwrap()], folder.path(), false).await;
    let text = written(folder.path());
    assert!(text.contains(r#""expect":{"result":{"content":[],"ok":true}}"#), "{text}");
    let call: Vec<&str> = text.lines().filter(|line| line.contains("tools/call")).collect();
    assert_eq!(call.len(), 1, "{text}");
}

#[tokio::test]
async fn a_server_on_pipes_is_recorded_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    std::fs::write(
        &script,
        r#"while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
        case "$line" in
        *initialize\"*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"at":"%s"}}\n' "$id" "$(date -u +%Y-%m-%dT%H:%M:%SZ)";;
        *tools/list*) echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'; printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}\n' "$id";;
        esac; done"#,
    )
    .unwrap();
    let out = folder.path().join("out");
    let (script, out) = (script.to_str().unwrap(), out.to_str().unwrap());
    let client =
        format!("{} record --out {out} -- sh {script}", env!("CARGO_BIN_EXE_mcp-conformance"));
    let transcript = folder.path().join("t.jsonl");
    std::fs::write(
        &transcript,
        r#"{"transcript":1,"name":"t","eras":["legacy"]}
{"open":"main"}
{"stream":"s","listen":{}}
{"mcp":{"method":"tools/list"},"expect":{"result":{"tools":[]}}}
{"await":"s","message":{"$contains":{"method":"notifications/tools/list_changed"}}}"#,
    )
    .unwrap();
    let (code, said, err) =
        run(&["replay", "--command", &client, transcript.to_str().unwrap()]).await;
    assert_eq!(code, 0, "{said}{err}");
    // The recorder writes when its stdin closes; it is this process's child no longer.
    for _ in 0..100 {
        if Path::new(out).join("mcp-conformance-legacy-1.jsonl").exists() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let text = written(Path::new(out));
    assert!(text.contains("list_changed") && text.contains("$match"), "{text}");
    let (code, said, _) = run(&["replay", "--command", &format!("sh {script}"), out]).await;
    assert_eq!(code, 0, "{said}");
}

#[test]
fn what_went_to_another_path_is_left_out_of_a_conversion() {
    let exchange = |path: &str, status: u16, sent: Value, got: Value| {
        let headers = json!({"content-type": "application/json", "mcp-session-id": "a"});
        let request = json!({"method": "POST", "path": path, "headers": headers, "body": sent});
        let response = json!({"status": status, "headers": headers, "body": got});
        json!({"request": request, "response": response}).to_string()
    };
    let client = json!({"name": "client", "version": "1"});
    let opening =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let opened = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": client});
    let asked = |id: u64, method: &str, params: &Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let said = |id: u64, result: &Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    let (tools, none) = (json!({"tools": []}), json!({}));
    let lines = [
        exchange("/mcp", 200, asked(1, "initialize", &opening), said(1, &opened)),
        exchange("/things", 201, json!({"name": "a thing"}), json!({"id": 7})),
        exchange("/mcp?x=1", 200, asked(2, "tools/list", &none), said(2, &tools)),
    ];
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(folder.path(), false).unwrap();
    recorder.import("elsewhere.jsonl", &lines.join("\n")).unwrap();
    let files = recorder.finish().unwrap();
    assert_eq!((files.len(), recorder.left_out()), (1, 1));
    let text = std::fs::read_to_string(&files[0].path).unwrap();
    assert!(text.contains("tools/list") && !text.contains("201"), "{text}");
}
