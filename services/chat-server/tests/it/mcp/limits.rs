//! How long things may take: a connection that says nothing, a request that does not come back, the end of the program.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::time::Duration;

use chat_server::cli;
use chat_server::mcp;
use mcp_proto::http::serve;
use mcp_proto::{Era, StreamableHttpService};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;
use tokio::time::{Instant, advance};

use super::harness::{BOTH, HANG, TestSetup, signal, structured, terminate};
use super::lifecycle::{initialize, modern, post};
use super::pipe::Pipe;

/// The contract's.
const CONNECTION: Duration = Duration::from_secs(30);
const REQUEST: Duration = Duration::from_secs(60);

/// The clock stands still unless everybody waits: then it goes on to whatever is due.
#[tokio::test(start_paused = true)]
async fn a_connection_has_thirty_seconds_to_say_what_it_wants() {
    let setup = TestSetup::new("");
    let running = setup.start();
    let bounds = cli::host();
    let server = mcp::server(running.service.clone()).unwrap();
    let service = StreamableHttpService::with_config(server, bounds.http);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = hyper::service::service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, std::convert::Infallible>(service.handle(request).await) }
    });
    tokio::spawn(serve(listener, service, bounds.serve, std::future::pending()));
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n"
    );
    let half = format!("{head}content-length: 1000\r\n\r\n{{\"jsonrpc\":");
    for (said, answered) in [("", ""), (&*head, ""), (&*half, "HTTP/1.1 408")] {
        let start = Instant::now();
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        assert!(answer.starts_with(answered), "{said:?}: {answer}");
        let took = start.elapsed();
        let is_right = took >= CONNECTION && took < CONNECTION + Duration::from_secs(5);
        assert!(is_right, "{said:?}: {took:?}");
    }
}

/// A setup whose export has become a pipe that no program writes into: what reads a file of it does not come back.
struct Stuck {
    setup: TestSetup,
    uri: String,
}

const EXPORT: &str = "chats/WhatsApp Chat with Ann.txt";

impl Stuck {
    /// The export, while it can still be read.
    fn new() -> Self {
        let setup = TestSetup::new(
            "[[source]]\nid = \"whatsapp\"\nkind = \"whatsapp-export\"\npath = \"chats/WhatsApp Chat with Ann.txt\"\n",
        );
        setup.write("chats/IMG-1.jpg", "picture");
        setup.write(EXPORT, "13/01/2025, 09:00 - Ann: IMG-1.jpg (file attached)\n");
        Self { setup, uri: String::new() }
    }

    /// The server has read it: from here on no program does any more.
    async fn stick(&mut self, client: &Client) {
        let told = structured(client, "get_messages", json!({})).await;
        self.stick_at(&told);
    }

    fn stick_at(&mut self, told: &Value) {
        let uri = &told["messages"][0]["attachments"][0]["uri"];
        uri.as_str().unwrap().clone_into(&mut self.uri);
        std::fs::remove_file(self.pipe()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(self.pipe()).status();
        assert!(made.unwrap().success());
    }

    fn pipe(&self) -> PathBuf {
        self.setup.path(EXPORT)
    }

    /// Waits for somebody to read it. They go on when this is dropped.
    async fn reader(&self) -> File {
        let pipe = self.pipe();
        let open = move || OpenOptions::new().write(true).open(pipe);
        let opened = tokio::task::spawn_blocking(open);
        let opened = tokio::time::timeout(HANG, opened).await;
        opened.unwrap().unwrap().unwrap()
    }
}

/// Lets the time go on until this is done; the result, and how long it took.
async fn after<T>(work: impl Future<Output = T>) -> (T, Duration) {
    let start = Instant::now();
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return (done, start.elapsed()),
            () = advance(Duration::from_secs(1)) => {}
        }
    }
}

