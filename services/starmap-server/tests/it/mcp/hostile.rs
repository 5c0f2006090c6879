//! Input that no client sends by mistake.

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::harness::{Built, ERAS, Listening, binary, call, connect, soon, to_amarr};

fn names() -> Vec<String> {
    [
        "x".repeat(10_000),
        "é".repeat(5_000),
        "Jita\u{0}".to_owned(),
        "\u{1b}[2J\u{1b}]0;gone\u{7}".to_owned(),
        "a\nb\r\nc".to_owned(),
        "../../etc/passwd".to_owned(),
        "<script>&\"'".to_owned(),
        "%00%2e%2e".to_owned(),
        "\u{202e}atiJ".to_owned(),
        "-1".to_owned(),
        "99999999999999999999".to_owned(),
        String::new(),
    ]
    .into()
}

#[tokio::test]
async fn strange_names_are_unknown_and_told_back_harmlessly() {
    let built = Built::new();
    let server = built.live_server();
    for era in ERAS {
        let client = connect(&server, era).await;
        for name in names() {
            for (tool, arguments) in [
                ("route", json!({"origin": name, "destination": "Jita"})),
                ("route", to_amarr(json!({"avoid_systems": [name]}))),
                ("loop", json!({"origin": name})),
                ("nearest", json!({"origin": name})),
                ("distances", json!({"systems": ["Jita", name]})),
                ("optimize_waypoints", json!({"waypoints": ["Jita", name]})),
                ("gatecamp_risk", json!({"route": [name]})),
            ] {
                let error = call(&client, tool, arguments).await.unwrap_err();
                assert_eq!(error["code"], "SYSTEM_NOT_FOUND", "{tool} {name:?}");
                let message = error["message"].as_str().unwrap();
                assert!(message.len() < 500 && !message.contains(char::is_control), "{message:?}");
            }
            let found = call(&client, "systems", json!({"systems": [name]})).await.unwrap();
            assert_eq!(found["found"], 0);
            assert!(found.to_string().len() < 700, "{found}");
        }
    }
}

/// homeassistant-ai/ha-mcp#218: a client that can only send text.
#[tokio::test]
async fn lists_may_come_as_json_text() {
    let built = Built::new();
    let client = connect(&built.live_server(), Era::Modern).await;
    for (systems, found) in [(r#"["Jita", "Amarr"]"#, 2), (r#"["Jita"]"#, 1), ("[Jita", 0)] {
        let answer = call(&client, "systems", json!({"systems": systems})).await.unwrap();
        assert_eq!(answer["found"], found, "{answer}");
    }
}

/// microsoft/vscode-copilot-release#13430: a client that puts a name into a URI as it is.
#[tokio::test]
async fn a_name_in_a_uri_may_have_blanks() {
    let built = Built::new();
    let client = connect(&built.live_server(), Era::Modern).await;
    for uri in ["starmap://region/The Forge", "starmap://region/The%20Forge"] {
        let error = client.request("resources/read", json!({"uri": uri})).await.unwrap_err();
        assert!(error.to_string().contains("Unknown region: The Forge"), "{error}");
    }
}

#[tokio::test]
async fn lists_without_end_and_numbers_that_are_none_are_refused() {
    let built = Built::new();
    let server = built.server();
    let many = vec!["Jita"; 100_000];
    let light_years = |value: Value| json!({"origin": "Jita", "light_years": value});
    for era in ERAS {
        let client = connect(&server, era).await;
        for (tool, arguments) in [
            ("systems", json!({"systems": many})),
            ("analyze", json!({"systems": many})),
            ("distances", json!({"systems": many})),
            ("optimize_waypoints", json!({"waypoints": many})),
            ("route", to_amarr(json!({"avoid_systems": many}))),
            ("route", to_amarr(json!({"connections": many}))),
            ("jump_range", light_years(json!("NaN"))),
            ("jump_range", light_years(json!(1e308))),
            ("jump_range", light_years(json!(-5))),
            ("search", json!({"security_min": -1e308})),
            ("borders", json!({"origin": "Jita", "limit": -1})),
            ("borders", json!({"origin": "Jita", "limit": 1e30})),
            ("borders", json!({"origin": "Jita", "limit": 1.5})),
            ("nearest", json!({"origin": "Jita", "max_kills": -1})),
            ("nearest", json!({"origin": "Jita", "max_kills": 1e20})),
            ("loop", json!({"origin": {"$ref": "x"}})),
            ("loop", json!({"origin": "Jita", "target_jumps": [[[[[20]]]]]})),
        ] {
            let error = call(&client, tool, arguments).await.unwrap_err();
            assert_eq!(error["code"], "INVALID_PARAMETER", "{tool}: {error}");
            assert!(error.to_string().len() < 20_000, "{tool}: {}", error.to_string().len());
        }
        // The largest that the bounds allow is answered.
        let most = vec!["Jita"; 200];
        let found = call(&client, "systems", json!({"systems": most, "detail": "full"})).await;
        assert_eq!(found.unwrap()["found"], 200);
        let bridges: Vec<Value> =
            (0..500).map(|_| json!({"from": "Jita", "to": "Umbra"})).collect();
        let route = json!({"origin": "Jita", "destination": "Umbra", "connections": bridges, "alternatives": 10});
        assert_eq!(call(&client, "route", route).await.unwrap()["jumps"], 1);
    }
}

#[tokio::test]
async fn strange_uris_are_not_found() {
    let built = Built::new();
    let listening = Listening::new(&built.graph(), &[]).await;
    for era in ERAS {
        let client = Client::http(&listening.url, ClientConfig::new(era)).await.unwrap();
        for uri in [
            "starmap://system/%00".to_owned(),
            "starmap://system/%2e%2e%2f%2e%2e".to_owned(),
            format!("starmap://system/{}", "a".repeat(5_000)),
            format!("starmap://picture/route/{0}/{0}", "%F0%9F%98%80".repeat(100)),
            "starmap://picture/route/Jita/Amarr?mode=%3Csvg%3E".to_owned(),
            "starmap://region/<>".to_owned(),
        ] {
            let read = client.request("resources/read", json!({"uri": uri}));
            let error = soon(read).await.unwrap_err().to_string();
            assert!(error.len() < 7_000 && !error.contains(char::is_control), "{uri}: {error}");
        }
        call(&client, "systems", json!({"systems": ["Jita"]})).await.unwrap();
    }
}

#[tokio::test]
async fn garbage_on_the_pipe_does_not_end_the_server() {
    let built = Built::new();
    let piped = std::process::Stdio::piped;
    let mut command = binary("starmap-server");
    command.args(["mcp", "--graph"]).arg(built.graph());
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"\xff\xfe not JSON\n[]\n{\"jsonrpc\":\"2.0\"\n\n").await.unwrap();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = json!({"jsonrpc": "2.0", "id": "last", "method": "tools/call",
                      "params": {"name": "systems", "arguments": {"systems": ["Jita"]}, "_meta": meta}});
    stdin.write_all(format!("{call}\n").as_bytes()).await.unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = soon(lines.next_line()).await.unwrap().expect("an answer");
        let answer: Value = serde_json::from_str(&line).expect("stdout has the protocol alone");
        if answer["id"] == "last" {
            assert_eq!(answer["result"]["structuredContent"]["found"], 1, "{answer}");
            break;
        }
    }
    drop(stdin);
    assert!(soon(child.wait()).await.unwrap().success());
    // A client that has gone is no reason to complain.
    let client = connect(&built.server(), Era::Modern).await;
    drop(client);
}
