//! Lines over a pair of byte streams: what is answered, what is skipped, and how a connection ends.

use std::collections::HashSet;
use std::time::Duration;

use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{Change, Server};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, BufWriter, DuplexStream, Lines, ReadHalf,
    WriteHalf,
};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::common::{PATIENCE, Raw, builder, call, meta, probe, request, say, server, with_meta};

/// Serves an input that ends, and gives all that was said.
async fn said(input: impl AsRef<[u8]>, config: StdioConfig) -> Vec<Value> {
    let mut output = Vec::new();
    serve(server(), input.as_ref(), &mut output, config)
        .await
        .unwrap();
    let output = String::from_utf8(output).unwrap();
    assert!(output.is_empty() || output.ends_with('\n'));
    output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn list(id: impl serde::Serialize) -> String {
    request(id, "tools/list", &with_meta(json!({}))).to_string()
}

/// An open connection.
struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    served: JoinHandle<std::io::Result<()>>,
}

impl Peer {
    fn new(server: Server) -> Self {
        let (near, far) = tokio::io::duplex(4_096);
        let (reader, writer) = tokio::io::split(far);
        let served = tokio::spawn(serve(server, reader, writer, StdioConfig::default()));
        let (reader, writer) = tokio::io::split(near);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            served,
        }
    }

    async fn send(&mut self, message: &Value) {
        self.writer
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
    }

    async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        serde_json::from_str(&line.expect("no line came").unwrap().unwrap()).unwrap()
    }

    /// Ends the input and waits for the end of the server; gives what it still said.
    async fn end(mut self) -> Vec<Value> {
        self.writer.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        self.served.await.unwrap().unwrap();
        rest
    }
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
            assert_eq!(
                (own.len(), next.len()),
                (1, 1),
                "{method} {params}: {answers:?}"
            );
            assert!(own[0]["error"]["code"].is_i64() || own[0]["result"].is_object());
            assert!(next[0]["result"]["tools"].is_array());
        }
    }
}

#[tokio::test]
async fn good_first_messages_are_served() {
    for (message, member) in [
        (
            request(7, "server/discover", &with_meta(json!({}))),
            "supportedVersions",
        ),
        (request(7, "tools/list", &with_meta(json!({}))), "tools"),
        (request(7, "tools/call", &with_meta(say("x"))), "content"),
        (initialize(), "protocolVersion"),
    ] {
        let answers = said(message.to_string(), StdioConfig::default()).await;
        assert!(answers[0]["result"].get(member).is_some(), "{answers:?}");
    }
    let answers = said(
        request(7, "ping", &json!({})).to_string(),
        StdioConfig::default(),
    )
    .await;
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
            (json!(1), json!(null)),
            (json!(2), json!(-32600)),
            (json!(3), json!(-32600)),
            (json!(5), json!(null))
        ]
    );
}

