//! A server to test with, and requests written by hand: everything that goes over the wire is in the test.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use mcp_proto::http::{EventReader, HttpConfig, ServeConfig, Undecided, listen, serve};
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{
    CallToolResult, Context, Era, Json, Server, ServerBuilder, StreamableHttpService, Tool,
    ToolError,
};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;
use tracing::subscriber::{DefaultGuard, NoSubscriber};
use tracing::{Dispatch, Subscriber};

/// No wait of a test takes longer than this; it is for tests that fail, not for those that pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What the handlers tell the test, and the test the handlers.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    events: mpsc::UnboundedSender<&'static str>,
    /// Lets one waiting `gate` call go on.
    pub(crate) gate: Arc<Notify>,
}

/// The events of [`Probe`] as they happen.
pub(crate) struct Events(mpsc::UnboundedReceiver<&'static str>);

/// Tells that it was dropped.
pub(crate) struct Guard(Probe);

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Echo {
    /// The text.
    pub(crate) text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Done {
    done: bool,
}

pub(crate) fn probe() -> (Probe, Events) {
    let (events, receiver) = mpsc::unbounded_channel();
    let gate = Arc::new(Notify::new());
    (Probe { events, gate }, Events(receiver))
}

impl Probe {
    pub(crate) fn report(&self, event: &'static str) {
        let _test_is_over = self.events.send(event);
    }

    /// Reports `dropped` when it is.
    pub(crate) fn guard(&self) -> Guard {
        Guard(self.clone())
    }
}

impl Events {
    /// Waits for one event.
    pub(crate) async fn expect(&mut self, wanted: &str) {
        let event = tokio::time::timeout(PATIENCE, self.0.recv()).await;
        assert_eq!(event.expect("no event came"), Some(wanted));
    }

    pub(crate) fn none(&mut self) -> bool {
        self.0.try_recv().is_err()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.report("dropped");
    }
}

/// The tools that most tests need.
pub(crate) fn builder(probe: &Probe) -> ServerBuilder<Probe> {
    let nothing = || json!({"type": "object"});
    Server::builder("bench", "1.0.0", probe.clone())
        .tool(Tool::new("echo", "Says it back."), echo)
        .tool(Tool::new("progress", "Counts."), progress)
        .raw_tool(Tool::new("hang", "Never answers.").with_input_schema(nothing()), hang)
        .raw_tool(
            Tool::new("talk", "Says one thing, then never answers.").with_input_schema(nothing()),
            talk,
        )
        .raw_tool(Tool::new("gate", "Answers when it is let.").with_input_schema(nothing()), gate)
        .tools_list_changed()
}

pub(crate) fn server() -> Server {
    builder(&probe().0).build().unwrap()
}

pub(crate) fn service() -> StreamableHttpService {
    StreamableHttpService::new(server())
}

async fn echo(said: Echo) -> Json<Echo> {
    Json(said)
}

async fn progress(wanted: Steps, context: Context) -> Json<Done> {
    for step in 1..=wanted.steps {
        context.progress(f64::from(step), Some(f64::from(wanted.steps)), None).await;
    }
    Json(Done { done: true })
}

async fn hang(
    probe: Probe,
    _: Map<String, Value>,
    _: Context,
) -> Result<CallToolResult, ToolError> {
    let guard = Guard(probe);
    guard.0.report("started");
    std::future::pending::<()>().await;
    drop(guard);
    Ok(CallToolResult::text("never"))
}

async fn talk(
    probe: Probe,
    _: Map<String, Value>,
    context: Context,
) -> Result<CallToolResult, ToolError> {
    let guard = Guard(probe);
    context.progress(1.0, None, None).await;
    guard.0.report("started");
    std::future::pending::<()>().await;
    drop(guard);
    Ok(CallToolResult::text("never"))
}

async fn gate(
    probe: Probe,
    _: Map<String, Value>,
    _: Context,
) -> Result<CallToolResult, ToolError> {
    probe.report("started");
    probe.gate.notified().await;
    probe.report("finished");
    Ok(CallToolResult::text("through"))
}

/// `_meta` of a good modern request.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// The params with the `_meta` of a good modern request, members of their own `_meta` kept.
pub(crate) fn with_meta(mut params: Value) -> Value {
    let mut meta = meta();
    if let Some(Value::Object(own)) = params.get("_meta") {
        meta.as_object_mut().unwrap().extend(own.clone());
    }
    params["_meta"] = meta;
    params
}

pub(crate) fn request(id: impl Serialize, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Params of a call of `echo`.
pub(crate) fn say(text: &str) -> Value {
    json!({ "name": "echo", "arguments": { "text": text } })
}

/// Params of a call without arguments, with a progress token.
pub(crate) fn call(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {}, "_meta": { "progressToken": "p" } })
}

/// One HTTP request, header by header.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Raw {
    /// A request of any method with a good `Host` and nothing else.
    pub(crate) fn bare(method: Method) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost:3000"));
        Self { method, headers, body: Bytes::new() }
    }

    /// A POST with good headers of no era.
    pub(crate) fn post(body: impl Into<Bytes>) -> Self {
        let mut raw = Self::bare(Method::POST);
        raw.body = body.into();
        raw.set(CONTENT_TYPE, "application/json").set(ACCEPT, "application/json, text/event-stream")
    }

    /// A good modern request with id 7.
    pub(crate) fn modern(method: &str, params: Value) -> Self {
        Self::modern_id(7, method, params)
    }

    pub(crate) fn modern_id(id: impl Serialize, method: &str, params: Value) -> Self {
        let named = match method {
            "resources/read" => "uri",
            _ => "name",
        };
        let name = params.get(named).and_then(Value::as_str).map(str::to_owned);
        let body = request(id, method, &with_meta(params)).to_string();
        let raw =
            Self::post(body).set("mcp-protocol-version", "2026-07-28").set("mcp-method", method);
        match name {
            Some(name) => raw.set("mcp-name", &name),
            None => raw,
        }
    }

    /// A good request of a legacy session with id 7.
    pub(crate) fn legacy(session: &str, method: &str, params: &Value) -> Self {
        Self::post(request(7, method, params).to_string()).set("mcp-session-id", session)
    }

    pub(crate) fn notification(method: &str, params: &Value) -> Self {
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        Self::post(body.to_string())
    }

    pub(crate) fn initialize(version: &str) -> Self {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        });
        Self::post(request(7, "initialize", &params).to_string())
    }

    pub(crate) fn set(mut self, name: impl TryInto<HeaderName>, value: &str) -> Self {
        let name = name.try_into().ok().expect("a header name");
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        self.headers.insert(name, value);
        self
    }

    pub(crate) fn add(mut self, name: &'static str, value: &str) -> Self {
        let value = HeaderValue::from_bytes(value.as_bytes()).unwrap();
        self.headers.append(name, value);
        self
    }

    pub(crate) fn unset(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub(crate) fn request(self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body));
        *request.method_mut() = self.method;
        *request.headers_mut() = self.headers;
        *request.uri_mut() = "/mcp".parse().unwrap();
        request
    }

    /// Sends it to the service in process and reads the whole answer.
    pub(crate) async fn send(self, service: &StreamableHttpService) -> Reply {
        let reply = async {
            let (head, body) = service.handle(self.request()).await.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            Reply { status: head.status, headers: head.headers, body }
        };
        tokio::time::timeout(PATIENCE, reply).await.expect("no answer")
    }
}

