//! A mock server: it answers what was recorded.

mod http;
mod recording;
mod stdio;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use self::recording::{Recording, Used};
use crate::error::TranscriptError;
use crate::json::put;
use crate::transcript::{Era, Transcript};

/// A server that answers requests from transcripts.
///
/// A request is answered as the recorded one of the same method and params. `_meta` is not compared, missing
/// `arguments` are empty ones, and a masked secret is any text. A request that was recorded several times is answered
/// in that order, and then always as the last time. Each legacy session starts with the first answer again. Values that
/// a transcript captures or matches by their form are made up, and are the same for each client.
#[derive(Debug)]
pub struct Mock {
    /// What was recorded in each era.
    recordings: BTreeMap<Era, Recording>,
}

/// What a message is answered with.
#[derive(Debug)]
struct Reply {
    /// The status over HTTP.
    status: u16,
    /// What comes before the answer.
    before: Vec<Value>,
    /// The answer; nothing yet to a subscription, which lasts.
    answer: Option<Value>,
}

impl Mock {
    /// A mock server for these files, or those in these directories.
    ///
    /// # Errors
    ///
    /// A file that is no transcript, or no recorded answer in any of them.
    pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Self, TranscriptError> {
        let transcripts = Transcript::read_all(paths)?;
        let mut recordings = BTreeMap::new();
        for era in Era::ALL {
            let own: Vec<_> = transcripts.iter().filter(|it| it.eras().contains(&era)).collect();
            if !own.is_empty() {
                recordings.insert(era, Recording::of(era, &own));
            }
        }
        let mock = Self { recordings };
        if mock.len() == 0 {
            let source = transcripts.first().map_or("", Transcript::source_name);
            return Err(TranscriptError::file(source, "there is no recorded answer to serve"));
        }
        Ok(mock)
    }

    /// How many answers were recorded, over both eras.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a mock server is never empty")]
    pub fn len(&self) -> usize {
        self.recordings.values().map(Recording::len).sum()
    }

    /// The answer to a request of this era.
    fn reply(&self, era: Era, used: &mut Used, request: &Value) -> Reply {
        let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
        let params = request.get("params").unwrap_or(&Value::Null);
        let id = request.get("id").unwrap_or(&Value::Null);
        let error = |status: u16, code: i64, message: String, data: Value| {
            let mut answer = failure(id, code, &message);
            if let Some(error) = answer.get_mut("error").filter(|_| !data.is_null()) {
                put(error, "data", data);
            }
            Reply::of(status, answer)
        };
        let missing = if era == Era::Modern { 404 } else { 200 };
        let Some(recording) = self.recordings.get(&era) else {
            let message = format!("{method}: nothing was recorded in the {era} era");
            let Some(other) = self.recordings.get(&Era::Modern) else {
                return error(missing, -32601, message, Value::Null);
            };
            let data =
                json!({"supported": other.versions, "requested": params.get("protocolVersion")});
            return error(400, -32022, message, data);
        };
        let version = params.pointer("/_meta/io.modelcontextprotocol~1protocolVersion");
        if era == Era::Modern
            && let Some(Value::String(version)) = version
            && !recording.versions.contains(version)
        {
            let message = format!("nothing was recorded in version {version}");
            let data = json!({"supported": recording.versions, "requested": version});
            return error(400, -32022, message, data);
        }
        match recording.answer(used, method, params) {
            Ok(recorded) => {
                let token = params.pointer("/_meta/progressToken");
                let answer = json!({"jsonrpc": "2.0", "id": id, recorded.member: recorded.value});
                let before = recorded.notifications(token);
                Reply { status: recorded.status, before, answer: Some(answer) }
            }
            Err(_) if method == "ping" && era == Era::Legacy => {
                Reply::of(200, json!({"jsonrpc": "2.0", "id": id, "result": {}}))
            }
            Err(_) if method == "subscriptions/listen" => {
                let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
                let agreed = params.get("notifications").cloned().unwrap_or_else(|| json!({}));
                let params = json!({"notifications": agreed, "_meta": meta});
                let method = "notifications/subscriptions/acknowledged";
                let before = vec![json!({"jsonrpc": "2.0", "method": method, "params": params})];
                Reply { status: 200, before, answer: None }
            }
            Err(unknown) if unknown.nearest.is_some() => {
                error(200, -32602, unknown.message, json!({"nearest": unknown.nearest}))
            }
            Err(unknown) => error(missing, -32601, unknown.message, Value::Null),
        }
    }
}

impl Reply {
    fn of(status: u16, answer: Value) -> Self {
        Self { status, before: Vec::new(), answer: Some(answer) }
    }
}

/// The message in a body or a line.
///
/// # Errors
/// The answer to what is not one message.
fn read(text: &[u8]) -> Result<Value, Value> {
    match serde_json::from_slice(text) {
        Ok(message @ Value::Object(_)) => Ok(message),
        Ok(_) => Err(failure(&Value::Null, -32600, "this is not one JSON-RPC message")),
        Err(_) => Err(failure(&Value::Null, -32700, "this is not JSON")),
    }
}

fn failure(id: &Value, code: i64, message: &str) -> Value {
    let error = json!({"code": code, "message": message});
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}
