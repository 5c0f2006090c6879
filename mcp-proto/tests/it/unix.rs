//! The same over Unix sockets: several clients, who they are, and the end.

use std::time::Duration;

use mcp_proto::stdio::{UnixConfig, UnixPeer, serve_unix};
use mcp_proto::{CallToolResult, Context, Server, Tool};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::common::{PATIENCE, Raw, builder, call, probe, request, with_meta};

/// A server on a socket of its own.
struct Socket {
    folder: tempfile::TempDir,
    stop: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

/// One end of a connection.
struct Peer(Lines<BufReader<OwnedReadHalf>>, OwnedWriteHalf);

impl Socket {
    fn bind(server: Server, config: UnixConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("mcp")).unwrap();
        let (stop, stopped) = oneshot::channel();
        let served = tokio::spawn(serve_unix(server, listener, config, async {
            drop(stopped.await);
        }));
        Self { folder, stop, served }
    }

    async fn connect(&self) -> Peer {
        let stream = UnixStream::connect(self.folder.path().join("mcp")).await;
        let (reader, writer) = stream.unwrap().into_split();
        Peer(BufReader::new(reader).lines(), writer)
    }
}

impl Peer {
    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.1.write_all(line.as_bytes()).await.unwrap();
    }

    /// The next message; `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.0.next_line()).await;
        let line = line.expect("neither a line nor the end came").unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }
}

fn tool_call(id: i64, name: &str) -> Value {
    request(id, "tools/call", &with_meta(json!({ "name": name, "arguments": {} })))
}

#[tokio::test]
async fn clients_of_both_eras_are_served_side_by_side_and_known_by_their_user() {
    let server = Server::builder("unix", "0", ())
        .raw_tool(
            Tool::new("who", "Tells who calls.").with_input_schema(json!({ "type": "object" })),
            async |(), _, context: Context| {
                let peer = context.extension::<UnixPeer>().copied().unwrap();
                Ok(CallToolResult::text(format!("{}", peer.pid.unwrap_or(-1))))
            },
        )
        .build()
        .unwrap();
    let socket = Socket::bind(server, UnixConfig::default());
    let (mut modern, mut legacy) = (socket.connect().await, socket.connect().await);
    modern.send(&tool_call(1, "who")).await;
    let initialize: Value = serde_json::from_slice(&Raw::initialize("2025-06-18").body).unwrap();
    legacy.send(&initialize).await;
    assert_eq!(legacy.next().await.unwrap()["result"]["protocolVersion"], "2025-06-18");
    let answer = modern.next().await.unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    // Both ends are this process.
    assert_eq!(text, std::process::id().to_string());
    // The handshake of one connection is not another's.
    modern.send(&request(2, "tools/list", &json!({}))).await;
    assert_eq!(modern.next().await.unwrap()["error"]["code"], -32602);
    drop((modern, legacy));
    socket.stop.send(()).unwrap();
    socket.served.await.unwrap();
}

#[tokio::test]
async fn one_connection_too_many_waits_for_a_place() {
    let (probe, _events) = probe();
    let mut config = UnixConfig::default();
    config.max_connections = 1;
    let socket = Socket::bind(builder(&probe).build().unwrap(), config);
    let mut first = socket.connect().await;
    let mut second = socket.connect().await;
    first.send(&request(1, "tools/list", &with_meta(json!({})))).await;
    first.next().await.unwrap();
    second.send(&request(2, "tools/list", &with_meta(json!({})))).await;
    // The place is free when the first has gone, not before.
    let early = tokio::time::timeout(Duration::from_millis(50), second.0.next_line()).await;
    assert!(early.is_err());
    drop(first);
    assert_eq!(second.next().await.unwrap()["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn the_end_ends_listeners_gracefully_and_calls_after_their_time() {
    let (probe, mut events) = probe();
    let server = builder(&probe).tools_list_changed().build().unwrap();
    let socket = Socket::bind(server, UnixConfig::default());
    let mut listening = socket.connect().await;
    let listen = with_meta(json!({ "notifications": { "toolsListChanged": true } }));
    listening.send(&request(1, "subscriptions/listen", &listen)).await;
    let acknowledged = listening.next().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let mut calling = socket.connect().await;
    calling.send(&request(2, "tools/call", &with_meta(call("hang")))).await;
    events.expect("started").await;
    socket.stop.send(()).unwrap();
    let cancelled = listening.next().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(listening.next().await.unwrap()["result"]["resultType"], "complete");
    assert_eq!(listening.next().await, None);
    assert_eq!(calling.next().await, None);
    events.expect("dropped").await;
    socket.served.await.unwrap();
}
