//! Tasks of MCP on several servers that share a store. The tools of the universe server make none, so these servers
//! have tools of their own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use mcp_proto::http::{HttpConfig, ServeConfig, listen, serve};
use mcp_proto::session::{MemorySessions, SessionStore};
use mcp_proto::task::{NewTaskRecord, TaskRecord, TaskStore, TaskStoreError};
use mcp_proto::{
    CallToolResult, Context, ElicitForm, Field, StreamableHttpService, TaskSupport, TasksConfig,
    Tool, ToolError,
};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;
use universe_server::SharedTasks;
use universe_server::store::clients::tasks::TaskBounds;

use super::{node, until};
use crate::engines::{self, Kind, Servers, dump, until_there_are, urls};
use crate::harness::wire::{LEGACY, MODERN};
use crate::harness::{Client, Era};

const LATE: Duration = Duration::from_millis(100);

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A server in a runtime of its own, so that it can be gone with all that runs in it.
struct Node {
    runtime: Runtime,
    client: Client,
}

/// What the servers of a test have in common besides the store.
struct Common {
    url: String,
    lease: Duration,
    sessions: Arc<dyn SessionStore>,
    gate: Arc<Notify>,
}

/// A store whose confirmation of a change comes late, when others see the change already.
#[derive(Debug)]
struct Late(SharedTasks);

impl TaskStore for Late {
    fn insert(&self, task: NewTaskRecord) -> Answer<'_, u64> {
        self.0.insert(task)
    }

    fn load<'a>(&'a self, id: &'a str, owner: Option<&'a str>) -> Answer<'a, Option<TaskRecord>> {
        self.0.load(id, owner)
    }

    fn list<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<TaskRecord>> {
        self.0.list(owner, after, max)
    }

    fn result<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        self.0.result(id)
    }

    fn replace<'a>(
        &'a self,
        id: &'a str,
        version: u64,
        body: &'a [u8],
        result: Option<&'a [u8]>,
    ) -> Answer<'a, bool> {
        Box::pin(async move {
            let replaced = self.0.replace(id, version, body, result).await;
            tokio::time::sleep(LATE).await;
            replaced
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> Answer<'a, ()> {
        self.0.remove(id)
    }

    fn hints(&self, id: &str) -> BoxStream<'static, ()> {
        self.0.hints(id)
    }
}

type Answer<'a, T> = BoxFuture<'a, Result<T, TaskStoreError>>;

type Outcome = Result<CallToolResult, ToolError>;

async fn gate(gate: Arc<Notify>, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    gate.notified().await;
    Ok(CallToolResult::text("through"))
}

async fn confirm(_: Arc<Notify>, _: Map<String, Value>, context: Context) -> Outcome {
    context.start_task()?;
    let form = ElicitForm::new("Really?").field("word", Field::text().required());
    let answer = context.elicit("confirm", &form)?;
    Ok(CallToolResult::text(answer.text("word").unwrap_or("no")))
}

impl Common {
    fn new(url: String, lease: Duration) -> Self {
        Self { url, lease, sessions: Arc::new(MemorySessions::default()), gate: Arc::default() }
    }

