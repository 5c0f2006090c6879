//! The bench at which rules, load and mutations work: a server in one revision, and what is known about it.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::exchange::{Exchange, NOT_JSON, QUIET, Watched};
use super::http::{self, Raw};
use super::log::Log;
use super::login::LoggedIn;
use super::revision::{Revision, client_info, handshake};
use super::stdio::Process;
use crate::calls::{Calls, ToolCall};
use crate::rpc_client::envelope::introduce;
use crate::rpc_client::headers::Mirror;
use crate::target::{Target, TargetError};

/// Methods, by their ends, that a server answers at once.
const QUICK: [&str; 5] = ["ping", "initialize", "/discover", "/list", "no/such/method"];

/// Where the server is.
#[derive(Debug, Clone)]
pub(crate) enum Endpoint {
    Http(Target),
    Command(OsString, Vec<OsString>),
}

/// A server in one revision.
pub(crate) struct Bench {
    pub(crate) endpoint: Endpoint,
    pub(crate) revision: Revision,
    pub(crate) patience: Duration,
    /// The revisions that the server supports, once known.
    pub(crate) spoken: Vec<Revision>,
    /// The result of `initialize` or `server/discover`, and the exchange that brought it.
    pub(crate) greeting: Exchange,
    /// The items of each list that the server offers, and the exchanges that brought them.
    pub(crate) lists: Vec<(&'static str, Vec<Value>, Vec<Exchange>)>,
    /// A method that the server answers with a result, and that changes nothing, once it was sought.
    pub(crate) plain: Option<&'static str>,
    /// The tools that may be called.
    pub(crate) callable: Vec<String>,
    /// The calls that were named.
    pub(crate) named: Vec<ToolCall>,
    /// The calls that were made, once they were, and what they say of all tools.
    pub(crate) calls: Option<(Vec<MadeCall>, Calls)>,
    /// The tools that need input, once they were sought.
    pub(crate) asking: Option<Vec<String>>,
    /// The same server, asked by another caller.
    pub(crate) other: Option<Target>,
    /// How it was logged in, if it was.
    pub(crate) login: Option<Arc<LoggedIn>>,
    /// The task that watches a stream on which nothing should happen. It ends with this bench.
    pub(crate) quiet: Option<JoinSet<Watched>>,
    session: Option<String>,
    process: Option<Process>,
    next_id: u64,
    /// What was exchanged so far by this one and those made from it, for the rules about every message.
    pub(crate) log: Option<Arc<Log>>,
}

/// A call of a tool with arguments that fit.
#[derive(Debug, Clone)]
pub(crate) struct MadeCall {
    /// The tool, as the server lists it.
    pub(crate) tool: Value,
    pub(crate) arguments: Value,
    /// The token of its progress.
    pub(crate) token: Value,
    pub(crate) exchange: Exchange,
    /// How long the answer took.
    pub(crate) took: Duration,
}

impl Endpoint {
    /// The same server over a separate connection.
    pub(crate) fn reconnected(&self) -> Result<Self, TargetError> {
        Ok(match self {
            Self::Http(target) => Self::Http(target.reconnected()?),
            Self::Command(..) => self.clone(),
        })
    }

    pub(crate) fn is_http(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// Whether requests carry a token.
    pub(crate) fn shows_a_token(&self) -> bool {
        match self {
            Self::Http(target) => target.has_header(&AUTHORIZATION),
            Self::Command(..) => false,
        }
    }
}

impl From<Target> for Endpoint {
    fn from(target: Target) -> Self {
        match target.program() {
            Some((program, arguments)) => Self::Command(program.clone(), arguments.to_vec()),
            None => Self::Http(target),
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(target) => target.fmt(formatter),
            Self::Command(program, _) => write!(formatter, "{}", program.display()),
        }
    }
}

impl Bench {
    pub(crate) fn new(endpoint: Endpoint, revision: Revision, patience: Duration) -> Self {
        Self {
            endpoint,
            revision,
            patience,
            spoken: Vec::new(),
            greeting: Exchange::default(),
            lists: Vec::new(),
            plain: None,
            callable: Vec::new(),
            named: Vec::new(),
            calls: None,
            asking: None,
            other: None,
            login: None,
            quiet: None,
            session: None,
            process: None,
            next_id: 1,
            log: None,
        }
    }