#[tokio::test]
async fn a_line_may_be_as_long_as_the_limit_and_a_longer_one_is_dropped() {
    let mut config = StdioConfig::default();
    config.max_line_bytes = list(1).len();
    let long = "x".repeat(100_000);
    for end in ["\n", ""] {
        let answers = said(format!("{}\n{long}\n{}{end}", list(1), list(2)), config).await;
        assert_eq!(answers.len(), 3, "{answers:?}");
        let refusal = answers
            .iter()
            .find(|answer| answer.get("id").is_none())
            .unwrap();
        assert_eq!(refusal["error"]["code"], -32600);
        assert_eq!(
            refusal["error"]["message"],
            format!("the line is longer than {} bytes", config.max_line_bytes)
        );
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
async fn ten_thousand_pipelined_requests_lose_none() {
    let requests: String = (0..10_000)
        .map(|id| {
            request(
                id,
                "tools/call",
                &with_meta(say(&format!("{id}{}", "x".repeat(id % 300)))),
            )
            .to_string()
                + "\n"
        })
        .collect();
    // Through pipes that are smaller than a message, too.
    let (near, far) = tokio::io::duplex(200);
    let (reader, writer) = tokio::io::split(far);
    let served = tokio::spawn(serve(server(), reader, writer, StdioConfig::default()));
    let (reader, mut writer) = tokio::io::split(near);
    let sending = tokio::spawn(async move {
        writer.write_all(requests.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    let mut lines = BufReader::new(reader).lines();
    let mut seen = HashSet::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        let answer: Value = serde_json::from_str(&line).unwrap();
        let id = answer["id"].as_u64().unwrap();
        let text = answer["result"]["structuredContent"]["text"]
            .as_str()
            .unwrap();
        assert_eq!(text.trim_end_matches('x'), id.to_string());
        assert!(seen.insert(id), "{id} was answered twice");
    }
    assert_eq!(seen.len(), 10_000);
    sending.await.unwrap();
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_fast_call_does_not_wait_for_a_slow_one() {
    let (probe, mut events) = probe();
    let mut peer = Peer::new(builder(&probe).build().unwrap());
    peer.send(&request("slow", "tools/call", &with_meta(call("gate"))))
        .await;
    peer.send(&request("fast", "tools/call", &with_meta(say("x"))))
        .await;
    assert_eq!(peer.next().await["id"], "fast");
    events.expect("started").await;
    // An id in use is refused, and the call that has it goes on.
    peer.send(&request("slow", "tools/list", &with_meta(json!({}))))
        .await;
    assert_eq!(peer.next().await["error"]["code"], -32600);
    probe.gate.notify_one();
    assert_eq!(peer.next().await["result"]["content"][0]["text"], "through");
    assert!(peer.end().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_ends_the_server_within_a_second() {
    let start = Instant::now();
    assert!(Peer::new(server()).end().await.is_empty());
    assert_eq!(start.elapsed(), Duration::ZERO);

    // A listen never ends by itself.
    let mut peer = Peer::new(server());
    peer.send(&request(
        7,
        "subscriptions/listen",
        &with_meta(json!({"notifications": {}})),
    ))
    .await;
    assert_eq!(
        peer.next().await["method"],
        "notifications/subscriptions/acknowledged"
    );
    peer.end().await;
    assert_eq!(start.elapsed(), Duration::ZERO);

    // A running call may still answer.
    let (probe, mut events) = probe();
    let mut peer = Peer::new(builder(&probe).build().unwrap());
    peer.send(&request(7, "tools/call", &with_meta(call("gate"))))
        .await;
    events.expect("started").await;
    let ending = tokio::spawn(peer.end());
    tokio::time::sleep(Duration::from_millis(500)).await;
    probe.gate.notify_one();
    assert_eq!(ending.await.unwrap()[0]["id"], 7);
    assert_eq!(start.elapsed(), Duration::from_millis(500));

    // One that does not is dropped.
    let mut peer = Peer::new(builder(&probe).build().unwrap());
    peer.send(&request(7, "tools/call", &with_meta(call("hang"))))
        .await;
    events.expect("finished").await;
    events.expect("started").await;
    let start = Instant::now();
    assert!(peer.end().await.is_empty());
    assert_eq!(start.elapsed(), Duration::from_millis(900));
    events.expect("dropped").await;
}

#[tokio::test]
async fn a_writer_that_breaks_ends_the_server() {
    let (near, far) = tokio::io::duplex(64);
    drop(near);
    let (keep_open, input) = tokio::io::duplex(4_096);
    let (_, mut sender) = tokio::io::split(keep_open);
    sender
        .write_all(format!("{}\n", list(1)).as_bytes())
        .await
        .unwrap();
    let ended = tokio::time::timeout(
        PATIENCE,
        serve(server(), input, far, StdioConfig::default()),
    )
    .await;
    assert_eq!(
        ended.unwrap().unwrap_err().kind(),
        std::io::ErrorKind::BrokenPipe
    );
}

#[tokio::test]
async fn a_writer_that_buffers_is_flushed() {
    let (near, far) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve(
        server(),
        reader,
        BufWriter::with_capacity(1 << 19, writer),
        StdioConfig::default(),
    ));
    let (reader, mut writer) = tokio::io::split(near);
    writer
        .write_all(format!("{}\n", list(1)).as_bytes())
        .await
        .unwrap();
    let mut lines = BufReader::new(reader).lines();
    let line = tokio::time::timeout(PATIENCE, lines.next_line())
        .await
        .expect("the answer stayed in the buffer");
    assert!(line.unwrap().unwrap().contains("\"tools\""));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_read_is_not_read_from_for_ever() {
    let (near, far) = tokio::io::duplex(1_024);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve(server(), reader, writer, StdioConfig::default()));
    let (_unread, mut writer) = tokio::io::split(near);
    let line = format!("{}\n", list(1));
    let mut sent = 0;
    let flood = async {
        loop {
            writer.write_all(line.as_bytes()).await.unwrap();
            sent += 1;
        }
    };
    // Time is paused: it passes only once nobody can go on.
    assert!(
        tokio::time::timeout(Duration::from_secs(1), flood)
            .await
            .is_err()
    );
    assert!(
        sent < 10_000,
        "{sent} requests were taken from a peer that reads no answer"
    );
}

#[tokio::test]
async fn calls_are_bounded_and_the_rest_waits_unread() {
    let mut config = StdioConfig::default();
    config.max_calls = 2;
    let (probe, mut events) = probe();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    tokio::spawn(serve(
        builder(&probe).build().unwrap(),
        reader,
        writer,
        config,
    ));
    let (reader, mut writer) = tokio::io::split(near);
    for id in 0..4 {
        let line = format!("{}\n", request(id, "tools/call", &with_meta(call("gate"))));
        writer.write_all(line.as_bytes()).await.unwrap();
    }
    let mut lines = BufReader::new(reader).lines();
    events.expect("started").await;
    events.expect("started").await;
    for running in [2, 2, 1, 0_usize] {
        assert!(events.none());
        probe.gate.notify_one();
        lines.next_line().await.unwrap().unwrap();
        events.expect("finished").await;
        if running == 2 {
            events.expect("started").await;
        }
    }
}

#[tokio::test]
async fn a_legacy_connection_hears_of_changes() {
    let server = server();
    let mut peer = Peer::new(server.clone());
    peer.send(&initialize()).await;
    let result = &peer.next().await["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
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
    peer.send(&request(9, "tools/list", &with_meta(json!({}))))
        .await;
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
        peer.send(&request(&id, "subscriptions/listen", &params))
            .await;
        let acknowledged = peer.next().await;
        assert_eq!(
            acknowledged["method"],
            "notifications/subscriptions/acknowledged"
        );
        assert_eq!(acknowledged["params"]["_meta"][subscription], id);
    }
    server.notify(Change::ToolsListChanged);
    let heard = [peer.next().await, peer.next().await];
    let mut ids: Vec<_> = heard
        .iter()
        .map(|event| event["params"]["_meta"][subscription].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, ["\"1\"", "1"]);
    server.close();
    for _ in 0..2 {
        let (notification, result) = (peer.next().await, peer.next().await);
        assert_eq!(notification["method"], "notifications/cancelled");
        assert_eq!(notification["params"]["requestId"], result["id"]);
        assert_eq!(result["result"]["_meta"][subscription], result["id"]);
    }
    assert!(peer.end().await.is_empty());
}

#[tokio::test]
async fn a_call_says_nothing_after_its_answer() {
    // A handler that leaves its outbox to a task that outlives it.
    let server = Server::builder("late", "1", ())
        .raw_tool(
            mcp_proto::Tool::new("late", "").with_input_schema(json!({"type": "object"})),
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
    peer.send(&request(1, "tools/call", &with_meta(call("late"))))
        .await;
    assert_eq!(peer.next().await["params"]["progress"], 1.0);
    while peer.next().await.get("id").is_none() {}
    peer.send(&request(2, "tools/list", &with_meta(json!({}))))
        .await;
    assert_eq!(peer.next().await["id"], 2);
    assert!(peer.end().await.is_empty());
}