    async fn node(&self) -> Node {
        let builder = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = builder.unwrap();
        let (url, sessions, gates) =
            (self.url.clone(), Arc::clone(&self.sessions), Arc::clone(&self.gate));
        let lease = self.lease;
        let started = runtime.spawn(async move {
            let store = engines::with_lease(&url, lease).await;
            let tasks = Late(SharedTasks::new(store.tasks(TaskBounds::default())));
            let tool = |name| {
                let tool = Tool::new(name, "A tool.").asking();
                let tool = tool.with_input_schema(json!({ "type": "object" }));
                tool.with_task_support(TaskSupport::Required)
            };
            let server = mcp_proto::Server::builder("tasks", "1", gates)
                .tasks(TasksConfig::default())
                .task_store(Arc::new(tasks))
                .raw_tool(tool("gate"), gate)
                .raw_tool(tool("confirm"), confirm)
                .build()
                .unwrap();
            let service =
                StreamableHttpService::with_sessions(server, HttpConfig::default(), sessions);
            let listener = listen(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(async move {
                let _store = store;
                serve(listener, service, ServeConfig::default(), std::future::pending()).await
            });
            address
        });
        let client = Client(started.await.unwrap());
        Node { runtime, client }
    }
}

impl Node {
    /// It is gone, without a word to the others.
    fn kill(self) {
        self.runtime.shutdown_background();
    }
}

/// A client of one era, which goes to any server.
struct Caller {
    era: Era,
    headers: Vec<(&'static str, String)>,
}

impl Caller {
    async fn new(node: &Node, era: Era) -> Self {
        let version = match era {
            Era::Legacy => LEGACY,
            Era::Modern => MODERN,
        };
        let mut caller = Self {
            era,
            headers: vec![
                ("accept", "application/json, text/event-stream".to_owned()),
                ("mcp-protocol-version", version.to_owned()),
            ],
        };
        if era == Era::Legacy {
            let reply = {
                let headers = caller.headers("", None);
                let body = crate::harness::wire::initialize();
                node.client.call("POST", "/mcp", &headers, &body).await
            };
            let session = reply.header("mcp-session-id").to_owned();
            caller.headers.push(("mcp-session-id", session));
        }
        caller
    }

    fn headers<'a>(&'a self, method: &'a str, name: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
        let own = self.headers.iter();
        let mut headers: Vec<_> = own.map(|(name, value)| (*name, value.as_str())).collect();
        if self.era == Era::Modern {
            headers.push(("mcp-method", method));
            headers.extend(name.map(|name| ("mcp-name", name)));
        }
        headers
    }

    /// The answer to a request at a server.
    async fn answer(&self, node: &Node, method: &str, params: &Value) -> Value {
        let mut body = self.era.request(&json!(1), method, params.clone());
        let name = params["taskId"].as_str().or(params["name"].as_str());
        if self.era == Era::Modern {
            body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
                json!({ "elicitation": { "form": {} }, "extensions": { EXTENSION: {} } });
        }
        let headers = self.headers(method, name);
        let reply = node.client.call("POST", "/mcp", &headers, &body).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        if reply.header("content-type") == "application/json" {
            return reply.json();
        }
        let events = std::str::from_utf8(&reply.body).unwrap();
        let mut data = events.lines().filter_map(|line| line.strip_prefix("data: "));
        serde_json::from_str(data.next_back().unwrap()).unwrap()
    }

