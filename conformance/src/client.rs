//! How a message is carried in each era: what goes around a request, and what must be around its answer.

mod answers;
mod envelope;
pub(crate) mod headers;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderName, HeaderValue, Method, Request};
use serde_json::{Map, Value, json};

use self::answers::Answers;
pub(crate) use self::envelope::compare;
use self::headers::{Mirror, encoded, named};
use crate::error::Problem;
use crate::sse::EVENT_STREAM;
use crate::template::Vars;
use crate::transcript::{Era, Opening};
use crate::wire::build;

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// One MCP client of a replay.
#[derive(Debug)]
pub(crate) struct RpcClient {
    era: Era,
    endpoint: String,
    version: String,
    session: Option<String>,
    capabilities: Value,
    info: Value,
    answers: Answers,
    /// Shared by the clients of a replay: on stdio nothing else distinguishes their requests.
    ids: Arc<AtomicU64>,
    /// The arguments of tools that headers repeat, once the tools have been listed.
    mirrors: Mutex<Option<BTreeMap<String, Vec<Mirror>>>>,
}

impl RpcClient {
    pub(crate) fn new(era: Era, endpoint: &str, opening: &Opening, ids: Arc<AtomicU64>) -> Self {
        Self {
            era,
            endpoint: endpoint.to_owned(),
            version: opening.version.clone().unwrap_or_else(|| era.newest().to_owned()),
            session: None,
            capabilities: opening.capabilities.clone().unwrap_or_else(|| json!({})),
            info: opening.info.clone().unwrap_or_else(
                || json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")}),
            ),
            answers: Answers::new(opening.answers.clone()),
            ids,
            mirrors: Mutex::default(),
        }
    }

    /// The parameters of `initialize`.
    pub(crate) fn handshake(&self) -> Value {
        json!({"protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": self.info})
    }

    /// The same client after its handshake.
    pub(crate) fn in_session(mut self, session: Option<String>, version: &str) -> Self {
        self.session = session;
        if !version.is_empty() {
            version.clone_into(&mut self.version);
        }
        self
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// A request and its id.
    pub(crate) fn request(
        &self,
        method: &str,
        params: Option<Value>,
    ) -> Result<(Request<Bytes>, u64), Problem> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        Ok((self.message(method, params, Some(id))?, id))
    }

    pub(crate) fn notification(
        &self,
        method: &str,
        params: Option<Value>,
    ) -> Result<Request<Bytes>, Problem> {
        self.message(method, params, None)
    }

    /// What opens the stream for notifications that answer no request.
    pub(crate) fn listen(&self, filter: &Value) -> Result<Request<Bytes>, Problem> {
        match self.era {
            Era::Modern => {
                Ok(self.request("subscriptions/listen", Some(json!({"notifications": filter})))?.0)
            }
            Era::Legacy => self.get(None),
        }
    }

    /// The request that resumes a stream that broke off after this event; `None` in the modern era, which has no
    /// resumption.
    pub(crate) fn resume(&self, last_event: &str) -> Option<Result<Request<Bytes>, Problem>> {
        (self.era == Era::Legacy).then(|| self.get(Some(last_event)))
    }

    fn get(&self, last_event: Option<&str>) -> Result<Request<Bytes>, Problem> {
        let mut headers = self.session_headers();
        headers.push((ACCEPT, EVENT_STREAM.to_owned()));
        headers.extend(last_event.map(|id| (LAST_EVENT_ID, id.to_owned())));
        build(Method::GET, &self.endpoint, None, headers, Bytes::new())
    }

    /// The answer to a question of the server, as the transcript scripts it.
    pub(crate) fn answer(&self, question: &Value, vars: &Vars) -> (&'static str, Value) {
        self.answers.to(question, vars)
    }

