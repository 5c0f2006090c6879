//! The client against servers that behave and servers that do not: scripted HTTP, child processes, in memory.

use std::time::Duration;

use mcp_proto::{Era, Server};
use mcp_proto_client::{CallOptions, Client, ClientConfig, ClientError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinHandle;

use crate::common::{Served, builder, call, every_client, probe, server};

/// Real time that a client must wait for an answer that will not come.
const SHORT: Duration = Duration::from_millis(100);

fn config(era: Era) -> ClientConfig {
    ClientConfig::new(era)
}

/// Answers one request after the other with the bytes given, and gives back what it was sent.
pub(crate) async fn scripted(answers: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let script = tokio::spawn(async move {
        let mut requests = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            requests.push(read_request(&mut stream).await);
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
        requests
    });
    (url, script)
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut read = String::new();
    loop {
        let mut chunk = [0; 4_096];
        let size = stream.read(&mut chunk).await.unwrap();
        read.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        if let Some((head, body)) = read.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0");
            if size == 0 || body.len() >= length.parse().unwrap() {
                return read;
            }
        }
    }
}

pub(crate) fn answer(status: &str, media: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {media}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

async fn asked(answers: Vec<String>) -> (Result<Value, ClientError>, Vec<String>) {
    let (url, script) = scripted(answers).await;
    let client = Client::http(&url, config(Era::Modern)).await.unwrap();
    let result = client.call_tool_raw("späte Möwe", json!({})).await;
    (result, script.await.unwrap())
}

const OK: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"n":1}}"#;

#[tokio::test]
async fn a_modern_request_carries_its_headers_and_meta() {
    let (result, requests) = asked(vec![answer("200 OK", "application/json", OK)]).await;
    assert_eq!(result.unwrap(), json!({"n": 1}));
    let (head, body) = requests[0].split_once("\r\n\r\n").unwrap();
    for line in [
        "POST / HTTP/1.1",
        "accept: application/json, text/event-stream",
        "content-type: application/json",
        "mcp-protocol-version: 2026-07-28",
        "mcp-method: tools/call",
        "mcp-name: =?base64?c3DDpHRlIE3Dtndl?=",
    ] {
        assert!(head.lines().any(|found| found == line), "{line} is missing in {head}");
    }
    let meta = &serde_json::from_str::<Value>(body).unwrap()["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({}));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "mcp-proto-client");
}

#[tokio::test]
async fn answers_come_as_json_or_as_events() {
    for (media, body) in [
        ("application/json", OK.to_owned()),
        ("application/json; charset=utf-8", OK.to_owned()),
        ("text/event-stream", format!("data: {OK}\n\n")),
        (
            "text/event-stream",
            format!(": hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\r\ndata: {OK}\r\n\r\n"),
        ),
        (
            "text/event-stream;charset=utf-8",
            format!("data: {{\"jsonrpc\":\"2.0\",\ndata: {}\n\n", &OK[17..]),
        ),
    ] {
        let (result, _) = asked(vec![answer("200 OK", media, &body)]).await;
        assert_eq!(result, Ok(json!({"n": 1})), "{media} {body}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_told_as_what_it_is() {
    let html = "<h1>Bad Gateway</h1>";
    for (sent, told) in [
        (
            answer("502 Bad Gateway", "text/html", html),
            "the server answered HTTP 502: <h1>Bad Gateway</h1>",
        ),
        (answer("202 Accepted", "text/plain", ""), "the server answered HTTP 202: "),
        (
            answer("200 OK", "text/event-stream", ": nothing\n\n"),
            "the connection ended before the answer",
        ),
        (
            answer("200 OK", "application/json", &OK.replace("\"id\":1", "\"id\":2")),
            "the server broke the protocol: the answer to 1 has the id Some(Number(2))",
        ),
        (
            answer(
                "400 Bad Request",
                "application/json",
                r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#,
            ),
            "the server answered -32600: no",
        ),
        (
            answer(
                "400 Bad Request",
                "application/json",
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            ),
            "the server answered -32700: no",
        ),
        (
            answer("200 OK", "text/event-stream", "data: {\n\n"),
            "the server broke the protocol: the message is not JSON",
        ),
    ] {
        let (result, _) = asked(vec![sent]).await;
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with(told), "{error}");
    }
}

#[tokio::test]
async fn what_is_too_large_is_not_read() {
    for media in ["application/json", "text/event-stream"] {
        let body = format!("data: {}\n\n", "x".repeat(2_000));
        let (url, _script) = scripted(vec![answer("200 OK", media, &body)]).await;
        let mut config = config(Era::Modern);
        config.max_message_bytes = 1_000;
        let client = Client::http(&url, config).await.unwrap();
        assert!(client.list_tools().await.is_err(), "{media}");
    }
}

#[tokio::test]
async fn a_legacy_connection_opens_keeps_and_ends_its_session() {
    let initialized = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}}"#;
    let opened = answer("200 OK\r\nmcp-session-id: abc", "application/json", initialized);
    let pong = answer("200 OK", "application/json", r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    let accepted = answer("202 Accepted", "text/plain", "");
    let gone = answer("204 No Content", "text/plain", "");
    let (url, script) = scripted(vec![opened, accepted, pong, gone]).await;
    let client = Client::http(&url, config(Era::Legacy)).await.unwrap();
    assert_eq!(client.request("ping", json!({})).await, Ok(json!({})));
    client.close().await.unwrap();
    let requests = script.await.unwrap();
    assert!(
        requests[0].contains("\"method\":\"initialize\"")
            && !requests[0].contains("mcp-protocol-version")
    );
    assert!(requests[1].contains("\"method\":\"notifications/initialized\""));
    for request in &requests[1..] {
        assert!(request.contains("mcp-session-id: abc\r\n"), "{request}");
        assert!(request.contains("mcp-protocol-version: 2025-06-18\r\n"), "{request}");
        assert!(!request.contains("_meta"), "{request}");
    }
    assert!(requests[3].starts_with("DELETE / "));
}

#[tokio::test]
async fn a_modern_connection_keeps_no_session() {
    let opened = |id: u32| {
        answer(
            "200 OK\r\nmcp-session-id: abc",
            "application/json",
            &OK.replace("\"id\":1", &format!("\"id\":{id}")),
        )
    };
    let (url, script) = scripted(vec![opened(1), opened(2)]).await;
    let client = Client::http(&url, config(Era::Modern)).await.unwrap();
    for _ in 0..2 {
        client.request("server/discover", json!({})).await.unwrap();
    }
    // There is nothing to end: the script has no answer to a third request.
    client.close().await.unwrap();
    assert!(!script.await.unwrap()[1].contains("mcp-session-id"));
}

#[tokio::test]
async fn an_initialize_that_takes_too_long_is_not_cancelled() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut impatient = config(Era::Legacy);
    impatient.timeout = SHORT;
    let url = format!("http://{address}/");
    let opening = tokio::spawn(async move { Client::http(&url, impatient).await });
    let _initialize = listener.accept().await.unwrap();
    let error = opening.await.unwrap().unwrap_err();
    assert_eq!(error, ClientError::Timeout(SHORT));
    // Whatever the client had to say before it gave up came before this.
    let last = TcpStream::connect(address).await.unwrap();
    let (_, next) = listener.accept().await.unwrap();
    assert_eq!(next, last.local_addr().unwrap());
}

