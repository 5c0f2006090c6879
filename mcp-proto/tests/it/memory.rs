//! What a message costs in memory once it is read: the count is near what the allocator takes, and it is bounded.

use mcp_proto::StreamableHttpService;
use mcp_proto::http::HttpConfig;
use mcp_proto::json::{MAX_TREE_BYTES, Meter};
use mcp_proto::jsonrpc::{Message, ReadError};
use mcp_proto::stdio::{StdioConfig, serve};
use serde_json::{Value, json};

use crate::common::{Raw, open_session, request, server, service, with_meta};

/// A universe of 100,000 bodies, about as large as a body of 10 MiB may be.
fn universe() -> String {
    let star = |number: usize| {
        format!(
            r#""s{number:05}":{{"id":"s{number:05}","name":"S{number}","mass":1.5,"children":[],"parentId":null,"color":"\#ffcc00"}}"#
        )
    };
    let stars: Vec<String> = (0..100_000).map(star).collect();
    format!("{{\"stars\":{{{}}}}}", stars.join(",")).replace("\\#", "#")
}

/// Texts that are larger in memory than they look.
fn bombs() -> Vec<(&'static str, String)> {
    let many = |item: &str, times: usize| format!("[{}]", vec![item; times].join(","));
    let names = |length: usize| {
        let members = (0..50_000).map(|number| format!("\"{number:0>length$}\":0"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    vec![
        ("small objects", many(r#"{"":0}"#, 50_000)),
        ("objects of three", many(r#"{"x":1,"y":2,"z":3}"#, 30_000)),
        (
            "objects of twelve",
            many(
                r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":0,"k":1,"l":2}"#,
                10_000,
            ),
        ),
        ("empty strings", many("\"\"", 1_000_000)),
        ("short strings", many("\"x\"", 500_000)),
        ("numbers", many("0", 1_100_000)),
        ("empty arrays", many("[]", 500_000)),
        ("arrays of one", many("[0]", 300_000)),
        ("arrays of three", many("[1,2,3]", 200_000)),
        ("arrays of five", many("[1,2,3,4,5]", 200_000)),
        ("nested arrays", many(&format!("{}{}", "[".repeat(100), "]".repeat(100)), 5_000)),
        ("short names", names(1)),
        ("long names", names(300)),
        ("universe", universe()),
    ]
}

fn message(value: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{{"x":{value}}}}}"#)
}

/// What this process has allocated and touched, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.unwrap().trim().trim_end_matches(" kB");
    kib.parse::<usize>().unwrap() * 1024
}

/// Run by the next test in a process of its own, where nothing else takes memory.
#[cfg(target_os = "linux")]
#[test]
fn one_bomb() {
    let Ok(file) = std::env::var("MCP_PROTO_BOMB") else {
        return;
    };
    let text = std::fs::read(&file).unwrap();
    let meter = Meter::new(usize::MAX);
    let before = resident();
    let read = Message::from_slice_within(&text, &meter).unwrap();
    let taken = resident() - before;
    drop(read);
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    let ratio = meter.used() as f64 / taken as f64;
    let told = format!("{} bytes of text, {taken} taken, {ratio:.2} counted", text.len());
    assert!((0.8..=1.5).contains(&ratio), "{told}");
    std::fs::write(file, told).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn the_count_is_near_what_the_process_takes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bomb");
    for (name, value) in bombs() {
        std::fs::write(&file, message(&value)).unwrap();
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "memory::one_bomb", "--nocapture"])
            .env("MCP_PROTO_BOMB", &file)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        eprintln!("{name}: {}", std::fs::read_to_string(&file).unwrap());
    }
}

#[test]
fn a_universe_of_100_000_bodies_is_within_the_default() {
    let text = message(&universe());
    assert!(text.len() > 9 << 20 && text.len() <= 10 << 20, "{}", text.len());
    let meter = Meter::new(MAX_TREE_BYTES);
    assert!(Message::from_slice_within(text.as_bytes(), &meter).is_ok());
    assert!(meter.used() < MAX_TREE_BYTES, "{}", meter.used());
}

#[test]
fn reading_stops_at_the_allowance() {
    for (name, value) in bombs() {
        let text = message(&value);
        let meter = Meter::new(1 << 20);
        let refused = Message::from_slice_within(text.as_bytes(), &meter).unwrap_err();
        let id = Some(7.into());
        assert_eq!(refused, ReadError::TooCostly { id, max: 1 << 20 }, "{name}");
        // No step of the count is larger than what is there.
        assert!(meter.used() < 4 << 20, "{name}: {}", meter.used());
    }
    // An allowance that is just enough is enough, and what nobody reads counts while it is there only.
    let text = message("[{},[1,2],\"x\"]");
    let meter = Meter::new(usize::MAX);
    Message::from_slice_within(text.as_bytes(), &meter).unwrap();
    for (max, good) in [(meter.used(), true), (meter.used() - 1, false)] {
        let read = Message::from_slice_within(text.as_bytes(), &Meter::new(max));
        assert_eq!(read.is_ok(), good);
    }
    let unread = text.replace("\"params\"", "\"unread\"");
    let other = Meter::new(usize::MAX);
    Message::from_slice_within(unread.as_bytes(), &other).unwrap();
    assert!(other.used() < meter.used());
}

#[tokio::test]
async fn a_message_that_costs_too_much_is_refused_with_its_id() {
    let params = with_meta(json!({ "x": vec![json!({ "": 0 }); 200_000] }));
    let text = request(7, "tools/list", &params).to_string();
    let raw =
        |text: &str| Raw { body: text.to_owned().into(), ..Raw::modern("tools/list", json!({})) };
    let reply = raw(&text).send(&service()).await;
    assert_eq!(reply.refusal(), (413, -32600, Some(7.into())));
    assert!(reply.message().contains("134217728 bytes of memory"), "{}", reply.message());

    let mut output = Vec::new();
    serve(server(), text.as_bytes(), &mut output, StdioConfig::default()).await.unwrap();
    let answer: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));

    let mut config = HttpConfig::default();
    config.max_body_memory = 1_000;
    let service = StreamableHttpService::with_config(server(), config);
    let list = Raw::modern("tools/list", json!({}));
    assert_eq!(list.send(&service).await.refusal().0, 413);
}

#[tokio::test]
async fn the_messages_of_a_batch_share_one_allowance() {
    let mut config = HttpConfig::default();
    config.max_body_memory = 20_000;
    let service = StreamableHttpService::with_config(server(), config);
    let reply = Raw::initialize("2025-03-26").send(&service).await;
    let session = reply.header("mcp-session-id").unwrap().to_owned();
    let ping = |id: u32| request(id, "ping", &json!({ "x": vec![json!({ "": 0 }); 8] }));
    let batch: Value = (0..10).map(ping).collect();
    let reply = Raw::post(batch.to_string()).set("mcp-session-id", &session).send(&service).await;
    let answers = reply.json();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 10);
    let refused = answers.iter().filter(|answer| answer.get("error").is_some());
    let refused = refused.count();
    assert!((1..10).contains(&refused), "{refused} of 10");
    // The next message has an allowance of its own.
    assert!(!open_session(&service).await.is_empty());
}