    /// The message that carries it.
    pub(crate) fn reply(
        &self,
        question: &Value,
        (member, value): (&'static str, Value),
    ) -> Result<Request<Bytes>, Problem> {
        let id = question.get("id").cloned().unwrap_or_default();
        let mut headers = vec![(ACCEPT, format!("application/json, {EVENT_STREAM}"))];
        headers.append(&mut self.session_headers());
        self.post(headers, &json!({"jsonrpc": "2.0", "id": id, member: value}))
    }

    /// Whether it was opened with answers, or declares that it can be asked.
    pub(crate) fn is_asked(&self) -> bool {
        !self.answers.is_empty() || self.capabilities != json!({})
    }

    /// The questions that were not scripted, since this was last asked.
    pub(crate) fn unscripted(&self) -> Vec<String> {
        self.answers.unscripted()
    }

    /// The scripted answers that were not requested.
    pub(crate) fn unused(&self) -> Vec<String> {
        self.answers.unused()
    }

    /// Takes what a page of `tools/list` says of headers.
    pub(crate) fn learn(&self, result: &Value) {
        let tools = result.get("tools").and_then(Value::as_array);
        let mut mirrors = lock(&self.mirrors);
        let known = mirrors.get_or_insert_default();
        for tool in tools.into_iter().flatten() {
            if let (Some(name), Some(schema)) =
                (tool.get("name").and_then(Value::as_str), tool.get("inputSchema"))
            {
                known.insert(name.to_owned(), Mirror::all(schema));
            }
        }
    }

    /// Whether a call may lack headers because this client has not seen the tool's schema.
    pub(crate) fn could_learn(&self, method: &str) -> bool {
        self.era == Era::Modern && method == "tools/call" && lock(&self.mirrors).is_none()
    }

    fn message(
        &self,
        method: &str,
        params: Option<Value>,
        id: Option<u64>,
    ) -> Result<Request<Bytes>, Problem> {
        let mut headers = vec![(ACCEPT, format!("application/json, {EVENT_STREAM}"))];
        let params = match self.era {
            Era::Legacy => {
                if method != "initialize" {
                    headers.append(&mut self.session_headers());
                }
                params
            }
            Era::Modern => {
                let mut params = params.unwrap_or_else(|| json!({}));
                headers.push((PROTOCOL_VERSION, self.version.clone()));
                headers.push((MCP_METHOD, method.to_owned()));
                headers.extend(named(method, &params).map(|name| (MCP_NAME, encoded(name))));
                headers.append(&mut self.mirrored(method, &params));
                self.add_meta(&mut params)?;
                Some(params)
            }
        };
        let mut message = Map::from_iter([
            ("jsonrpc".to_owned(), "2.0".into()),
            ("method".to_owned(), method.into()),
        ]);
        message.extend(id.map(|id| ("id".to_owned(), id.into())));
        message.extend(params.map(|params| ("params".to_owned(), params)));
        self.post(headers, &Value::Object(message))
    }

    fn post(
        &self,
        headers: Vec<(HeaderName, String)>,
        message: &Value,
    ) -> Result<Request<Bytes>, Problem> {
        let json = Some(HeaderValue::from_static("application/json"));
        build(Method::POST, &self.endpoint, json, headers, message.to_string().into())
    }

    fn mirrored(&self, method: &str, params: &Value) -> Vec<(HeaderName, String)> {
        let mirrors = lock(&self.mirrors);
        let tool = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let known = mirrors.as_ref().filter(|_| method == "tools/call");
        let mirrors = known.and_then(|known| known.get(tool)).into_iter().flatten();
        let arguments = params.get("arguments").unwrap_or(&Value::Null);
        mirrors
            .filter_map(|mirror| {
                let name = HeaderName::try_from(mirror.header()).ok()?;
                Some((name, mirror.value(arguments)?))
            })
            .collect()
    }

    fn session_headers(&self) -> Vec<(HeaderName, String)> {
        let session = self.session.clone().map(|session| (SESSION, session));
        [(PROTOCOL_VERSION, self.version.clone())].into_iter().chain(session).collect()
    }

    /// Puts in what every modern request says of its sender; what the transcript says itself stays.
    fn add_meta(&self, params: &mut Value) -> Result<(), Problem> {
        let refuse = || Problem::new("the parameters of a request and their `_meta` are objects");
        let params = params.as_object_mut().ok_or_else(refuse)?;
        let meta = params
            .entry("_meta")
            .or_insert_with(|| json!({}))
            .as_object_mut()
            .ok_or_else(refuse)?;
        for (name, value) in [
            ("protocolVersion", Value::from(self.version.as_str())),
            ("clientCapabilities", self.capabilities.clone()),
            ("clientInfo", self.info.clone()),
        ] {
            meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
