//! A server whose tools run as tasks, and callers of either era and transport.

use std::time::Duration;

use http_body_util::BodyExt as _;
use mcp_proto::http::ResponseBody;
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{
    CallToolResult, Context, ElicitForm, Field, LogLevel, Principal, Questions, Server,
    ServerBuilder, StreamableHttpService, TaskSupport, TasksConfig, Tool, ToolError,
};
use serde_json::{Map, Value, json};

use crate::common::{PATIENCE, Probe, Raw, messages, request, with_meta};
use crate::peer::Peer;

pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";
pub(crate) const RELATED: &str = "io.modelcontextprotocol/related-task";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

type Outcome = Result<CallToolResult, ToolError>;
type Http = http::Request<http_body_util::Full<bytes::Bytes>>;

pub(crate) fn builder(probe: &Probe, config: TasksConfig) -> ServerBuilder<Probe> {
    let tool = |name: &str, support| {
        Tool::new(name, "A tool.")
            .asking()
            .with_input_schema(json!({ "type": "object" }))
            .with_task_support(support)
    };
    let (never, optional, required) =
        (TaskSupport::Forbidden, TaskSupport::Optional, TaskSupport::Required);
    Server::builder("tasks", "1.0.0", probe.clone())
        .tasks(config)
        .logging()
        .raw_tool(tool("greet", never), async |_, _, _| Ok(CallToolResult::text("Hello!")))
        .raw_tool(tool("hang", optional), hang)
        .raw_tool(tool("gate", optional), gate)
        .raw_tool(tool("sleep", optional), sleep)
        .raw_tool(tool("job", required), job)
        .raw_tool(tool("confirm", optional), confirm)
        .raw_tool(tool("both", optional), both)
        .raw_tool(tool("twice", optional), twice)
        .raw_tool(tool("named", optional), named)
        .raw_tool(tool("chatty", optional), chatty)
        .raw_tool(tool("large", optional), large)
        .raw_tool(tool("undeclared", never), async |_: Probe, _, context: Context| {
            context.start_task()?;
            Ok(CallToolResult::text("never"))
        })
}

pub(crate) fn server(probe: &Probe) -> Server {
    builder(probe, TasksConfig::default()).build().unwrap()
}

pub(crate) fn config(change: impl FnOnce(&mut TasksConfig)) -> TasksConfig {
    let mut config = TasksConfig::default();
    change(&mut config);
    config
}

async fn hang(probe: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let _guard = probe.guard();
    probe.report("started");
    std::future::pending().await
}

async fn gate(probe: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    probe.report("started");
    probe.gate.notified().await;
    Ok(CallToolResult::text(context.task_id().unwrap_or("no task")))
}

/// For `seconds`.
async fn sleep(_: Probe, arguments: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let seconds = arguments["seconds"].as_f64().unwrap();
    tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    Ok(CallToolResult::text("slept"))
}

/// Ends as it is told.
async fn job(probe: Probe, arguments: Map<String, Value>, context: Context) -> Outcome {
    probe.report("called");
    context.start_task()?;
    match arguments["ends"].as_str().unwrap() {
        "well" => Ok(CallToolResult::text("done")),
        "badly" => Err(ToolError::new("NOT_DONE", "it did not work")),
        "in protocol" => Err(ErrorObject::invalid_params("that cannot be").into()),
        _ => panic!("as the test wants it"),
    }
}

fn form(field: &str) -> ElicitForm {
    ElicitForm::new("Really?").field(field, Field::text().required())
}

async fn confirm(_: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let answer = context.elicit("confirm", &form("word"))?;
    Ok(CallToolResult::text(answer.text("word").unwrap_or("no")))
}

async fn both(_: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let questions = Questions::new().elicit("one", form("word")).elicit("two", form("word"));
    let answers = context.ask(&questions)?;
    let (one, two) = (answers.elicited("one")?, answers.elicited("two")?);
    let said = [one.text("word").unwrap(), two.text("word").unwrap()];
    Ok(CallToolResult::text(said.join("+")))
}

async fn twice(_: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let first = context.elicit("first", &form("word"))?;
    let second = context.elicit("second", &form("word"))?;
    let said = [first.text("word").unwrap(), second.text("word").unwrap()];
    Ok(CallToolResult::text(said.join("+")))
}

/// Asks before it starts its task.
async fn named(probe: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    let answer = context.elicit("user_name", &form("name"))?;
    context.start_task()?;
    probe.report("named");
    Ok(CallToolResult::text(answer.text("name").unwrap_or("nobody")))
}

/// Says all it can, then waits, then says more.
async fn chatty(probe: Probe, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    probe.gate.notified().await;
    context.task_status("half");
    context.progress(1.0, Some(2.0), Some("half")).await;
    context.log(LogLevel::Error, None, "half").await;
    probe.report("half");
    probe.gate.notified().await;
    context.task_status("x".repeat(5_000));
    probe.report("more");
    probe.gate.notified().await;
    Ok(CallToolResult::text("said"))
}

