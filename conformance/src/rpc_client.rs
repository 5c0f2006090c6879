//! A client that a replay plays: what it puts around a request in each era, and what must be around its answer.

mod answers;
pub(crate) mod envelope;
pub(crate) mod headers;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{HeaderName, Method};
use serde_json::{Map, Value, json};

use self::answers::Answers;
pub(crate) use self::envelope::compare;
use self::envelope::introduce;
use self::headers::Mirror;
use crate::error::Problem;
use crate::probe::Raw;
use crate::sse::EVENT_STREAM;
use crate::template::Vars;
use crate::transcript::{Era, Opening};

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: &str = "mcp-protocol-version";

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
    pub(crate) fn after_handshake(mut self, session: Option<String>, version: &str) -> Self {
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
    ) -> Result<(Raw, u64), Problem> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        Ok((self.message(method, params, Some(id))?, id))
    }

    pub(crate) fn notification(&self, method: &str, params: Option<Value>) -> Result<Raw, Problem> {
        self.message(method, params, None)
    }

    /// What opens the stream for notifications that answer no request.
    pub(crate) fn listen(&self, filter: &Value) -> Result<Raw, Problem> {
        match self.era {
            Era::Modern => {
                Ok(self.request("subscriptions/listen", Some(json!({"notifications": filter})))?.0)
            }
            Era::Legacy => Ok(self.get()),
        }
    }

    /// The request that resumes a stream that broke off after this event; `None` in the modern era, which has no
    /// resumption.
    pub(crate) fn resume(&self, last_event: &str) -> Option<Raw> {
        (self.era == Era::Legacy).then(|| self.get().with("last-event-id", last_event))
    }

    fn get(&self) -> Raw {
        self.in_session(Raw::bare(Method::GET).with("accept", EVENT_STREAM))
    }

    /// The answer to a question of the server, as the transcript scripts it.
    pub(crate) fn answer(&self, question: &Value, vars: &Vars) -> (&'static str, Value) {
        self.answers.to(question, vars)
    }

    /// The message that carries it.
    pub(crate) fn reply(&self, question: &Value, (member, value): (&'static str, Value)) -> Raw {
        let id = question.get("id").cloned().unwrap_or_default();
        let message = json!({"jsonrpc": "2.0", "id": id, member: value});
        self.in_session(Raw::post(message.to_string()))
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
    ) -> Result<Raw, Problem> {
        let mut params = params;
        if self.era == Era::Modern {
            let params = params.get_or_insert_with(|| json!({}));
            introduce(params, &self.version, &self.capabilities, &self.info).ok_or_else(|| {
                Problem::new("the parameters of a request and their `_meta` are objects")
            })?;
        }
        let mut message = Map::from_iter([
            ("jsonrpc".to_owned(), "2.0".into()),
            ("method".to_owned(), method.into()),
        ]);
        message.extend(id.map(|id| ("id".to_owned(), id.into())));
        message.extend(params.clone().map(|params| ("params".to_owned(), params)));
        let raw = Raw::post(Value::Object(message).to_string());
        let shakes_hands = method == "initialize" && self.era == Era::Legacy;
        let raw = if shakes_hands { raw } else { self.in_session(raw) };
        let Some(params) = params.filter(|_| self.era == Era::Modern) else {
            return Ok(raw.at(&self.endpoint));
        };
        let mirrors = lock(&self.mirrors);
        let tool = params.get("name").and_then(Value::as_str).unwrap_or_default();
        let known = mirrors.as_ref().filter(|_| method == "tools/call");
        let mirrors = known.and_then(|known| known.get(tool)).map_or(&[][..], Vec::as_slice);
        Ok(raw.at(&self.endpoint).about(method, &params, mirrors))
    }

    fn in_session(&self, raw: Raw) -> Raw {
        let raw = raw.at(&self.endpoint).with(PROTOCOL_VERSION, &self.version);
        match &self.session {
            Some(session) => raw.with(SESSION.as_str(), session),
            None => raw,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
