//! The legacy era on the wire: requests on the call's own stream, their answers, and the ends of waiting.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::http::{EventReader, HttpConfig, ResponseBody};
use mcp_proto::jsonrpc::Request;
use mcp_proto::outbox::Outbox;
use mcp_proto::session::{MemorySessions, SessionStore};
use mcp_proto::{
    Context, ElicitForm, Field, InputConfig, Json, ProtocolVersion, Questions, Server,
    StreamableHttpService, Tool, ToolError,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::asking_common::{all_capabilities, asker, greet, name_form, service_of};
use crate::common::{Echo, PATIENCE, Raw, say};
use crate::peer::Peer;

/// How long a client may take for an answer unless configured.
const LIMIT: Duration = Duration::from_secs(300);

/// The messages of an event stream as they come.
pub(crate) struct Stream {
    body: ResponseBody,
    reader: EventReader,
    ready: VecDeque<Value>,
}

impl Stream {
    async fn open(service: &StreamableHttpService, raw: Raw) -> Self {
        let response = service.handle(raw.request()).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            body: response.into_body(),
            reader: EventReader::new(1 << 20),
            ready: VecDeque::new(),
        }
    }

    /// The next message; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        while self.ready.is_empty() {
            let frame = self.body.frame().await?.unwrap();
            let events = self.reader.push(&frame.into_data().unwrap()).unwrap();
            let said = events.iter().filter(|event| !event.data.is_empty());
            self.ready
                .extend(said.map(|event| serde_json::from_str::<Value>(&event.data).unwrap()));
        }
        self.ready.pop_front()
    }

    pub(crate) async fn expect(&mut self) -> Value {
        let next = tokio::time::timeout(LIMIT + PATIENCE, self.next()).await;
        next.expect("nothing came").expect("the stream ended")
    }
}

fn initialize() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": all_capabilities(),
        "clientInfo": { "name": "test", "version": "0" },
    })
}

/// Opens a session of a client that can do everything.
pub(crate) async fn open_session(service: &StreamableHttpService) -> String {
    let request =
        json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": initialize() });
    let reply = Raw::post(request.to_string()).send(service).await;
    reply.header("mcp-session-id").unwrap().to_owned()
}

/// The same over stdio.
pub(crate) async fn connected(server: Server) -> Peer {
    let mut peer = Peer::new(server);
    let request =
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize() });
    peer.send(&request).await;
    peer.next().await;
    peer
}

fn call(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "ask" } })
}

/// A call in a session, as an event stream.
pub(crate) async fn start(
    service: &StreamableHttpService,
    session: &str,
    message: &Value,
) -> Stream {
    let raw = Raw::post(message.to_string()).set("mcp-session-id", session);
    Stream::open(service, raw).await
}

pub(crate) fn accepted(id: &Value, name: &str) -> Value {
    let result = json!({ "action": "accept", "content": { "name": name } });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

pub(crate) async fn post(service: &StreamableHttpService, session: &str, message: &Value) {
    let raw = Raw::post(message.to_string()).set("mcp-session-id", session);
    let reply = raw.send(service).await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (202, 0));
}

#[track_caller]
fn said(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]["said"]
}

/// The code and the message of a tool's failure.
#[track_caller]
fn failure(answer: &Value) -> (String, String) {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let body: Value = serde_json::from_str(text).unwrap();
    let member = |name: &str| body["error"][name].as_str().unwrap().to_owned();
    (member("code"), member("message"))
}