/// With the only thread for it taken, no question to the index comes back.
#[test]
fn a_request_that_does_not_come_back_is_told_after_sixty_seconds() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let setup = TestSetup::of("telegram-only.toml");
        let running = setup.start();
        let client = async |era| {
            let server = mcp::server(running.service.clone()).unwrap();
            let mut config = ClientConfig::new(era);
            config.timeout = 3 * REQUEST;
            Client::memory(server, config).await.unwrap()
        };
        structured(&client(Era::Modern).await, "get_messages", json!({})).await;
        tokio::time::pause();
        let (release, taken) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || taken.recv());
        for era in BOTH {
            let client = client(era).await;
            let (answer, took) = after(client.call_tool_raw("get_messages", json!({}))).await;
            let answer = answer.unwrap();
            assert_eq!(answer["isError"], true, "{answer}");
            let text = answer["content"][0]["text"].as_str().unwrap();
            let told: Value = serde_json::from_str(text).unwrap();
            assert_eq!(told["error"]["code"], "TIMEOUT", "{told}");
            let message = told["error"]["message"].as_str().unwrap();
            assert!(message.contains("60 s"), "{message}");
            let right = REQUEST..REQUEST + Duration::from_secs(5);
            assert!(right.contains(&took), "{took:?}");
            let chat = json!({ "source": "telegram", "chat": "Antti" });
            for (method, asked) in [
                ("resources/read", json!({ "uri": "messages://telegram/Antti" })),
                ("resources/list", json!({})),
                ("prompts/get", json!({ "name": "open_questions", "arguments": chat })),
            ] {
                let (answer, took) = after(client.request(method, asked)).await;
                assert!(right.contains(&took), "{method}: {took:?}");
                is_timeout(&answer.unwrap_err());
            }
        }
        // Once there is room the server answers as before.
        drop(release);
        structured(&client(Era::Legacy).await, "get_messages", json!({})).await;
    });
}

fn is_timeout(error: &ClientError) {
    let ClientError::Rpc(error) = error else { panic!("{error}") };
    let told = json!(error);
    assert_eq!(told["data"]["code"], "TIMEOUT", "{told}");
    assert!(error.message.contains("60 s"), "{told}");
}

fn interrupt(child: &Child) {
    signal(child, Signal::INT);
}

#[tokio::test]
async fn a_request_that_runs_at_the_signal_is_answered_over_http() {
    let mut stuck = Stuck::new();
    let (mut server, url) = stuck.setup.listening(&[]).await;
    let client = Client::http(&url, ClientConfig::new(Era::Modern));
    stuck.stick(&client.await.unwrap()).await;
    let asked = modern(1, "resources/read", json!({ "uri": stuck.uri }));
    let asking = tokio::spawn({
        let url = url.clone();
        async move { post(&url, &asked, None).await }
    });
    let reader = stuck.reader().await;
    interrupt(&server);
    // It accepts no client any more, so it has received the signal.
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let closed = async { while TcpStream::connect(address).await.is_ok() {} };
    tokio::time::timeout(HANG, closed).await.unwrap();
    drop(reader);
    let (status, answer) = asking.await.unwrap();
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("cGljdHVyZQ=="), "{answer}");
    let ended = tokio::time::timeout(HANG, server.wait()).await.unwrap();
    assert_eq!(ended.unwrap().code(), Some(0));
}

#[tokio::test]
async fn a_request_that_runs_at_the_signal_is_answered_on_pipes() {
    for is_interrupt in [false, true] {
        let mut stuck = Stuck::new();
        let mut pipe = Pipe::start(&stuck.setup, &[]);
        pipe.ask(&initialize()).await.unwrap();
        let call = json!({ "name": "get_messages", "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
        let told = pipe.ask(&call).await.unwrap();
        stuck.stick_at(&told["result"]["structuredContent"]);
        let asked = json!({ "uri": stuck.uri });
        pipe.send(
            &json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": asked }),
        )
        .await;
        let reader = stuck.reader().await;
        if is_interrupt {
            interrupt(&pipe.child)
        } else {
            terminate(&pipe.child)
        }
        drop(reader);
        let answer = pipe.next().await;
        assert_eq!(answer["result"]["contents"][0]["blob"], "cGljdHVyZQ==", "{answer}");
        let ended = tokio::time::timeout(HANG, pipe.child.wait()).await.unwrap();
        assert_eq!(ended.unwrap().code(), Some(0));
    }
}
