//! Lines over a pair of byte streams: what is answered, what is skipped, and how a connection ends.

use std::collections::HashSet;

use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{CallToolResult, Change, Context, ElicitForm, Field, Server, Tool};
use serde_json::{Value, json};

use crate::common::{Raw, builder, call, meta, probe, request, say, server, with_meta};
use crate::peer::{Peer, list};

/// Serves an input that ends, and gives all that was said.
async fn said(input: impl AsRef<[u8]>, config: StdioConfig) -> Vec<Value> {
    let mut output = Vec::new();
    serve(server(), input.as_ref(), &mut output, config).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'));
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn initialize() -> Value {
    serde_json::from_slice(&Raw::initialize("2025-06-18").body).unwrap()
}

#[tokio::test]
async fn the_first_message_may_be_anything_and_gets_one_answer() {
    let methods = [
        "initialize",
        "ping",
        "server/discover",
        "tools/list",
        "tools/call",
        "subscriptions/listen",
        "resources/list",
        "prompts/list",
        "logging/setLevel",
        "completion/complete",
        "bogus",
        "",
    ];
    let partial = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let other = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {}});
    let metas = [
        json!({"_meta": meta()}),
        json!({"_meta": partial}),
        json!({"_meta": other}),
        json!({"_meta": 1}),
        json!({}),
    ];
    for method in methods {
        for params in &metas {
            let answers = said(
                format!("{}\n{}\n", request(7, method, params), list("next")),
                StdioConfig::default(),
            )
            .await;
            let (own, next): (Vec<_>, Vec<_>) =
                answers.iter().partition(|answer| answer["id"] == 7);
            assert_eq!((own.len(), next.len()), (1, 1), "{method} {params}: {answers:?}");
            assert!(own[0]["error"]["code"].is_i64() || own[0]["result"].is_object());
            assert!(next[0]["result"]["tools"].is_array());
        }
    }
}

#[tokio::test]
async fn good_first_messages_are_served() {
    for (message, member) in [
        (request(7, "server/discover", &with_meta(json!({}))), "supportedVersions"),
        (request(7, "tools/list", &with_meta(json!({}))), "tools"),
        (request(7, "tools/call", &with_meta(say("x"))), "content"),
        (initialize(), "protocolVersion"),
    ] {
        let answers = said(message.to_string(), StdioConfig::default()).await;
        assert!(answers[0]["result"].get(member).is_some(), "{answers:?}");
    }
    let answers = said(request(7, "ping", &json!({})).to_string(), StdioConfig::default()).await;
    assert_eq!(answers, [json!({"jsonrpc": "2.0", "id": 7, "result": {}})]);
}

#[tokio::test]
async fn noise_is_skipped_and_broken_requests_are_answered() {
    let input = [
        "hello, I am a log line".to_owned(),
        String::new(),
        "   ".to_owned(),
        list(1),
        "{\"jsonrpc\":\"2.0\"".to_owned(),
        "[1,2]".to_owned(),
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"1.0","id":2,"method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":3,"method":"ping","method":"ping"}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":4,"result":{}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#.to_owned(),
        list(5),
    ];
    // Bytes that are no text, too.
    let mut bytes = b"\xff\xfe\x00\n".to_vec();
    bytes.extend(input.join("\n").bytes());
    let mut answers = said(bytes, StdioConfig::default()).await;
    answers.sort_by_key(|answer| answer["id"].as_i64());
    let told: Vec<_> = answers
        .iter()
        .map(|answer| (answer["id"].clone(), answer["error"]["code"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!(null), json!(-32700)),
            (json!(null), json!(-32600)),
            (json!(null), json!(-32600)),
            (json!(1), json!(null)),
            (json!(2), json!(-32600)),
            (json!(3), json!(-32600)),
            (json!(5), json!(null))
        ]
    );
}