#[tokio::test]
async fn a_question_travels_on_the_stream_of_its_call_and_on_no_other() {
    let service = service_of(greet);
    let session = open_session(&service).await;
    let listening =
        Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", &session);
    let mut listening = Stream::open(&service, listening).await;
    let mut calls = Vec::new();
    for id in [1, 2] {
        let mut stream = start(&service, &session, &call(id)).await;
        let question = stream.expect().await;
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], "What is your name?");
        calls.push((id, stream, question["id"].clone()));
    }
    assert_ne!(calls[0].2, calls[1].2);
    // The answers in the other order.
    for (id, _, question) in calls.iter().rev() {
        post(&service, &session, &accepted(question, &format!("{id}"))).await;
    }
    for (id, mut stream, _) in calls {
        let answer = stream.expect().await;
        assert_eq!((&answer["id"], said(&answer)), (&json!(id), &json!(format!("{id}"))));
        assert_eq!(stream.next().await, None);
    }
    // Nothing of this was told to whoever listens: the end of the session is the first it hears.
    let delete = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(delete.send(&service).await.status, 204);
    assert_eq!(listening.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_costs_one_wait() {
    let service = service_of(greet);
    let session = open_session(&service).await;
    let mut peer = connected(asker(greet).build().unwrap()).await;
    let started = Instant::now();
    let mut stream = start(&service, &session, &call(1)).await;
    peer.send(&call(1)).await;
    let questions = [stream.expect().await, peer.next().await];
    assert_eq!(started.elapsed(), Duration::ZERO);

    let cancelled = [stream.expect().await, {
        let line = tokio::time::timeout(LIMIT, peer.next()).await;
        line.unwrap()
    }];
    let waited = started.elapsed();
    assert!(waited >= LIMIT && waited < LIMIT + Duration::from_secs(1), "{waited:?}");
    for (cancelled, question) in cancelled.iter().zip(&questions) {
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], question["id"]);
    }
    for answer in [stream.expect().await, peer.next().await] {
        let (code, message) = failure(&answer);
        assert_eq!(code, "CLIENT_DID_NOT_ANSWER");
        assert_eq!(message, "the client did not answer elicitation/create within 300 s");
    }
    assert_eq!(stream.next().await, None);
    // Too late, and no harm.
    post(&service, &session, &accepted(&questions[0]["id"], "late")).await;
    peer.send(&accepted(&questions[1]["id"], "late")).await;
    peer.send(&call(2)).await;
    assert_eq!(peer.next().await["method"], "elicitation/create");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_tool_fails_as_a_request() {
    let service = service_of(greet);
    let session = open_session(&service).await;
    for (method, params) in [
        ("prompts/get", json!({ "name": "ask" })),
        ("resources/read", json!({ "uri": "test://ask" })),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let mut stream = start(&service, &session, &request).await;
        assert_eq!(stream.expect().await["method"], "elicitation/create");
        assert_eq!(stream.expect().await["method"], "notifications/cancelled");
        let error = stream.expect().await["error"].take();
        assert_eq!(error["code"], -32603, "{method}");
        assert_eq!(error["message"], "the client did not answer elicitation/create within 300 s");
    }
}

#[tokio::test]
async fn a_typed_tool_tells_its_failure_as_text_alone() {
    let server = Server::builder("asker", "1.0.0", ())
        .tool(Tool::new("echo", "Asks.").asking(), async |_: Echo, context: Context| {
            context.elicit("who", &name_form())?;
            Err::<Json<Echo>, _>(ToolError::internal("not reached"))
        })
        .build()
        .unwrap();
    let mut peer = connected(server).await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": say("x") });
    peer.send(&call).await;
    let question = peer.next().await;
    peer.send(&json!({
        "jsonrpc": "2.0", "id": question["id"], "error": { "code": -1, "message": "No." },
    }))
    .await;
    let answer = peer.next().await;
    let (code, message) = failure(&answer);
    assert_eq!(code, "CLIENT_REFUSED");
    assert_eq!(message, "the client refused elicitation/create: No. (-1)");
    // Its output schema describes successes.
    assert!(answer["result"].get("structuredContent").is_none());
}

