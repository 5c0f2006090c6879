//! How a message is carried in each era: what goes around a request, and what must be around its answer.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderName, HeaderValue, Method, Request};
use serde_json::{Map, Value, json};

use crate::error::Problem;
use crate::pattern::{Mismatch, Pattern};
use crate::template::Vars;
use crate::transcript::Era;
use crate::wire::{EVENT_STREAM, build};

/// The newest revision with a handshake.
const LEGACY_VERSION: &str = "2025-11-25";
/// The revision without sessions.
const MODERN_VERSION: &str = "2026-07-28";

pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");

/// One MCP client of a replay.
#[derive(Debug)]
pub(crate) struct RpcClient {
    era: Era,
    endpoint: String,
    version: String,
    session: Option<String>,
    next_id: AtomicU64,
}

impl RpcClient {
    pub(crate) fn new(era: Era, endpoint: &str, version: Option<&str>) -> Self {
        let newest = match era {
            Era::Legacy => LEGACY_VERSION,
            Era::Modern => MODERN_VERSION,
        };
        Self {
            era,
            endpoint: endpoint.to_owned(),
            version: version.unwrap_or(newest).to_owned(),
            session: None,
            next_id: AtomicU64::new(1),
        }
    }

    /// The parameters of `initialize`.
    pub(crate) fn handshake(&self) -> Value {
        json!({"protocolVersion": self.version, "capabilities": {}, "clientInfo": client_info()})
    }

    /// The same client after its handshake.
    pub(crate) fn in_session(mut self, session: Option<String>, version: &str) -> Self {
        self.session = session;
        version.clone_into(&mut self.version);
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
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
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
            Era::Modern => Ok(self
                .request(
                    "subscriptions/listen",
                    Some(json!({"notifications": filter})),
                )?
                .0),
            Era::Legacy => {
                let mut headers = self.session_headers();
                headers.push((ACCEPT, EVENT_STREAM.to_owned()));
                build(Method::GET, &self.endpoint, None, headers, Bytes::new())
            }
        }
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
                if let Some(name) = named(method, &params) {
                    headers.push((MCP_NAME, name.to_owned()));
                }
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
        let body = Value::Object(message).to_string().into();
        build(
            Method::POST,
            &self.endpoint,
            Some(HeaderValue::from_static("application/json")),
            headers,
            body,
        )
    }

    fn session_headers(&self) -> Vec<(HeaderName, String)> {
        let session = self.session.clone().map(|session| (SESSION, session));
        [(PROTOCOL_VERSION, self.version.clone())]
            .into_iter()
            .chain(session)
            .collect()
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
            ("clientCapabilities", json!({})),
            ("clientInfo", client_info()),
        ] {
            meta.entry(format!("io.modelcontextprotocol/{name}"))
                .or_insert(value);
        }
        Ok(())
    }
}

fn client_info() -> Value {
    json!({"name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION")})
}

/// The value that `Mcp-Name` mirrors.
fn named<'a>(method: &str, params: &'a Value) -> Option<&'a str> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    params.get(member)?.as_str()
}

/// Compares a JSON-RPC answer: its frame exactly, its `member` (`result` or `error`) with `pattern`.
///
/// In the modern era what every result carries besides its content is judged here and then left out of the comparison,
/// so that one pattern serves both eras: `resultType` is `complete`, `_meta` is an object, and the caching hints are
/// well formed. A pattern that mentions one of these members compares it itself.
pub(crate) fn compare(
    era: Era,
    mut message: Value,
    id: u64,
    (member, pattern): (&'static str, &Pattern),
    vars: &mut Vars,
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    if era == Era::Modern && member == "result" {
        mismatches = take_envelope(&mut message, pattern);
    }
    let frame = [
        ("jsonrpc", Pattern::text("2.0")),
        ("id", Pattern::number(id)),
        (member, pattern.clone()),
    ];
    mismatches.append(&mut Pattern::object(frame).compare(Some(&message), vars));
    mismatches
}

fn take_envelope(message: &mut Value, pattern: &Pattern) -> Vec<Mismatch> {
    let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let mut mismatches = Vec::new();
    for (name, required, wanted, fits) in [
        (
            "resultType",
            true,
            json!("complete"),
            (|value| value == "complete") as fn(&Value) -> bool,
        ),
        ("_meta", false, json!({"$type": "object"}), Value::is_object),
        ("ttlMs", false, json!({"$type": "integer"}), Value::is_u64),
        (
            "cacheScope",
            false,
            json!({"$oneOf": ["public", "private"]}),
            |value| value == "public" || value == "private",
        ),
    ] {
        if pattern.mentions(name) {
            continue;
        }
        let actual = result.remove(name);
        if !actual.as_ref().map_or(!required, fits) {
            let reason = Some("every modern result carries it so".to_owned());
            mismatches.push(Mismatch {
                path: format!("/result/{name}"),
                expected: wanted,
                actual,
                reason,
            });
        }
    }
    mismatches
}