#[tokio::test]
async fn a_request_of_the_server_is_answered_and_the_wait_goes_on() {
    let ask = |method: &str| {
        format!("data: {{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"{method}\"}}\n\n")
    };
    for (method, told) in [("ping", "\"result\":{}"), ("sampling/createMessage", "\"code\":-32601")]
    {
        let stream =
            answer("200 OK", "text/event-stream", &format!("{}data: {OK}\n\n", ask(method)));
        let (result, requests) =
            asked(vec![stream, answer("202 Accepted", "text/plain", "")]).await;
        assert_eq!(result, Ok(json!({"n": 1})));
        assert!(requests[1].contains(told), "{}", requests[1]);
    }
}

#[tokio::test]
async fn every_wait_is_bounded_and_giving_up_cancels() {
    const LIMIT: Duration = Duration::from_secs(60);
    let (probe, mut events) = probe();
    let server = builder(&probe).build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (way, client) in clients {
        let running = tokio::spawn({
            let client = client.clone();
            async move {
                let options = CallOptions::default().with_timeout(LIMIT);
                client.request_with("tools/call", call("hang"), &options).await
            }
        });
        events.expect("started").await;
        // The minute is over at once; from there on time is real again.
        tokio::time::pause();
        tokio::time::advance(LIMIT).await;
        tokio::time::resume();
        assert_eq!(running.await.unwrap(), Err(ClientError::Timeout(LIMIT)), "{way}");
        events.expect("dropped").await;
        assert_eq!(client.list_tools().await.unwrap().len(), 5, "{way}");
    }
}