    /// A new bench for the same server, with its own session or process, that keeps what this one knows.
    pub(crate) async fn another(&self) -> Self {
        let mut fresh = self.fresh().await;
        fresh.lists.clone_from(&self.lists);
        fresh.callable.clone_from(&self.callable);
        fresh.named.clone_from(&self.named);
        fresh
    }

    /// A new bench for the same server, with its own session or process.
    pub(crate) async fn fresh(&self) -> Self {
        let mut fresh = self.unopened();
        fresh.open().await;
        fresh
    }

    /// A new bench for the same server, which has sent nothing yet.
    pub(crate) fn unopened(&self) -> Self {
        let (log, plain) = (self.log.clone(), self.plain);
        Self { log, plain, ..Self::new(self.endpoint.clone(), self.revision, self.patience) }
    }

    /// One of another caller, which knows what this one knows; nothing without one.
    pub(crate) async fn of_another_caller(&self) -> Option<Self> {
        let endpoint = Endpoint::Http(self.other.clone()?);
        let mut other = Self::new(endpoint, self.revision, self.patience);
        other.lists.clone_from(&self.lists);
        other.open().await;
        Some(other)
    }

    /// Opens a session, or asks what the server is. Whether it answers with a result.
    pub(crate) async fn open(&mut self) -> bool {
        if self.revision.is_modern() {
            self.greeting = self.ask("server/discover", json!({})).await;
            return self.greeting.result().is_some();
        }
        self.greeting = self.ask("initialize", handshake(self.revision.as_str())).await;
        self.session = self.greeting.header("mcp-session-id").map(str::to_owned);
        if self.greeting.result().is_none() {
            return false;
        }
        self.notify("notifications/initialized", Duration::ZERO).await;
        true
    }

    /// Opens it; returns whether the server says that it uses exactly this revision.
    pub(crate) async fn agrees(&mut self) -> bool {
        self.open().await;
        let Some(result) = self.greeting.result() else {
            return false;
        };
        if !self.revision.is_modern() {
            return result.get("protocolVersion") == Some(&json!(self.revision.as_str()));
        }
        // A result without the list is one that does not fit its schema.
        let versions = result.get("supportedVersions").and_then(Value::as_array);
        versions.is_none_or(|versions| versions.contains(&json!(self.revision.as_str())))
    }

    /// A new session or program in place of one that is gone; whether it could be opened.
    pub(crate) async fn reopen(&mut self) -> bool {
        self.session = None;
        self.process = None;
        self.open().await
    }

    /// An id that was not used yet.
    pub(crate) fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// A request with a fresh id.
    pub(crate) fn message(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id();
        self.message_with(id, method, params)
    }

    /// A request with this id.
    pub(crate) fn message_with(&self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id: Value = id.into();
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": self.with_meta(params)})
    }

    /// The params with what a modern request says of its sender.
    pub(crate) fn with_meta(&self, params: Value) -> Value {
        let mut params = params;
        if self.revision.is_modern() {
            introduce(&mut params, self.revision.as_str(), &json!({}), &client_info());
        }
        params
    }

    /// Asks, as a good client does.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Exchange {
        let message = self.message(method, params);
        self.send(&message).await
    }

    /// Sends any message in good framing.
    pub(crate) async fn send(&mut self, message: &Value) -> Exchange {
        let raw = self.framed(message);
        let mut exchange = self.raw(raw).await;
        if let Some(log) = &self.log
            && message.get("id").is_some()
            && exchange.response().is_none()
            && !exchange.is_acknowledged()
            && exchange.status.is_none_or(|status| (200..300).contains(&status))
        {
            let broken = exchange.broken.get_or_insert_with(|| "no JSON-RPC response".to_owned());
            let is_broken = broken == NOT_JSON;
            let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
            // What a tool does may take long.
            let may_wait = exchange.is_late && !QUICK.iter().any(|it| method.ends_with(it));
            if !is_broken && !may_wait {
                log.read().unanswered.push(exchange.clone());
            }
        }
        exchange
    }

    /// The request that carries a message in good framing.
    pub(crate) fn framed(&self, message: &Value) -> Raw {
        let mut raw = Raw::post(message.to_string());
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        if method != "initialize" || self.revision.is_modern() {
            if let Some(session) = &self.session {
                raw = raw.with("mcp-session-id", session);
            }
            if self.revision >= Revision::V2025_06_18 {
                raw = raw.with("mcp-protocol-version", self.revision.as_str());
            }
        }
        if self.revision.is_modern() {
            let params = message.get("params").unwrap_or(&Value::Null);
            raw = raw.about(method, params, &self.mirrors(method, params));
        }
        raw
    }