/// One HTTP response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The `result` of a JSON answer to the request with id 7.
    pub(crate) fn result(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{:?}", self.body);
        let answer = self.json();
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_eq!(answer["id"], 7);
        answer["result"].clone()
    }

    /// Status, code and id of an answer that is a JSON-RPC error.
    #[track_caller]
    pub(crate) fn refusal(&self) -> (u16, i64, Option<Value>) {
        let answer = self.json();
        assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
        assert!(answer.get("result").is_none(), "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty());
        let code = answer["error"]["code"].as_i64().unwrap();
        (self.status.as_u16(), code, answer.get("id").cloned())
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap().to_owned()
    }

    /// The messages of an event stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        assert_eq!(self.header("content-type"), Some("text/event-stream"));
        messages(&self.body)
    }
}

/// The messages in the bytes of an event stream. Events that say nothing but their id are passed over.
pub(crate) fn messages(stream: &[u8]) -> Vec<Value> {
    let events = EventReader::new(1 << 20).push(stream).unwrap();
    events
        .iter()
        .filter(|event| !event.data.is_empty())
        .map(|event| serde_json::from_str(&event.data).unwrap())
        .collect()
}

/// Opens a legacy session.
pub(crate) async fn open_session(service: &StreamableHttpService) -> String {
    let reply = Raw::initialize("2025-11-25").send(service).await;
    assert_eq!(reply.status, StatusCode::OK);
    reply.header("mcp-session-id").unwrap().to_owned()
}

/// A service on a socket of this machine.
pub(crate) struct Served {
    pub(crate) address: std::net::SocketAddr,
    pub(crate) service: StreamableHttpService,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), Undecided>>,
}

impl Served {
    pub(crate) async fn new(server: Server) -> Self {
        Self::with(server, HttpConfig::default(), ServeConfig::default()).await
    }

    pub(crate) async fn with(server: Server, config: HttpConfig, serving: ServeConfig) -> Self {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let service = StreamableHttpService::with_config(server, config);
        let (stop, stopped) = oneshot::channel::<()>();
        let closing = service.clone();
        let shutdown = async move {
            let _dropped_counts = stopped.await;
            closing.close();
        };
        let task = tokio::spawn(serve(listener, service.clone(), serving, shutdown));
        Self { address, service, stop: Some(stop), task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Starts the shutdown.
    pub(crate) fn stop(&mut self) {
        self.stop.take();
    }

    /// Waits until the server has ended.
    pub(crate) async fn ended(self) {
        drop(self.stop);
        tokio::time::timeout(PATIENCE, self.task)
            .await
            .expect("the server did not end")
            .unwrap()
            .unwrap();
    }
}

/// A client of each transport and era, and who keeps their server alive.
pub(crate) async fn every_client(server: &Server) -> (Vec<(String, Client)>, Served) {
    let served = Served::new(server.clone()).await;
    let mut clients = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        let http = Client::http(&served.url(), ClientConfig::new(era)).await;
        clients.push((format!("http {era:?}"), http.unwrap()));
        let memory = Client::memory(server.clone(), ClientConfig::new(era)).await;
        clients.push((format!("stdio {era:?}"), memory.unwrap()));
    }
    (clients, served)
}

/// The error that the server answered with.
#[track_caller]
pub(crate) fn refused(answer: Result<Value, ClientError>) -> ErrorObject {
    match answer {
        Err(ClientError::Rpc(error)) => error,
        other => panic!("no error of the server: {other:?}"),
    }
}

/// Where only one subscriber exists, tracing asks the thread that comes to a line first whether it wants it, and that
/// may be another test's: "never" is then remembered for all. With a second one, all are asked.
static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::default()));

/// Takes in what this thread logs, until the guard is dropped.
pub(crate) fn subscribe(subscriber: impl Subscriber + Send + Sync + 'static) -> DefaultGuard {
    LazyLock::force(&SECOND);
    tracing::subscriber::set_default(subscriber)
}