/// modelcontextprotocol/rust-sdk#833: a client whose message was broken waited for its timeout. #940: peers that
/// answered each other's broken lines did not stop.
#[tokio::test(start_paused = true)]
async fn a_broken_message_is_answered_at_most_once_a_second() {
    for version in [None, Some("2025-03-26"), Some("2025-11-25")] {
        let mut peer = Peer::new(server());
        if let Some(version) = version {
            let initialize: Value = serde_json::from_slice(&Raw::initialize(version).body).unwrap();
            peer.send(&initialize).await;
            peer.next().await;
        }
        for broken in ["{\"jsonrpc\":\"2.0\",", " [{}", "{\"method\":\"ping\"}}", "[1,]"] {
            let storm = format!("{broken}\n").repeat(1_000);
            peer.send_raw(format!("{storm}stray {{}}\n{}\n", list(1)).as_bytes()).await;
            let refused = peer.next().await;
            assert_eq!(refused["error"]["code"], -32700, "{refused}");
            assert_eq!(refused.get("id"), Some(&Value::Null), "{refused}");
            assert_eq!(peer.next().await["id"], 1);
            tokio::time::advance(std::time::Duration::from_secs(1)).await;
        }
        // Such a refusal is not refused in turn.
        peer.send(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": ""}}))
            .await;
        assert!(peer.end().await.is_empty());
    }
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_and_a_longer_one_is_dropped() {
    let mut config = StdioConfig::default();
    config.max_line_bytes = list(1).len();
    let long = "x".repeat(100_000);
    for end in ["\n", ""] {
        let answers = said(format!("{}\n{long}\n{}{end}", list(1), list(2)), config).await;
        assert_eq!(answers.len(), 3, "{answers:?}");
        let refusal = answers.iter().find(|answer| answer.get("id").is_none()).unwrap();
        assert_eq!(refusal["error"]["code"], -32600);
        assert_eq!(
            refusal["error"]["message"],
            format!("the line is longer than {} bytes", config.max_line_bytes)
        );
    }
    // The last line may have no end, and be a good message but for its length.
    for last in [long.clone(), format!("{} ", list(2)), format!("{}{long}", list(2))] {
        for end in ["\n", ""] {
            let answers = said(format!("{}\n{last}{end}", list(1)), config).await;
            assert_eq!(answers.len(), 2, "{answers:?}");
            let refusal = answers.iter().find(|answer| answer.get("id").is_none());
            assert_eq!(refusal.unwrap()["error"]["code"], -32600);
        }
    }
}

#[tokio::test]
async fn line_ends_may_be_crlf_and_the_last_may_be_missing() {
    for input in [
        format!("{}\r\n{}\r\n", list(1), list(2)),
        format!("{}\n{}", list(1), list(2)),
        format!("{}\r\n\r\n{}\r", list(1), list(2)),
    ] {
        let answers = said(&input, StdioConfig::default()).await;
        let ids: HashSet<_> = answers.iter().map(|answer| answer["id"].as_i64()).collect();
        assert_eq!(ids, HashSet::from([Some(1), Some(2)]), "{input:?}");
    }
}

#[tokio::test]
async fn a_fast_call_does_not_wait_for_a_slow_one() {
    let (probe, mut events) = probe();
    let mut peer = Peer::new(builder(&probe).build().unwrap());
    peer.send(&request("slow", "tools/call", &with_meta(call("gate")))).await;
    peer.send(&request("fast", "tools/call", &with_meta(say("x")))).await;
    assert_eq!(peer.next().await["id"], "fast");
    events.expect("started").await;
    // An id in use is refused, and the call that has it goes on.
    peer.send(&request("slow", "tools/list", &with_meta(json!({})))).await;
    assert_eq!(peer.next().await["error"]["code"], -32600);
    probe.gate.notify_one();
    assert_eq!(peer.next().await["result"]["content"][0]["text"], "through");
    assert!(peer.end().await.is_empty());
}

#[tokio::test]
async fn a_legacy_connection_hears_of_changes() {
    let server = server();
    let mut peer = Peer::new(server.clone());
    peer.send(&initialize()).await;
    let result = &peer.next().await["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    // It is not told of anything before it says that it is ready.
    server.notify(Change::ToolsListChanged);
    peer.send(&request(6, "ping", &json!({}))).await;
    assert_eq!(peer.next().await["id"], 6);
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    peer.send(&request(8, "tools/call", &say("x"))).await;
    let answer = peer.next().await;
    assert_eq!(answer["result"]["structuredContent"]["text"], "x");
    assert!(answer["result"].get("resultType").is_none());
    server.notify(Change::ToolsListChanged);
    assert_eq!(
        peer.next().await,
        json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    );
    // A modern request on the same stream is modern.
    peer.send(&request(9, "tools/list", &with_meta(json!({})))).await;
    assert_eq!(peer.next().await["result"]["resultType"], "complete");
    peer.end().await;
}

#[tokio::test]
async fn listens_are_told_apart_by_their_id_and_ended_by_notification_and_result() {
    let server = server();
    let mut peer = Peer::new(server.clone());
    let subscription = "io.modelcontextprotocol/subscriptionId";
    for id in [json!(1), json!("1")] {
        let params = with_meta(json!({"notifications": {"toolsListChanged": true}}));
        peer.send(&request(&id, "subscriptions/listen", &params)).await;
        let acknowledged = peer.next().await;
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["_meta"][subscription], id);
    }
    server.notify(Change::ToolsListChanged);
    let heard = [peer.next().await, peer.next().await];
    let mut ids: Vec<_> =
        heard.iter().map(|event| event["params"]["_meta"][subscription].to_string()).collect();
    ids.sort();
    assert_eq!(ids, ["\"1\"", "1"]);
    server.close();
    for _ in 0..2 {
        let (notification, result) = (peer.next().await, peer.next().await);
        assert_eq!(notification["method"], "notifications/cancelled");
        assert_eq!(notification["params"]["requestId"], result["id"]);
        assert_eq!(notification["params"]["_meta"][subscription], result["id"]);
        assert_eq!(result["result"]["_meta"][subscription], result["id"]);
    }
    assert!(peer.end().await.is_empty());
}

#[tokio::test]
async fn a_call_says_nothing_after_its_answer() {
    // A handler that leaves its outbox to a task that outlives it.
    let server = Server::builder("late", "1", ())
        .raw_tool(
            mcp_proto::Tool::new("late", "").asking().with_input_schema(json!({"type": "object"})),
            async |(), _, context: mcp_proto::Context| {
                context.progress(1.0, None, None).await;
                tokio::spawn(async move {
                    for step in 2..1_000 {
                        context.progress(f64::from(step), None, None).await;
                        tokio::task::yield_now().await;
                    }
                });
                Ok(mcp_proto::CallToolResult::text("done"))
            },
        )
        .build()
        .unwrap();
    let mut peer = Peer::new(server);
    peer.send(&request(1, "tools/call", &with_meta(call("late")))).await;
    assert_eq!(peer.next().await["params"]["progress"], 1.0);
    while peer.next().await.get("id").is_none() {}
    peer.send(&request(2, "tools/list", &with_meta(json!({})))).await;
    assert_eq!(peer.next().await["id"], 2);
    assert!(peer.end().await.is_empty());
}

#[tokio::test]
async fn a_modern_peer_is_written_no_requests_and_its_answers_are_passed_over() {
    let server = Server::builder("asks", "0", ())
        .raw_tool(
            Tool::new("ask", "Asks.").asking().with_input_schema(json!({"type": "object"})),
            async |(), _, context: Context| {
                let form = ElicitForm::new("Sure?").field("sure", Field::boolean());
                let answer = context.elicit("sure", &form)?;
                Ok(CallToolResult::text(format!("{:?}", answer.action)))
            },
        )
        .build()
        .unwrap();
    let mut peer = Peer::new(server);
    let mut asked = call("ask");
    asked["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    // An answer to nothing, an answer to what might have been asked, and the call.
    peer.send(&json!({"jsonrpc": "2.0", "id": 1, "result": {"action": "accept"}})).await;
    peer.send(&request(7, "tools/call", &asked)).await;
    peer.send(&json!({"jsonrpc": "2.0", "id": 7, "result": {"action": "accept"}})).await;
    let answer = peer.next().await;
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["result"]["resultType"], "input_required");
    assert_eq!(peer.end().await, Vec::<Value>::new());
}
