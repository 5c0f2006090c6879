//! What is measured: which server, in which era, by which call.

use serde_json::{Value, json};

use super::connection::Connection;
use crate::Result;

/// A server to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// Plain hyper and serde_json.
    Floor,
    /// The library with one typed tool.
    Echo,
    /// The universe server on its durable store.
    Universe,
}

/// The two eras of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    Modern,
    Legacy,
}

/// Which tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Echo,
    GetUniverseState,
    SendTick,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) program: Program,
    pub(super) era: Era,
    pub(super) tool: Tool,
    /// What it cost when it was measured last, as a multiple of the floor's instructions; for cases of the library itself.
    pub(super) baseline: Option<f64>,
}

/// In order: each floor is before the cases that are compared with it.
pub(super) const CASES: [Case; 8] = [
    Case::new(
        "floor, modern bytes",
        Program::Floor,
        Era::Modern,
        Tool::Echo,
    ),
    Case::new("tools/call, modern", Program::Echo, Era::Modern, Tool::Echo).baseline(1.25),
    Case::new(
        "get_universe_state, modern",
        Program::Universe,
        Era::Modern,
        Tool::GetUniverseState,
    ),
    Case::new(
        "send_universe_command, modern, durable",
        Program::Universe,
        Era::Modern,
        Tool::SendTick,
    ),
    Case::new(
        "floor, legacy bytes",
        Program::Floor,
        Era::Legacy,
        Tool::Echo,
    ),
    Case::new("tools/call, legacy", Program::Echo, Era::Legacy, Tool::Echo).baseline(1.33),
    Case::new(
        "get_universe_state, legacy",
        Program::Universe,
        Era::Legacy,
        Tool::GetUniverseState,
    ),
    Case::new(
        "send_universe_command, legacy, durable",
        Program::Universe,
        Era::Legacy,
        Tool::SendTick,
    ),
];

/// A call that is ready to be sent over and over, with a new id each time.
#[derive(Debug)]
pub(super) struct Call {
    headers: String,
    /// The body around the id.
    body: (String, String),
    /// What every answer must contain.
    marker: String,
}

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
/// A session id of the usual length, for the floor, which keeps no sessions.
const NO_SESSION: &str = "00000000-0000-4000-8000-000000000000";
/// Stands where the id goes; ids have as many digits, so that every request has the same length.
const ID: u64 = 1_000_000_000;

impl Case {
    const fn new(name: &'static str, program: Program, era: Era, tool: Tool) -> Self {
        Self {
            name,
            program,
            era,
            tool,
            baseline: None,
        }
    }

    const fn baseline(mut self, ratio: f64) -> Self {
        self.baseline = Some(ratio);
        self
    }

    /// Opens the session and creates the universe where the case needs them, and writes the call.
    pub(super) fn prepare(&self, connection: &mut Connection) -> Result<Call> {
        let (tool, arguments, marker) = self.call(connection)?;
        let mut params = json!({ "name": tool, "arguments": arguments });
        let mut headers =
            "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n"
                .to_owned();
        match self.era {
            Era::Modern => {
                headers += &format!(
                    "mcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
                );
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                if let Some(params) = params.as_object_mut() {
                    params.insert("_meta".to_owned(), meta);
                }
            }
            Era::Legacy => {
                let session = match self.program {
                    Program::Floor => NO_SESSION.to_owned(),
                    Program::Echo | Program::Universe => initialize(connection, &headers)?,
                };
                headers +=
                    &format!("mcp-protocol-version: {LEGACY}\r\nmcp-session-id: {session}\r\n");
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": ID, "method": "tools/call", "params": params })
            .to_string();
        let (before, after) = body
            .split_once(&ID.to_string())
            .ok_or("the call has no id")?;
        Ok(Call {
            headers,
            body: (before.to_owned(), after.to_owned()),
            marker,
        })
    }

    /// The tool's name, its arguments, and what its answer must contain.
    fn call(&self, connection: &mut Connection) -> Result<(&'static str, Value, String)> {
        if self.tool == Tool::Echo {
            let text = "A call of about two hundred bytes: long enough to be a sentence or two, short enough that what \
                        a server does around it shows. ";
            let text = text.repeat(2).chars().take(200).collect::<String>();
            return Ok(("echo", json!({ "text": text }), text));
        }
        let universe = create_universe(connection)?;
        Ok(match self.tool {
            Tool::Echo | Tool::GetUniverseState => (
                "get_universe_state",
                json!({ "universeId": universe }),
                "\"structuredContent\"".to_owned(),
            ),
            Tool::SendTick => (
                "send_universe_command",
                json!({ "universeId": universe, "command": { "type": "tick" } }),
                "\"structuredContent\"".to_owned(),
            ),
        })
    }
}

impl Call {
    /// Makes the call once and checks its answer; gives the length of the answer's body.
    ///
    /// # Errors
    /// When the connection breaks, or the answer is not this call's success.
    pub(super) fn make(&self, connection: &mut Connection, number: u64) -> Result<usize> {
        let id = ID + number;
        let (before, after) = &self.body;
        let answer = connection.post("/mcp", &self.headers, &format!("{before}{id}{after}"))?;
        let body = &answer.body;
        let right = answer.status == 200
            && body.contains(&format!("\"id\":{id}"))
            && body.contains(&self.marker)
            && !body.contains("\"isError\":true");
        if right {
            Ok(body.len())
        } else {
            Err(format!("call {id} was answered {}: {body}", answer.status).into())
        }
    }
}

/// Opens a legacy session; gives its id.
fn initialize(connection: &mut Connection, headers: &str) -> Result<String> {
    let body = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1.0.0" },
        },
    });
    let answer = connection.post("/mcp", headers, &body.to_string())?;
    let session = answer.session.ok_or("initialize opened no session")?;
    let headers =
        format!("{headers}mcp-protocol-version: {LEGACY}\r\nmcp-session-id: {session}\r\n");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = connection.post("/mcp", &headers, &initialized.to_string())?;
    if answer.status == 202 {
        Ok(session)
    } else {
        Err(format!("notifications/initialized was answered {}", answer.status).into())
    }
}

/// Creates a small universe by REST; gives its id.
fn create_universe(connection: &mut Connection) -> Result<String> {
    let body = json!({ "name": "bench", "state": {} });
    let answer = connection.post(
        "/universes",
        "content-type: application/json\r\n",
        &body.to_string(),
    )?;
    let record: Value = serde_json::from_str(&answer.body)?;
    match record.get("id") {
        Some(Value::String(id)) if answer.status == 201 => Ok(id.clone()),
        _ => Err(format!(
            "POST /universes was answered {}: {}",
            answer.status, answer.body
        )
        .into()),
    }
}