#[tokio::test]
async fn a_dropped_request_is_cancelled_over_every_transport() {
    let (probe, mut events) = probe();
    let server = builder(&probe).build().unwrap();
    let (clients, _served) = every_client(&server).await;
    for (way, client) in clients {
        let running = tokio::spawn({
            let client = client.clone();
            async move { client.request("tools/call", call("hang")).await }
        });
        events.expect("started").await;
        running.abort();
        events.expect("dropped").await;
        assert_eq!(client.list_tools().await.unwrap().len(), 5, "{way}");
    }
}

#[tokio::test]
async fn all_pages_of_a_list_are_followed() {
    let page = |id: u32, name: &str, next: &str| {
        let result =
            format!(r#"{{"tools":[{{"name":"{name}","inputSchema":{{"type":"object"}}}}]{next}}}"#);
        answer(
            "200 OK",
            "application/json",
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        )
    };
    let (url, script) = scripted(vec![page(1, "a", r#","nextCursor":"""#), page(2, "b", "")]).await;
    let client = Client::http(&url, config(Era::Modern)).await.unwrap();
    let names: Vec<_> =
        client.list_tools().await.unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["a", "b"]);
    // An empty string is a cursor.
    assert!(script.await.unwrap()[1].contains(r#""cursor":"""#));
}

#[tokio::test]
async fn an_address_that_is_none_is_refused() {
    for url in ["", "localhost:3000", "https://", "ftp://localhost", "http://"] {
        let error = Client::http(url, config(Era::Modern)).await.unwrap_err();
        assert!(matches!(error, ClientError::Connection(_)), "{url}: {error}");
    }
    // A port on which nobody listens any more.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Client::http(&url, config(Era::Legacy)).await.unwrap_err();
    assert!(matches!(error, ClientError::Connection(_)), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_process_is_spoken_with_and_ends_with_its_input() {
    // `cat` sends back what it is sent: the client gets its own request, refuses it, and gets the refusal as answer.
    let client = Client::stdio(Command::new("cat"), config(Era::Modern)).await.unwrap();
    let error = client.request("tools/list", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "the server answered -32601: unknown method \"tools/list\"");
    client.close().await.unwrap();
    assert_eq!(client.list_tools().await, Err(ClientError::Closed));
    client.close().await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_process_that_does_not_end_is_killed() {
    let mut sleep = Command::new("sleep");
    sleep.arg("1000");
    let mut impatient = config(Era::Modern);
    impatient.timeout = SHORT;
    let client = Client::stdio(sleep, impatient).await.unwrap();
    assert_eq!(client.list_tools().await, Err(ClientError::Timeout(SHORT)));
    assert_eq!(client.close().await, Err(ClientError::Timeout(SHORT)));
}

#[cfg(unix)]
#[tokio::test]
async fn a_child_process_that_ends_is_noticed() {
    let client = Client::stdio(Command::new("true"), config(Era::Modern)).await.unwrap();
    let error = client.list_tools().await.unwrap_err();
    let ClientError::Process { status: Some(status), .. } = error else {
        panic!("{error}");
    };
    assert!(status.success());
    let missing = Client::stdio(Command::new("./no-such-program"), config(Era::Modern)).await;
    assert!(matches!(missing, Err(ClientError::Connection(_))));
}

#[tokio::test]
async fn a_legacy_client_offers_the_version_it_is_given() {
    let served = Served::new(server()).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut config = config(Era::Legacy);
        config.version = Some(version.parse().unwrap());
        for client in [
            Client::http(&served.url(), config.clone()).await.unwrap(),
            Client::memory(server(), config.clone()).await.unwrap(),
        ] {
            assert_eq!(client.era(), Era::Legacy);
            assert_eq!(client.request("ping", json!({})).await, Ok(json!({})));
            client.close().await.unwrap();
            // The session is over, whichever way it was kept.
            assert!(client.request("ping", json!({})).await.is_err());
        }
    }
}

#[tokio::test]
async fn the_lists_of_an_empty_server_are_empty() {
    let empty = Server::builder("empty", "1", ()).build().unwrap();
    let (clients, _served) = every_client(&empty).await;
    for (way, client) in clients {
        // modelcontextprotocol/typescript-sdk#929: a list that a server does not have is an error for its caller.
        assert_eq!(client.list_tools().await, Ok(Vec::new()), "{way}");
        assert_eq!(client.list_prompts().await, Ok(Vec::new()), "{way}");
        assert_eq!(client.list_resources().await, Ok(Vec::new()), "{way}");
        assert_eq!(client.list_resource_templates().await, Ok(Vec::new()), "{way}");
        // Untyped, it is what the server says.
        let error = client.request("tools/list", json!({})).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server answered -32601: unknown method \"tools/list\"",
            "{way}"
        );
    }
}
