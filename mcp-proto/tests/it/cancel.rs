//! When a handler is dropped and when it is not: a client that goes away, `notifications/cancelled`, DELETE. Each
//! handler holds a guard that tells the test; no test waits for time to pass.

use http::Method;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_proto::stdio::{StdioConfig, serve};
use mcp_proto::{CallToolResult, Context, Server, StreamableHttpService, Tool};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::common::{
    Events, PATIENCE, Probe, Raw, Served, builder, call, messages, open_session, probe, request,
    with_meta,
};

fn in_process() -> (StreamableHttpService, Probe, Events) {
    let (probe, events) = probe();
    let service = StreamableHttpService::new(builder(&probe).build().unwrap());
    (service, probe, events)
}

fn cancelled(session: &str, id: &Value) -> Raw {
    Raw::notification("notifications/cancelled", &json!({ "requestId": id }))
        .set("mcp-session-id", session)
}

#[tokio::test]
async fn closing_the_socket_of_a_modern_call_drops_its_handler() {
    for tool in ["hang", "talk"] {
        let (probe, mut events) = probe();
        let served = Served::new(builder(&probe).build().unwrap()).await;
        let stream = TcpStream::connect(served.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake::<_, Full<bytes::Bytes>>(TokioIo::new(stream))
                .await
                .unwrap();
        let connection = tokio::spawn(connection);
        let answer = tokio::spawn(async move {
            sender.send_request(Raw::modern("tools/call", call(tool)).request()).await
        });
        events.expect("started").await;
        // `hang` still owes its head; of `talk` a stream is open.
        connection.abort();
        answer.abort();
        events.expect("dropped").await;
        served.ended().await;
    }
}

#[tokio::test]
async fn resetting_an_http2_stream_drops_its_handler_and_no_other() {
    let (probe, mut events) = probe();
    let served = Served::new(builder(&probe).build().unwrap()).await;
    let client: HyperClient<_, Full<bytes::Bytes>> =
        HyperClient::builder(TokioExecutor::new()).http2_only(true).build_http();
    let send = |tool: &str| {
        let mut request = Raw::modern("tools/call", call(tool)).unset("host").request();
        *request.uri_mut() = served.url().parse().unwrap();
        tokio::spawn(client.request(request))
    };
    let kept = send("gate");
    events.expect("started").await;
    let dropped = send("hang");
    events.expect("started").await;
    dropped.abort();
    events.expect("dropped").await;
    probe.gate.notify_one();
    events.expect("finished").await;
    assert_eq!(kept.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn dropping_the_response_of_a_modern_call_drops_its_handler() {
    let (service, _probe, mut events) = in_process();
    let reply = service.handle(Raw::modern("tools/call", call("talk")).request()).await;
    let mut body = reply.into_body();
    body.frame().await.unwrap().unwrap();
    // It runs on only while somebody reads.
    let unread = tokio::spawn(async move { body.frame().await });
    events.expect("started").await;
    unread.abort();
    events.expect("dropped").await;
}

#[tokio::test]
async fn a_legacy_call_runs_on_without_its_client() {
    let (service, probe, mut events) = in_process();
    let session = open_session(&service).await;
    let running = tokio::spawn({
        let service = service.clone();
        let raw = Raw::legacy(&session, "tools/call", &call("gate"));
        async move { service.handle(raw.request()).await }
    });
    events.expect("started").await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    probe.gate.notify_one();
    events.expect("finished").await;
}

#[tokio::test]
async fn a_legacy_stream_that_is_dropped_does_not_end_its_call() {
    let (service, _probe, mut events) = in_process();
    let session = open_session(&service).await;
    let reply = service.handle(Raw::legacy(&session, "tools/call", &call("talk")).request()).await;
    drop(reply);
    events.expect("started").await;
    assert!(events.none());
    // It can still be cancelled, by its id.
    assert_eq!(cancelled(&session, &json!(7)).send(&service).await.status, 202);
    events.expect("dropped").await;
}

#[tokio::test]
async fn legacy_calls_are_cancelled_by_id_of_the_same_session_and_type() {
    let (service, _probe, mut events) = in_process();
    let (session, other) = (open_session(&service).await, open_session(&service).await);
    let running = tokio::spawn({
        let service = service.clone();
        let raw = Raw::legacy(&session, "tools/call", &call("hang"));
        async move {
            let reply = service.handle(raw.request()).await;
            reply.into_body().collect().await.unwrap().to_bytes()
        }
    });
    events.expect("started").await;
    for (session, id) in
        [(&other, json!(7)), (&session, json!("7")), (&session, json!(8)), (&session, json!(null))]
    {
        assert_eq!(cancelled(session, &id).send(&service).await.status, 202);
        assert!(events.none());
    }
    assert_eq!(cancelled(&session, &json!(7)).send(&service).await.status, 202);
    events.expect("dropped").await;
    // Nothing is sent for it.
    assert_eq!(running.await.unwrap(), "");
    assert_eq!(cancelled(&session, &json!(7)).send(&service).await.status, 202);
}

#[tokio::test]
async fn a_legacy_call_is_cancelled_while_its_client_does_not_read() {
    let (probe, mut events) = probe();
    let chatter = Tool::new("chatter", "").with_input_schema(json!({"type": "object"}));
    let server = Server::builder("s", "1", probe)
        .raw_tool(chatter, async |probe: Probe, _: Map<String, Value>, context: Context| {
            let _guard = probe.guard();
            probe.report("started");
            for step in 1..=1_000_u32 {
                context.progress(f64::from(step), None, None).await;
            }
            Ok(CallToolResult::text("said all"))
        })
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server);
    let session = open_session(&service).await;
    let raw = Raw::legacy(&session, "tools/call", &call("chatter"));
    let unread = service.handle(raw.request()).await;
    events.expect("started").await;
    // It goes on until nothing more is taken of it.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(events.none());
    let reply = cancelled(&session, &json!(7)).send(&service).await;
    assert_eq!(reply.status, 202);
    events.expect("dropped").await;
    let said = unread.into_body().collect();
    let said = tokio::time::timeout(PATIENCE, said).await.expect("no end");
    let said = messages(&said.unwrap().to_bytes());
    assert!(said.iter().all(|said| said.get("id").is_none()));
}

#[tokio::test]
async fn delete_ends_the_calls_of_a_session() {
    let (service, _probe, mut events) = in_process();
    let session = open_session(&service).await;
    let raw = Raw::legacy(&session, "tools/call", &call("hang"));
    let running = tokio::spawn({
        let service = service.clone();
        async move { service.handle(raw.request()).await }
    });
    events.expect("started").await;
    let delete = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(delete.send(&service).await.status, 204);
    events.expect("dropped").await;
    running.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_without_its_client_has_its_time() {
    let (service, _probe, mut events) = in_process();
    let session = open_session(&service).await;
    let raw = Raw::legacy(&session, "tools/call", &call("talk"));
    drop(service.handle(raw.request()).await);
    events.expect("started").await;
    let start = tokio::time::Instant::now();
    // Longer than the patience of a failing test: time is paused.
    tokio::time::sleep(std::time::Duration::from_secs(31 * 60)).await;
    events.expect("dropped").await;
    assert!(start.elapsed().as_secs() >= 30 * 60);
}

#[test]
fn a_runtime_that_ends_takes_running_calls_with_it() {
    let (service, _probe, mut events) = in_process();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let session = open_session(&service).await;
        let raw = Raw::legacy(&session, "tools/call", &call("hang"));
        let service = service.clone();
        tokio::spawn(async move { service.handle(raw.request()).await });
        events.expect("started").await;
    });
    drop(runtime);
    let after = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    after.block_on(events.expect("dropped"));
}

#[tokio::test]
async fn stdio_calls_are_cancelled_by_id_and_say_nothing_more() {
    for modern in [true, false] {
        let (probe, mut events) = probe();
        let server = builder(&probe).build().unwrap();
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let served = tokio::spawn(serve(server, reader, writer, StdioConfig::default()));
        let (reader, mut writer) = tokio::io::split(near);
        let mut lines = BufReader::new(reader).lines();
        let mut params = call("hang");
        if modern {
            params = with_meta(params);
        } else {
            let initialize = Raw::initialize("2025-11-25").body;
            writer.write_all(&initialize).await.unwrap();
            writer.write_all(b"\n").await.unwrap();
            lines.next_line().await.unwrap().unwrap();
        }
        let mut send = async |message: Value| {
            writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        };
        let cancel = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        send(request("a", "tools/call", &params)).await;
        events.expect("started").await;
        // Unknown and malformed ids are passed over.
        for id in [json!("b"), json!(1), json!({}), json!(1.5)] {
            send(cancel(id)).await;
        }
        send(request(2, "tools/list", &with_meta(json!({})))).await;
        let line = lines.next_line().await.unwrap().unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], 2);
        assert!(events.none());
        send(cancel(json!("a"))).await;
        events.expect("dropped").await;
        // The id is free again; the next answer is the next request's.
        send(request("a", "tools/list", &with_meta(json!({})))).await;
        let answer: Value =
            serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
        assert!(answer["result"]["tools"].is_array());
        drop((lines, writer));
        served.await.unwrap().unwrap();
    }
}