    /// A GET for the event stream of the session.
    pub(crate) fn get(&self) -> Raw {
        let raw = Raw::bare(::http::Method::GET)
            .with("accept", "text/event-stream")
            .with("mcp-protocol-version", self.revision.as_str());
        match &self.session {
            Some(session) => raw.with("mcp-session-id", session),
            None => raw,
        }
    }

    /// The arguments of a call that headers repeat, as the tool's schema wants it.
    fn mirrors(&self, method: &str, params: &Value) -> Vec<Mirror> {
        let mut tools = self.items("tools/list").iter().filter(|_| method == "tools/call");
        let tool = tools.find(|tool| tool.get("name") == params.get("name"));
        tool.and_then(|tool| tool.get("inputSchema")).map_or(Vec::new(), Mirror::all)
    }

    /// Sends a request unchanged; on stdio its body as a line.
    pub(crate) async fn raw(&mut self, raw: Raw) -> Exchange {
        self.raw_within(raw, self.patience).await
    }

    /// The same with another patience.
    pub(crate) async fn raw_within(&mut self, raw: Raw, patience: Duration) -> Exchange {
        if let Endpoint::Http(target) = &self.endpoint {
            let sent = raw.body.clone();
            let exchange = match self.log {
                Some(_) => http::send_and_stay(target, raw, patience).await,
                None => http::send(target, raw, patience).await,
            };
            self.keep(&sent, &exchange);
            return exchange;
        }
        // It has to start first.
        let patience = if self.process.is_none() { patience * 3 } else { patience };
        match self.process() {
            Ok(process) => process.ask(&raw.body, patience).await,
            Err(error) => Exchange::failed(format!("the program cannot be started: {error}")),
        }
    }

    /// Logs an exchange over HTTP. Programs log what they read and write themselves.
    pub(super) fn keep(&self, sent: &[u8], exchange: &Exchange) {
        if let Some(log) = &self.log {
            log.http(sent, exchange);
        }
    }

    /// Sends a notification; on stdio, waits this long for an answer, which must not come.
    pub(crate) async fn notify(&mut self, method: &str, listen: Duration) -> Exchange {
        self.notify_with(method, json!({}), listen).await
    }

    /// The same with params.
    async fn notify_with(&mut self, method: &str, params: Value, listen: Duration) -> Exchange {
        let params = self.with_meta(params);
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        let raw = self.framed(&message);
        let patience = if self.endpoint.is_http() { self.patience } else { listen };
        self.raw_within(raw, patience).await
    }

    /// Cancels the request of this id, and waits as [`Self::notify`] does.
    pub(crate) async fn cancel(&mut self, id: impl Into<Value>, listen: Duration) -> Exchange {
        let id: Value = id.into();
        let params = json!({"requestId": id, "reason": "a test"});
        self.notify_with("notifications/cancelled", params, listen).await
    }

    /// Takes part in a session that another opened.
    pub(crate) fn join(&mut self, session: Option<String>) {
        self.session = session;
    }

    /// The process of a server on stdio, started if it does not run yet.
    ///
    /// # Errors
    ///
    /// It cannot be started, or the server is not on stdio.
    pub(crate) fn process(&mut self) -> std::io::Result<&mut Process> {
        let Endpoint::Command(program, arguments) = &self.endpoint else {
            return Err(std::io::Error::other("the server is not on stdio"));
        };
        match &mut self.process {
            Some(process) => Ok(process),
            none => Ok(none.insert(Process::start(program, arguments, self.log.clone())?)),
        }
    }

    /// The session that the server gave.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// The program, which is taken away.
    pub(crate) fn take_process(&mut self) -> Option<Process> {
        self.process.take()
    }

    /// Lets the session and the program go.
    pub(crate) async fn end(&mut self) {
        if let (Endpoint::Http(_), Some(session)) = (&self.endpoint, self.session.take()) {
            let raw = Raw::bare(::http::Method::DELETE).with("mcp-session-id", &session);
            self.raw(raw).await;
        }
        if let Some(process) = self.process.take() {
            process.ends(QUIET).await;
        }
    }
}