/// A result of `bytes`.
async fn large(probe: Probe, arguments: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let bytes = arguments["bytes"].as_u64().unwrap();
    probe.report("made");
    Ok(CallToolResult::text("x".repeat(bytes as usize)))
}

/// The answer of a user who accepts.
pub(crate) fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

pub(crate) fn call(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Somebody who asks one thing after the other.
pub(crate) struct Caller {
    transport: Transport,
    era: Era,
    pub(crate) principal: Option<&'static str>,
    next_id: i64,
}

enum Transport {
    Http(StreamableHttpService),
    Pipe(Box<Peer>),
}

#[derive(Clone)]
enum Era {
    /// With its capabilities.
    Modern(Value),
    /// With its session, over HTTP.
    Legacy(String),
}

/// What modern clients can do who take tasks and questions.
pub(crate) fn able() -> Value {
    json!({ "elicitation": { "form": {}, "url": {} }, "extensions": { EXTENSION: {} } })
}

impl Caller {
    pub(crate) fn modern(service: &StreamableHttpService, capabilities: Value) -> Self {
        Self {
            transport: Transport::Http(service.clone()),
            era: Era::Modern(capabilities),
            principal: None,
            next_id: 0,
        }
    }

    /// A session of a revision, of a client that can be asked.
    pub(crate) async fn legacy(
        service: &StreamableHttpService,
        version: &str,
        principal: Option<&'static str>,
    ) -> Self {
        let mut http = initialize(version);
        if let Some(principal) = principal {
            http.extensions_mut().insert(Principal(principal.to_owned()));
        }
        let response = service.handle(http).await;
        let session = response.headers()["mcp-session-id"].to_str().unwrap();
        Self {
            transport: Transport::Http(service.clone()),
            era: Era::Legacy(session.to_owned()),
            principal,
            next_id: 0,
        }
    }

    /// The same one at another server.
    pub(crate) fn at(&self, service: &StreamableHttpService) -> Self {
        Self {
            transport: Transport::Http(service.clone()),
            era: self.era.clone(),
            principal: self.principal,
            next_id: self.next_id + 1_000,
        }
    }

    /// Over a pipe.
    pub(crate) fn modern_pipe(server: &Server) -> Self {
        Self {
            transport: Transport::Pipe(Box::new(Peer::new(server.clone()))),
            era: Era::Modern(able()),
            principal: None,
            next_id: 0,
        }
    }

    pub(crate) async fn legacy_pipe(server: &Server) -> Self {
        let mut peer = Peer::new(server.clone());
        peer.send(&initialization("2025-11-25")).await;
        peer.next().await;
        Self {
            transport: Transport::Pipe(Box::new(peer)),
            era: Era::Legacy(String::new()),
            principal: None,
            next_id: 0,
        }
    }

    /// A modern one over each transport.
    pub(crate) fn modern_ones(server: &Server) -> [Self; 2] {
        let service = StreamableHttpService::new(server.clone());
        [Self::modern(&service, able()), Self::modern_pipe(server)]
    }

    /// A legacy one over each transport.
    pub(crate) async fn legacy_ones(server: &Server) -> [Self; 2] {
        let service = StreamableHttpService::new(server.clone());
        [Self::legacy(&service, "2025-11-25", None).await, Self::legacy_pipe(server).await]
    }

    /// Everything that is said until the answer, which comes last.
    pub(crate) async fn messages(&mut self, method: &str, params: &Value) -> Vec<Value> {
        self.next_id += 1;
        let (id, sent) = (self.next_id, self.raw(method, params));
        match (&mut self.transport, sent) {
            (Transport::Http(service), Sent::Http(http)) => {
                let answered = async {
                    let response = service.handle(*http).await;
                    let is_json = response.headers()["content-type"] == "application/json";
                    let body = response.into_body().collect().await.unwrap().to_bytes();
                    if is_json {
                        vec![serde_json::from_slice(&body).unwrap()]
                    } else {
                        messages(&body)
                    }
                };
                tokio::time::timeout(PATIENCE, answered).await.unwrap()
            }
            (Transport::Pipe(peer), Sent::Line(line)) => {
                peer.send(&line).await;
                let mut said = Vec::new();
                loop {
                    let message = peer.next().await;
                    let is_answer = message["id"] == id && message.get("method").is_none();
                    said.push(message);
                    if is_answer {
                        return said;
                    }
                }
            }
            _ => unreachable!(),
        }
    }

    /// Sends over the pipe without waiting; the id.
    pub(crate) async fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.next_id += 1;
        let sent = self.raw(method, params);
        let (Transport::Pipe(peer), Sent::Line(line)) = (&mut self.transport, sent) else {
            panic!("a pipe is wanted");
        };
        peer.send(&line).await;
        self.next_id
    }

    pub(crate) fn peer(&mut self) -> &mut Peer {
        match &mut self.transport {
            Transport::Pipe(peer) => peer,
            Transport::Http(_) => panic!("a pipe is wanted"),
        }
    }

    /// The request over HTTP.
    pub(crate) fn http(&mut self, method: &str, params: &Value) -> Http {
        self.next_id += 1;
        match self.raw(method, params) {
            Sent::Http(http) => *http,
            Sent::Line(_) => panic!("HTTP is wanted"),
        }
    }

    pub(crate) async fn answer(&mut self, method: &str, params: &Value) -> Value {
        self.messages(method, params).await.pop().unwrap()
    }

    #[track_caller]
    pub(crate) fn result_of(answer: &Value) -> Value {
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        Self::result_of(&self.answer(method, &params).await)
    }

    /// The code of the error that must come.
    pub(crate) async fn code(&mut self, method: &str, params: Value) -> i64 {
        let answer = self.answer(method, &params).await;
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{answer}"))
    }

    /// Calls a tool as a task; its id.
    pub(crate) async fn start(&mut self, tool: &str, arguments: Value) -> String {
        let mut params = call(tool, &arguments);
        let member = match &self.era {
            Era::Modern(_) => "/taskId",
            Era::Legacy(_) => {
                params["task"] = json!({});
                "/task/taskId"
            }
        };
        let created = self.result("tools/call", params).await;
        let id = created.pointer(member).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("{created}")).to_owned()
    }

    pub(crate) async fn get(&mut self, id: &str) -> Value {
        self.result("tasks/get", json!({ "taskId": id })).await
    }

    /// Asks until the task has a status. The wait is for other tasks of the runtime, not for a time to pass.
    pub(crate) async fn until(&mut self, id: &str, status: &str) -> Value {
        for _ in 0..1_000 {
            let task = self.get(id).await;
            if task["status"] == status {
                return task;
            }
            tokio::task::yield_now().await;
        }
        panic!("it never became {status}: {}", self.get(id).await);
    }

    pub(crate) async fn update(&mut self, id: &str, responses: Value) -> Value {
        let params = json!({ "taskId": id, "inputResponses": responses });
        self.result("tasks/update", params).await
    }

    fn raw(&self, method: &str, params: &Value) -> Sent {
        let id = self.next_id;
        match (&self.transport, &self.era) {
            (Transport::Http(_), Era::Modern(capabilities)) => {
                let mut params = params.clone();
                params["_meta"][CAPABILITIES] = capabilities.clone();
                let name = params.get("taskId").and_then(Value::as_str);
                let name = name.map(str::to_owned);
                let mut raw = Raw::modern_id(id, method, params);
                if let Some(name) = name {
                    raw = raw.set("mcp-name", &name);
                }
                Sent::Http(Box::new(self.of_principal(raw)))
            }
            (Transport::Http(_), Era::Legacy(session)) => {
                let body = request(id, method, params).to_string();
                let raw = Raw::post(body).set("mcp-session-id", session);
                Sent::Http(Box::new(self.of_principal(raw)))
            }
            (Transport::Pipe(_), Era::Modern(capabilities)) => {
                let mut params = params.clone();
                params["_meta"][CAPABILITIES] = capabilities.clone();
                Sent::Line(request(id, method, &with_meta(params)))
            }
            (Transport::Pipe(_), Era::Legacy(_)) => Sent::Line(request(id, method, params)),
        }
    }

    /// Answers a question over HTTP.
    pub(crate) async fn reply(&self, id: &Value, result: &Value) {
        let (Transport::Http(service), Era::Legacy(session)) = (&self.transport, &self.era) else {
            panic!("a legacy session over HTTP is wanted");
        };
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        let raw = Raw::post(body.to_string()).set("mcp-session-id", session);
        let taken = service.handle(self.of_principal(raw)).await;
        assert_eq!(taken.status(), 202);
    }

    fn of_principal(&self, raw: Raw) -> Http {
        let mut http = raw.request();
        if let Some(principal) = self.principal {
            http.extensions_mut().insert(Principal(principal.to_owned()));
        }
        http
    }
}

enum Sent {
    Http(Box<Http>),
    Line(Value),
}

fn initialization(version: &str) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "0" },
    });
    request(0, "initialize", &params)
}

fn initialize(version: &str) -> Http {
    Raw::post(initialization(version).to_string()).request()
}

/// An open event stream.
pub(crate) struct Stream {
    body: ResponseBody,
    ahead: Vec<Value>,
}

impl Stream {
    pub(crate) fn of(response: http::Response<ResponseBody>) -> Self {
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body(), ahead: Vec::new() }
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Value {
        while self.ahead.is_empty() {
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await;
            let data = frame.expect("nothing came").unwrap().unwrap();
            self.ahead = messages(&data.into_data().unwrap());
        }
        self.ahead.remove(0)
    }
}
