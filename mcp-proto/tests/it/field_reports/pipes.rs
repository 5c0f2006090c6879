//! Pipes: ends, batches, ids, cancellation, and what a reader of lines takes for an end.

use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{Era, StreamableHttpService};
use serde_json::{Value, json};

use super::{WATCHED, reporter, reporting};
use crate::common::{Raw, call, open_session, probe, request, service, with_meta};
use crate::events::{get, open};
use crate::peer::Peer;
use crate::resume::session_of;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn initialize(version: &str) -> Value {
    serde_json::from_slice(&Raw::initialize(version).body).unwrap()
}

/// A connection on which a client of this revision has shaken hands; `None` for one that has sent nothing.
async fn connected(version: Option<&str>) -> Peer {
    let mut peer = Peer::new(reporter());
    if let Some(version) = version {
        peer.send(&initialize(version)).await;
        assert_eq!(peer.next().await["result"]["protocolVersion"], version);
    }
    peer
}

/// All that a server writes for this input.
async fn written(input: &str) -> String {
    let mut output = Vec::new();
    serve(reporter(), input.as_bytes(), &mut output, StdioConfig::default()).await.unwrap();
    String::from_utf8(output).unwrap()
}

/// modelcontextprotocol/go-sdk#1061, modelcontextprotocol/rust-sdk#753, modelcontextprotocol/python-sdk#2678
#[tokio::test(start_paused = true)]
async fn what_came_before_the_end_of_the_input_is_answered() {
    let methods = [
        ("tools/list", json!({})),
        ("tools/call", call("slow")),
        ("resources/list", json!({})),
        ("tools/call", call("change")),
        ("prompts/list", json!({})),
    ];
    for era in [Era::Legacy, Era::Modern] {
        let mut lines = match era {
            Era::Legacy => vec![initialize("2025-06-18").to_string(), INITIALIZED.to_owned()],
            Era::Modern => Vec::new(),
        };
        for (id, (method, params)) in methods.iter().enumerate() {
            let params =
                if era == Era::Modern { with_meta(params.clone()) } else { params.clone() };
            lines.push(request(id + 10, method, &params).to_string());
        }
        // The last line has no end.
        let output = written(&lines.join("\n")).await;
        for id in 10..15 {
            assert!(output.contains(&format!(r#""id":{id},"#)), "{era:?} {id}: {output}");
        }
    }
}

/// openai/tunnel-client#45
#[tokio::test]
async fn a_client_that_never_says_that_it_is_initialized_is_served() {
    let subscribe = json!({ "uri": WATCHED });
    let mut peer = connected(Some("2025-11-25")).await;
    peer.send(&request(2, "resources/subscribe", &subscribe)).await;
    assert_eq!(peer.next().await["id"], 2);
    peer.send(&request(3, "tools/call", &call("change"))).await;
    let messages = [peer.next().await, peer.next().await];
    assert!(messages.iter().any(|message| message["id"] == 3));
    assert!(messages.iter().any(|message| message["params"]["uri"] == WATCHED));
    // Late, and twice.
    peer.send_raw(format!("{INITIALIZED}\n{INITIALIZED}\n").as_bytes()).await;
    assert_eq!(peer.end().await, Vec::<Value>::new());

    let service = StreamableHttpService::new(reporter());
    let session = open_session(&service).await;
    let mut stream = open(&service, get(&session, None)).await;
    Raw::legacy(&session, "resources/subscribe", &subscribe).send(&service).await.result();
    Raw::legacy(&session, "tools/call", &call("change")).send(&service).await.result();
    assert_eq!(stream.message().await.unwrap()["params"]["uri"], WATCHED);
    for _ in 0..2 {
        let late = Raw::post(INITIALIZED).set("mcp-session-id", &session);
        assert_eq!(late.send(&service).await.status, 202);
    }
}

/// accensa/x402-facilitator-stellar#199
#[tokio::test]
async fn a_batch_is_never_met_with_silence() {
    let ping = |id| request(id, "ping", &json!({}));
    let batches =
        [json!([ping(1), ping(2)]), json!([]), json!([1, 2]), json!([initialize("2025-06-18")])];
    for version in [None, Some("2024-11-05"), Some("2025-06-18"), Some("2025-11-25")] {
        let mut peer = connected(version).await;
        for batch in &batches {
            peer.send(batch).await;
            let refused = peer.next().await;
            assert_eq!(refused["error"]["code"], -32600, "{version:?} {batch}");
            assert_eq!(refused.get("id"), None);
        }
        assert!(peer.end().await.is_empty());
    }
    // The one revision with batches.
    let mut peer = connected(Some("2025-03-26")).await;
    for batch in &batches {
        peer.send(batch).await;
        let answers = peer.next().await;
        let first = if let Some(answers) = answers.as_array() { &answers[0] } else { &answers };
        let wanted = if batch[0] == ping(1) { &Value::Null } else { &json!(-32600) };
        assert_eq!(&first["error"]["code"], wanted, "{batch}");
    }
    peer.send(&json!([{"jsonrpc": "2.0", "method": "notifications/x"}])).await;
    assert!(peer.end().await.is_empty());
}

/// anthropics/claude-agent-sdk-typescript#137, anthropics/anthropic-sdk-typescript#882
#[tokio::test]
async fn separators_of_lines_leave_as_escapes() {
    let text = "before\u{2028}after\u{2029}end\u{85}…";
    let has_none = |written: &str| !written.contains(['\u{2028}', '\u{2029}']);
    let arguments = json!({ "text": text });
    let mut input = String::new();
    for (id, tool) in ["echo", "raw", "progress", text].into_iter().enumerate() {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if tool == "progress" {
            params = json!({ "name": tool, "arguments": { "steps": 1 }, "_meta": { "progressToken": text } });
        }
        input += &format!("{}\n", request(format!("{id}{text}"), "tools/call", &with_meta(params)));
    }
    let output = written(&input).await;
    assert!(has_none(&output), "{output}");
    assert_eq!(output.lines().count(), 5, "{output}");
    for line in output.lines() {
        let message: Value = serde_json::from_str(line).unwrap();
        let id = message["id"].as_str().unwrap_or_default();
        match id.strip_suffix(text) {
            Some("0" | "1") => {
                let result = &message["result"];
                assert_eq!(result["structuredContent"], arguments);
                let mirror = result["content"][0]["text"].as_str().unwrap();
                assert_eq!(serde_json::from_str::<Value>(mirror).unwrap(), arguments);
            }
            Some("2") => assert_eq!(message["result"]["structuredContent"]["done"], true),
            Some(_) => assert_eq!(message["error"]["code"], -32602),
            None => assert_eq!(message["params"]["progressToken"], text),
        }
    }
    for tool in ["echo", "raw"] {
        let params = json!({ "name": tool, "arguments": arguments });
        let raw = Raw::modern("tools/call", params);
        for raw in [raw.clone(), raw.set("accept", "text/event-stream")] {
            let reply = raw.send(&StreamableHttpService::new(reporter())).await;
            assert!(has_none(std::str::from_utf8(&reply.body).unwrap()));
        }
    }
}

/// JustVugg/colibri#1589, inkeep/open-knowledge#472: a string that was cut in the middle of a character.
#[tokio::test]
async fn half_a_character_is_answered_with_the_id_of_its_call() {
    for (sent, wanted) in [
        (r"hello \ud83d", "hello \u{fffd}"),
        (r"\uDE00 \ud83d\ud83d\ude00 \\ud83d", "\u{fffd} \u{fffd}\u{1f600} \\ud83d"),
    ] {
        for arguments in [json!({ "text": "CUT" }), json!({ "text": "CUT", "more": [{}] })] {
            let params = with_meta(json!({ "name": "raw", "arguments": arguments }));
            let body = request(7, "tools/call", &params).to_string().replace("CUT", sent);
            let line: Value = serde_json::from_str(&written(&format!("{body}\n")).await).unwrap();
            assert_eq!(line["id"], 7, "{line}");
            assert_eq!(line["result"]["structuredContent"]["text"], wanted, "{line}");
            let headers = Raw::modern("tools/call", json!({ "name": "raw" }));
            let reply = Raw { body: body.into(), ..headers };
            let reply = reply.send(&StreamableHttpService::new(reporter())).await;
            assert_eq!(reply.result()["structuredContent"]["text"], wanted);
        }
    }
}

/// BloopAI/vibe-kanban#3232, yurineko73/Godot-MCP-Native#16, frontman-ai/frontman#1552,
/// DeusData/codebase-memory-mcp#253
#[tokio::test]
async fn an_id_comes_back_as_it_was_or_is_refused_at_once() {
    let long = format!("\"{}\"", "x".repeat(10_000));
    let kept =
        ["0", "-1", "1774232524389", "9007199254740993", "\"1\"", "\"\"", "\"00\"", r#""\u0000""#];
    let refused = ["18446744073709551615", "18446744073709551616", "1.5", &long];
    let service = service();
    let session = open_session(&service).await;
    let mut peer = connected(Some("2025-11-25")).await;
    for id in kept.into_iter().chain(refused) {
        let is_kept = kept.contains(&id);
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let value: Value = serde_json::from_str(id).unwrap();
        peer.send_raw(format!("{ping}\n").as_bytes()).await;
        let answer = peer.next().await;
        let reply = Raw::post(ping).set("mcp-session-id", &session).send(&service).await;
        for answer in [answer, reply.json()] {
            assert_eq!(answer.get("id"), is_kept.then_some(&value), "{answer}");
            assert_eq!(answer["error"]["code"], if is_kept { Value::Null } else { json!(-32600) });
        }
        // The same values as tokens of progress: one that cannot be one is not reported to.
        let mut params = json!({ "name": "progress", "arguments": { "steps": 1 } });
        params["_meta"] = json!({ "progressToken": value });
        let reply = Raw::legacy(&session, "tools/call", &params).send(&service).await;
        assert_eq!(reply.status, 200);
        if is_kept {
            assert_eq!(reply.events()[0]["params"]["progressToken"], value);
        }
        // And as the id of a subscription.
        let listen = with_meta(json!({ "notifications": { "toolsListChanged": true } }));
        peer.send(&request(&value, "subscriptions/listen", &listen)).await;
        let said = peer.next().await;
        let told = &said["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(told, if is_kept { &value } else { &Value::Null }, "{said}");
    }
}

/// langchain4j/langchain4j#3689, LIghtJUNction/OniMods#167
#[tokio::test]
async fn a_number_that_is_cancelled_as_a_text_is_cancelled() {
    let cancel = |params: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    let none = [
        json!({ "requestId": "07" }),
        json!({ "requestId": 7.5 }),
        json!({ "requestId": null }),
        json!({}),
    ];
    for version in [None, Some("2025-06-18")] {
        let (probe, mut events) = probe();
        let mut peer = Peer::new(reporting(&probe).build().unwrap());
        if let Some(version) = version {
            peer.send(&initialize(version)).await;
            peer.next().await;
        }
        let hang = if version.is_none() { with_meta(call("hang")) } else { call("hang") };
        // The exact id comes first.
        for (id, cancelled) in [(json!(7), "7"), (json!("8"), "8")] {
            peer.send(&request(id, "tools/call", &hang)).await;
            events.expect("started").await;
            for params in &none {
                peer.send(&cancel(params.clone())).await;
            }
            peer.send(&request("still", "tools/call", &hang)).await;
            events.expect("started").await;
            assert!(events.none());
            peer.send(&cancel(json!({ "requestId": cancelled, "reason": "timeout" }))).await;
            events.expect("dropped").await;
            peer.send(&cancel(json!({ "requestId": "still" }))).await;
            events.expect("dropped").await;
        }
    }
    let (probe, mut events) = probe();
    let service = StreamableHttpService::new(reporting(&probe).build().unwrap());
    let session = session_of(&service, "2025-06-18").await;
    let running = tokio::spawn({
        let (service, hang) = (service.clone(), Raw::legacy(&session, "tools/call", &call("hang")));
        async move { hang.send(&service).await }
    });
    events.expect("started").await;
    for params in none.into_iter().chain([json!({ "requestId": "7" })]) {
        let raw = Raw::post(cancel(params).to_string()).set("mcp-session-id", &session);
        assert!(events.none());
        assert_eq!(raw.send(&service).await.status, 202);
    }
    events.expect("dropped").await;
    assert_eq!(running.await.unwrap().status, 200);
}