    async fn result(&self, node: &Node, method: &str, params: Value) -> Value {
        let mut answer = self.answer(node, method, &params).await;
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    async fn start(&self, node: &Node, tool: &str) -> String {
        let mut params = json!({ "name": tool, "arguments": {} });
        if self.era == Era::Legacy {
            params["task"] = json!({});
        }
        let created = self.result(node, "tools/call", params).await;
        let task = match self.era {
            Era::Legacy => &created["task"],
            Era::Modern => &created,
        };
        task["taskId"].as_str().unwrap().to_owned()
    }

    async fn get(&self, node: &Node, id: &str) -> Value {
        self.result(node, "tasks/get", json!({ "taskId": id })).await
    }

    /// Asks until the task has a status.
    async fn until(&self, node: &Node, id: &str, status: &str) -> Value {
        let mut task = Value::Null;
        until(async || {
            task = self.get(node, id).await;
            task["status"] == status
        })
        .await;
        task
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_of_one_is_shown_and_answered_and_cancelled_at_the_other() {
    for url in urls() {
        let common = Common::new(url, Duration::from_secs(15));
        let (a, b) = (common.node().await, common.node().await);
        for era in Era::BOTH {
            let caller = Caller::new(&a, era).await;
            let id = caller.start(&a, "gate").await;
            assert_eq!(caller.get(&b, &id).await["status"], "working");
            let cancelled = caller.start(&a, "gate").await;
            caller.result(&b, "tasks/cancel", json!({ "taskId": cancelled })).await;
            assert_eq!(caller.get(&b, &cancelled).await["status"], "cancelled");
            // The server that runs it is notified.
            caller.until(&a, &cancelled, "cancelled").await;
            // The one that is left gets through.
            common.gate.notify_one();
            let done = caller.until(&b, &id, "completed").await;
            assert_eq!(done, caller.get(&a, &id).await);
            let result = match era {
                Era::Modern => done["result"].clone(),
                Era::Legacy => {
                    let listed = caller.result(&b, "tasks/list", json!({})).await;
                    assert_eq!(listed["tasks"].as_array().unwrap().len(), 2, "{listed}");
                    let named = json!({ "taskId": id });
                    caller.result(&b, "tasks/result", named).await
                }
            };
            assert_eq!(result["content"][0]["text"], "through");
        }
        let caller = Caller::new(&a, Era::Modern).await;
        let id = caller.start(&a, "confirm").await;
        let asked = caller.until(&b, &id, "input_required").await;
        assert_eq!(asked["inputRequests"]["confirm"]["method"], "elicitation/create");
        let answer = json!({ "action": "accept", "content": { "word": "yes" } });
        let answers = json!({ "taskId": id, "inputResponses": { "confirm": answer } });
        caller.result(&b, "tasks/update", answers).await;
        for node in [&b, &a] {
            let done = caller.until(node, &id, "completed").await;
            assert_eq!(done["result"]["content"][0]["text"], "yes");
        }
        a.kill();
        b.kill();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_tasks_of_a_server_that_died_have_failed_once_its_lease_is_over() {
    for url in urls() {
        let common = Common::new(url, Duration::from_millis(1_500));
        let (a, b) = (common.node().await, common.node().await);
        let mut tasks = Vec::new();
        for era in Era::BOTH {
            let caller = Caller::new(&a, era).await;
            let id = caller.start(&a, "gate").await;
            tasks.push((caller, id));
        }
        a.kill();
        for (caller, id) in tasks {
            let failed = caller.until(&b, &id, "failed").await;
            let reason = "the server that ran this task has ended";
            assert_eq!(failed["statusMessage"], reason, "{failed}");
        }
        b.kill();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_outlasts_a_store_that_is_away() {
    for (servers, url) in Servers::start().await {
        let common = Common::new(url, Duration::from_secs(10));
        let (a, b) = (common.node().await, common.node().await);
        let caller = Caller::new(&a, Era::Modern).await;
        let id = caller.start(&a, "gate").await;
        let servers = servers.kill().await;
        common.gate.notify_one();
        let away = caller.answer(&b, "tasks/get", &json!({ "taskId": id })).await;
        assert_eq!(away["error"]["code"], -32603, "{away}");
        let message = away["error"]["message"].as_str().unwrap();
        assert!(message.contains("unavailable"), "{message}");
        // How it ended counts once the store has it.
        assert_eq!(caller.get(&a, &id).await["status"], "working");
        let _servers = servers.restart().await;
        let mut done = Value::Null;
        until(async || {
            done = caller.answer(&b, "tasks/get", &json!({ "taskId": id })).await;
            done["result"]["status"] == "completed"
        })
        .await;
        assert_eq!(done["result"], caller.get(&a, &id).await);
        a.kill();
        b.kill();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_gives_its_lease_back() {
    for url in urls() {
        let mut servers = [node(&url).await, node(&url).await];
        until_there_are(&url, Kind::Nodes, 2).await;
        let [ending, _lasting] = &mut servers;
        ending.stop().await;
        assert_eq!(dump(&url, Kind::Nodes).await.len(), 1);
    }
}
