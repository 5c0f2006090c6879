//! Connections over byte streams under pressure and at their end: bounds, flushing, and how long an end may take.

use std::collections::HashSet;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use mcp_proto::stdio::{StdioConfig, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWrite, AsyncWriteExt as _, BufReader, BufWriter};
use tokio::time::Instant;

use crate::common::{PATIENCE, builder, call, probe, request, say, server, with_meta};
use crate::peer::{Peer, list};

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
        &with_meta(json!({"notifications": {"toolsListChanged": true}})),
    ))
    .await;
    assert_eq!(peer.next().await["method"], "notifications/subscriptions/acknowledged");
    peer.end().await;
    assert_eq!(start.elapsed(), Duration::ZERO);

    // A running call may still answer.
    let (probe, mut events) = probe();
    let mut peer = Peer::new(builder(&probe).build().unwrap());
    peer.send(&request(7, "tools/call", &with_meta(call("gate")))).await;
    events.expect("started").await;
    let ending = tokio::spawn(peer.end());
    tokio::time::sleep(Duration::from_millis(500)).await;
    probe.gate.notify_one();
    assert_eq!(ending.await.unwrap()[0]["id"], 7);
    assert_eq!(start.elapsed(), Duration::from_millis(500));

    // One that does not is dropped.
    let mut peer = Peer::new(builder(&probe).build().unwrap());
    peer.send(&request(7, "tools/call", &with_meta(call("hang")))).await;
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
    sender.write_all(format!("{}\n", list(1)).as_bytes()).await.unwrap();
    let ended =
        tokio::time::timeout(PATIENCE, serve(server(), input, far, StdioConfig::default())).await;
    assert_eq!(ended.unwrap().unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
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
    writer.write_all(format!("{}\n", list(1)).as_bytes()).await.unwrap();
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
    assert!(tokio::time::timeout(Duration::from_secs(1), flood).await.is_err());
    assert!(sent < 10_000, "{sent} requests were taken from a peer that reads no answer");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_input_is_an_end_for_a_peer_that_does_not_read() {
    // Its end is in sight, or lies behind more than is read ahead.
    for (requests, millis) in [(1_000, 900), (10_000, 10_000)] {
        let (near, far) = tokio::io::duplex(1 << 22);
        let (_peer, unread) = tokio::io::duplex(1_024);
        let (_kept, mut writer) = tokio::io::split(near);
        let (reader, _) = tokio::io::split(far);
        for id in 0..requests {
            let line = format!("{}\n", list(id));
            writer.write_all(line.as_bytes()).await.unwrap();
        }
        writer.shutdown().await.unwrap();
        let start = Instant::now();
        let served = serve(server(), reader, unread, StdioConfig::default()).await;
        assert_eq!(start.elapsed(), Duration::from_millis(millis));
        assert_eq!(served.is_ok(), millis == 900);
    }
}

#[tokio::test]
async fn calls_are_bounded_and_a_full_connection_still_hears() {
    let mut config = StdioConfig::default();
    config.max_calls = 2;
    let (probe, mut events) = probe();
    let (near, far) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(far);
    let served = tokio::spawn(serve(builder(&probe).build().unwrap(), reader, writer, config));
    let (reader, mut writer) = tokio::io::split(near);
    let mut lines = BufReader::new(reader).lines();
    let call = |id: u32, tool: &str| request(id, "tools/call", &with_meta(call(tool)));
    for message in [call(1, "hang"), call(2, "hang"), call(3, "gate")] {
        writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let refused = next(&mut lines).await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(3), &json!(-32600)));
    assert_eq!(
        refused["error"]["message"],
        "the connection has 2 calls running: wait for one to end"
    );
    events.expect("started").await;
    events.expect("started").await;
    // A cancellation makes room, and the end of the input ends the rest.
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    writer.write_all(format!("{cancel}\n{}\n", list(4)).as_bytes()).await.unwrap();
    assert!(next(&mut lines).await["result"]["tools"].is_array());
    events.expect("dropped").await;
    writer.shutdown().await.unwrap();
    tokio::time::timeout(PATIENCE, served)
        .await
        .expect("the end of the input was not seen")
        .unwrap()
        .unwrap();
    events.expect("dropped").await;
}

#[tokio::test]
async fn calls_that_answer_at_once_do_not_fill_a_connection() {
    let mut config = StdioConfig::default();
    config.max_calls = 1;
    let input: String = (0..100).map(|id| list(id) + "\n").collect();
    let mut output = Vec::new();
    serve(server(), input.as_bytes(), &mut output, config).await.unwrap();
    let output = String::from_utf8(output).unwrap();
    assert_eq!(output.lines().count(), 100);
    assert!(output.lines().all(|line| line.contains("\"result\"")));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_peer_that_reads_nothing_is_seen() {
    let (near, far) = tokio::io::duplex(1_024);
    let (reader, writer) = tokio::io::split(far);
    let served = tokio::spawn(serve(server(), reader, writer, StdioConfig::default()));
    let (_unread, mut writer) = tokio::io::split(near);
    let input: String = (0..1_000).map(|id| list(id) + "\n").collect();
    let started = Instant::now();
    let ended = async {
        writer.write_all(input.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
        served.await.unwrap().unwrap();
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("the connection did not end");
    assert_eq!(started.elapsed().as_millis() / 10, 90);
}

/// Takes everything and is never done with it.
struct Stuck;

impl AsyncWrite for Stuck {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Pending
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_flush_has_the_same_deadline_as_the_calls() {
    let line = list(1);
    let served = serve(server(), line.as_bytes(), Stuck, StdioConfig::default());
    tokio::time::timeout(PATIENCE, served).await.expect("the connection did not end").unwrap();
}

async fn next(lines: &mut tokio::io::Lines<impl AsyncBufReadExt + Unpin>) -> Value {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
    serde_json::from_str(&line.expect("no line came").unwrap().unwrap()).unwrap()
}

#[tokio::test]
async fn ten_thousand_pipelined_requests_lose_none() {
    let requests: String = (0..10_000)
        .map(|id| {
            request(id, "tools/call", &with_meta(say(&format!("{id}{}", "x".repeat(id % 300)))))
                .to_string()
                + "\n"
        })
        .collect();
    // Through pipes that are smaller than a message, too.
    let (near, far) = tokio::io::duplex(200);
    let (reader, writer) = tokio::io::split(far);
    let mut config = StdioConfig::default();
    // However slow the machine is, the answers are waited for.
    config.drain_time = Duration::from_secs(600);
    let served = tokio::spawn(serve(server(), reader, writer, config));
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
        let text = answer["result"]["structuredContent"]["text"].as_str().unwrap();
        assert_eq!(text.trim_end_matches('x'), id.to_string());
        assert!(seen.insert(id), "{id} was answered twice");
    }
    assert_eq!(seen.len(), 10_000);
    sending.await.unwrap();
    served.await.unwrap().unwrap();
}