#[tokio::test]
async fn one_answer_that_fails_takes_the_other_questions_back() {
    let ask = |context: &Context| {
        let questions =
            Questions::new().elicit("who", name_form()).roots("where").roots("elsewhere");
        Ok(json!(context.ask(&questions)?.roots("where")?))
    };
    let failing: [(Value, &str); 3] = [
        (json!({ "error": { "code": -1, "message": "No." } }), "CLIENT_REFUSED"),
        (json!({ "result": { "roots": [{ "uri": "https://a" }] } }), "CLIENT_ANSWER_INVALID"),
        (json!({ "result": {} }), "CLIENT_ANSWER_INVALID"),
    ];
    let mut peer = connected(asker(ask).build().unwrap()).await;
    for (outcome, expected) in failing {
        peer.send(&call(1)).await;
        let questions = [peer.next().await, peer.next().await, peer.next().await];
        let mut answer = outcome;
        answer["jsonrpc"] = json!("2.0");
        let (failed, open): (Vec<_>, Vec<_>) =
            questions.iter().partition(|question| question["method"] == "roots/list");
        answer["id"] = failed[0]["id"].clone();
        peer.send(&answer).await;
        let mut cancelled = Vec::new();
        for _ in 0..2 {
            let said = peer.next().await;
            assert_eq!(said["method"], "notifications/cancelled");
            cancelled.push(said["params"]["requestId"].clone());
        }
        assert!(cancelled.contains(&open[0]["id"]) && cancelled.contains(&failed[1]["id"]));
        assert_eq!(failure(&peer.next().await).0, expected);
    }
}

