//! The cases that are measured: server, era and call.

use serde_json::{Value, json};

use super::connection::Connection;
use super::exchange::{Calls, ToolCall};
use crate::era::Era;
use xtask::Result;

/// A server to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    /// Plain hyper and serde_json.
    Floor,
    /// The library, with small tools.
    Ours,
    /// The universe server on its durable store.
    Universe,
}

/// The tool that is called.
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
    /// The cost at the last measurement of programs built as for tests, as a multiple of the floor's instructions. Only
    /// for cases of the library itself.
    pub(super) baseline: Option<f64>,
}

/// All cases, in order: each floor comes before the cases that are compared with it.
pub(super) const CASES: [Case; 8] = [
    Case::new("floor, modern bytes", Program::Floor, Era::Modern, Tool::Echo),
    Case::new("tools/call, modern", Program::Ours, Era::Modern, Tool::Echo).at_most(0.930),
    Case::new("get_universe_state, modern", Program::Universe, Era::Modern, Tool::GetUniverseState),
    Case::new(
        "send_universe_command, modern, durable",
        Program::Universe,
        Era::Modern,
        Tool::SendTick,
    ),
    Case::new("floor, legacy bytes", Program::Floor, Era::Legacy, Tool::Echo),
    Case::new("tools/call, legacy", Program::Ours, Era::Legacy, Tool::Echo).at_most(1.067),
    Case::new("get_universe_state, legacy", Program::Universe, Era::Legacy, Tool::GetUniverseState),
    Case::new(
        "send_universe_command, legacy, durable",
        Program::Universe,
        Era::Legacy,
        Tool::SendTick,
    ),
];

/// The headers of a session, for the floor, which keeps no sessions. The id has the usual length.
const NO_SESSION: &str =
    "mcp-protocol-version: 2025-11-25\r\nmcp-session-id: 00000000-0000-4000-8000-000000000000\r\n";

impl Case {
    const fn new(name: &'static str, program: Program, era: Era, tool: Tool) -> Self {
        Self { name, program, era, tool, baseline: None }
    }

    const fn at_most(mut self, baseline: f64) -> Self {
        self.baseline = Some(baseline);
        self
    }

    /// Opens the session and creates the universe where the case needs them, and writes the call.
    pub(super) fn prepare(&self, connection: &mut Connection) -> Result<Calls> {
        let call = match self.tool {
            Tool::Echo => ToolCall::small(),
            Tool::GetUniverseState => {
                let universe = create_universe(connection, &json!({}))?;
                ToolCall::universe("get_universe_state", json!({ "universeId": universe }))
            }
            Tool::SendTick => {
                let universe = create_universe(connection, &json!({}))?;
                let arguments = json!({ "universeId": universe, "command": { "type": "tick" } });
                ToolCall::universe("send_universe_command", arguments)
            }
        };
        match (self.program, self.era) {
            (Program::Floor, Era::Legacy) => {
                Calls::with_headers(connection, &call, self.era, (0, 1), NO_SESSION)
            }
            _ => Calls::new(connection, &call, self.era, (0, 1)),
        }
    }
}

/// Creates a universe over REST, and returns its id.
pub(super) fn create_universe(connection: &mut Connection, state: &Value) -> Result<String> {
    let body = json!({ "name": "bench", "state": state });
    let answer =
        connection.post("/universes", "content-type: application/json\r\n", &body.to_string())?;
    let record: Value = serde_json::from_str(&answer.body)?;
    match record.get("id") {
        Some(Value::String(id)) if answer.status == 201 => Ok(id.clone()),
        _ => Err(format!(
            "POST /universes was answered {}: {}",
            answer.status,
            answer.body.get(..300).unwrap_or(&answer.body)
        )
        .into()),
    }
}
