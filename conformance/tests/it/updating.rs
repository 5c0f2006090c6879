//! `replay --update`: intended changes are written into the transcripts, and matchers stay.

use std::fs;

use serde_json::{Value, json};

use crate::command_line::run;
use crate::serve::serve;
use crate::small_server::{echo, json as answer, server, whole};

#[tokio::test]
async fn what_differs_is_written_and_what_is_matched_stays() {
    let (target, _) = server(|path, body| {
        if body["method"] != "tools/list" {
            return echo(path, body);
        }
        let mut result = whole(&body["method"]);
        result["tools"] = json!([
            {"name": "b", "inputSchema": {"type": "object"}, "description": "at 12:00:00"},
            {"name": "a", "inputSchema": {"type": "object"}, "description": "new"},
        ]);
        let mut response =
            answer(200, &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}));
        response.headers_mut().insert("mcp-session-id", "s-1".parse().unwrap());
        response
    });
    let url = format!("{}/mcp", serve(target));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recorded.jsonl");
    let old = json!({"tools": [
        {"name": "a", "inputSchema": {"$any": true}, "description": "old"},
        {"name": "gone", "inputSchema": {"type": "object"}},
    ]});
    let lines = [
        json!({"transcript": 1, "name": "r", "eras": ["legacy"]}),
        json!({"open": "main"}),
        json!({"mcp": {"method": "tools/list"}, "expect": {"result": old}}),
    ];
    fs::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let file = path.to_str().unwrap();
    let (code, out, _) = run(&["replay", "--url", &url, file]).await;
    assert_eq!(code, 1, "{out}");
    // By name: what came, what went, and what changed.
    for says in ["/result/tools/1/description", "the element named \"gone\" is missing"] {
        assert!(out.contains(says), "{says}\n{out}");
    }
    let (code, out, err) = run(&["replay", "--url", &url, "--update", file]).await;
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("recorded.jsonl: lines 3"), "{out}");
    let written = fs::read_to_string(&path).unwrap();
    let step: Value = serde_json::from_str(written.lines().nth(2).unwrap()).unwrap();
    let tools = &step["expect"]["result"]["tools"];
    assert_eq!(tools[1]["description"], "new");
    assert_eq!(tools[1]["inputSchema"], json!({"$any": true}));
    // In a list of tools nothing is a time.
    assert_eq!(tools[0]["description"], "at 12:00:00");
    let (code, out, _) = run(&["replay", "--url", &url, file]).await;
    assert_eq!(code, 0, "{out}");
}

#[tokio::test]
async fn what_no_answer_explains_still_differs() {
    let (target, _) =
        server(
            |path, body| {
                if body["method"] == "x/y" { answer(500, &Value::Null) } else { echo(path, body) }
            },
        );
    let url = format!("{}/mcp", serve(target));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let lines = [
        json!({"transcript": 1, "name": "r", "eras": ["legacy"]}),
        json!({"open": "main"}),
        json!({"mcp": {"method": "x/y"}, "expect": {"result": {}}}),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    fs::write(&path, &text).unwrap();
    let (code, out, _) = run(&["replay", "--url", &url, "--update", path.to_str().unwrap()]).await;
    assert_eq!(code, 1, "{out}");
    assert!(out.contains("still differs: line 3"), "{out}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