#[tokio::test]
async fn the_answers_of_a_call_are_bounded_together() {
    let mut config = InputConfig::default();
    config.max_answer_bytes = 1_000;
    let ask = |context: &Context| {
        for key in ["one", "two"] {
            let form = ElicitForm::new(key).field("name", Field::text().required());
            context.elicit(key, &form)?;
        }
        Ok(json!("done"))
    };
    let mut peer = connected(asker(ask).input(config).build().unwrap()).await;
    for (length, code) in [(400, None), (600, Some("CLIENT_ANSWER_INVALID"))] {
        peer.send(&call(1)).await;
        for _ in 0..2 {
            let question = peer.next().await;
            assert_eq!(question["method"], "elicitation/create");
            peer.send(&accepted(&question["id"], &"x".repeat(length))).await;
        }
        let answer = peer.next().await;
        match code {
            None => assert_eq!(said(&answer), "done"),
            Some(code) => assert_eq!(failure(&answer).0, code),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_json_alone_is_not_waited_for() {
    let service = service_of(greet);
    let session = open_session(&service).await;
    let started = Instant::now();
    let raw = Raw::post(call(7).to_string())
        .set("mcp-session-id", &session)
        .set("accept", "application/json");
    let answer = raw.send(&service).await.json();
    let (code, message) = failure(&answer);
    assert_eq!(code, "CLIENT_CANNOT_BE_ASKED");
    assert!(message.contains("takes no events"), "{message}");
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_is_not_waited_for() {
    // Over stdio the end of its input is the end of its answers: sooner than the server's own end.
    let mut peer = connected(asker(greet).build().unwrap()).await;
    peer.send(&call(1)).await;
    peer.next().await;
    let started = Instant::now();
    let rest = peer.end().await;
    assert_eq!(failure(rest.last().unwrap()).0, "CLIENT_CANNOT_BE_ASKED");
    assert_eq!(started.elapsed(), Duration::ZERO);

    // Over HTTP the end of its session is.
    let service = service_of(greet);
    let session = open_session(&service).await;
    let mut stream = start(&service, &session, &call(1)).await;
    stream.expect().await;
    let delete = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(delete.send(&service).await.status, 204);
    assert_eq!(stream.next().await, None);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn a_question_that_is_open_outlives_the_connection() {
    let (sender, mut done) = tokio::sync::mpsc::unbounded_channel();
    let service = service_of(move |context| {
        let name = greet(context)?;
        sender.send(name).unwrap();
        Ok(Value::Null)
    });
    let session = open_session(&service).await;
    let mut stream = start(&service, &session, &call(1)).await;
    let question = stream.expect().await;
    drop(stream);
    post(&service, &session, &accepted(&question["id"], "Ann")).await;
    let name = tokio::time::timeout(PATIENCE, done.recv()).await;
    assert_eq!(name.unwrap().unwrap(), "Ann");
}

#[tokio::test]
async fn a_cancelled_call_takes_no_answer_any_more() {
    let service = service_of(greet);
    let session = open_session(&service).await;
    let mut stream = start(&service, &session, &call(1)).await;
    let question = stream.expect().await;
    let cancelled = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 },
    });
    post(&service, &session, &cancelled).await;
    assert_eq!(stream.next().await, None);
    post(&service, &session, &accepted(&question["id"], "Ann")).await;

    let mut peer = connected(asker(greet).build().unwrap()).await;
    peer.send(&call(1)).await;
    let question = peer.next().await;
    peer.send(&cancelled).await;
    peer.send(&accepted(&question["id"], "Ann")).await;
    peer.send(&call(2)).await;
    let question = peer.next().await;
    peer.send(&accepted(&question["id"], "Bob")).await;
    let answer = peer.next().await;
    assert_eq!((&answer["id"], said(&answer)), (&json!(2), &json!("Bob")));
}

#[tokio::test]
async fn only_the_session_that_was_asked_can_answer() {
    let service = service_of(greet);
    let (mine, other) = (open_session(&service).await, open_session(&service).await);
    let mut stream = start(&service, &mine, &call(1)).await;
    let question = stream.expect().await;
    post(&service, &other, &accepted(&question["id"], "Mallory")).await;
    // An answer to nothing is no harm either.
    post(&service, &mine, &accepted(&json!(1), "nobody")).await;
    let unknown = Raw::post(accepted(&question["id"], "Mallory").to_string())
        .set("mcp-session-id", "00000000-0000-4000-8000-000000000000");
    assert_eq!(unknown.send(&service).await.status, 404);
    post(&service, &mine, &accepted(&question["id"], "Ann")).await;
    post(&service, &mine, &accepted(&question["id"], "again")).await;
    assert_eq!(said(&stream.expect().await), "Ann");
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_another_instance_is_lost_and_the_wait_is_bounded() {
    let sessions: Arc<dyn SessionStore> = Arc::new(MemorySessions::default());
    let service = || {
        let server = asker(greet).build().unwrap();
        StreamableHttpService::with_sessions(server, HttpConfig::default(), sessions.clone())
    };
    let (one, other) = (service(), service());
    let session = open_session(&one).await;
    let started = Instant::now();
    let mut stream = start(&one, &session, &call(1)).await;
    let question = stream.expect().await;
    post(&other, &session, &accepted(&question["id"], "Ann")).await;
    assert_eq!(stream.expect().await["method"], "notifications/cancelled");
    assert_eq!(failure(&stream.expect().await).0, "CLIENT_DID_NOT_ANSWER");
    assert!(started.elapsed() < LIMIT + Duration::from_secs(1));
}

#[tokio::test]
async fn a_handler_that_asks_for_ever_is_ended() {
    let count = std::sync::atomic::AtomicU64::new(0);
    let ask = move |context: &Context| {
        let round = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        context.elicit(&format!("{round}"), &name_form())?;
        Ok(json!("done"))
    };
    let mut peer = connected(asker(ask).build().unwrap()).await;
    peer.send(&call(1)).await;
    for _ in 0..32 {
        let question = peer.next().await;
        assert_eq!(question["method"], "elicitation/create");
        peer.send(&accepted(&question["id"], "Ann")).await;
    }
    assert_eq!(peer.next().await["error"]["code"], -32603);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_waited_for_any_longer() {
    let server = asker(|context| {
        let many = (0..32).fold(Questions::new(), |all, key| all.roots(key.to_string()));
        Ok(json!(context.ask(&many)?.roots("0")?))
    })
    .build()
    .unwrap();
    // More questions than have room, and nobody takes them.
    let (outbox, _reader) = Outbox::channel();
    let mut context = Context::test();
    context.protocol_version = ProtocolVersion::V2025_11_25;
    context.client_capabilities = Arc::new(all_capabilities().into());
    context.outbox = outbox;
    let started = Instant::now();
    let request = Request::new(1, "tools/call", json!({ "name": "ask" }));
    let answer = server.handle(request, context).await.outcome.unwrap().to_value();
    assert_eq!(failure(&json!({ "result": answer })).0, "CLIENT_DID_NOT_ANSWER");
    let waited = started.elapsed();
    assert!(waited >= LIMIT && waited < LIMIT + Duration::from_secs(1), "{waited:?}");
}
