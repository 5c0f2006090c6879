//! Clients that send commands. Each command has an idempotency key and is repeated at other servers until one
//! acknowledges it.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Value, json};

use super::NODES;
use super::network::Side;
use super::request::{Dialect, post};
use super::world::{Acknowledged, Outage, World};
use crate::siege::wire::{Answer, Client};

/// How long a client waits for an answer before it tries another server.
const PATIENCE: Duration = Duration::from_secs(6);
/// How long a client waits before it tries again.
const PAUSE: Duration = Duration::from_millis(30);
/// The maximum length of the part of an answer that is reported, in characters.
const SHOWN: usize = 110;
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Sends commands until the load ends.
pub(super) fn write(world: &World, dialect: Dialect, mut random: Rng) {
    let _running = world.enter();
    let mut caller = Caller {
        clients: world.addresses.map(|to| (to, Client::new(Side::Clients.host(), to))),
        dialect,
        session: None,
    };
    while let Some(number) = world.begin() {
        let universe = random.usize(..world.universes.len());
        let Some(id) = world.universes.get(universe) else {
            return;
        };
        let mut node = random.usize(..NODES);
        let mut failing = None;
        loop {
            let begun = Instant::now();
            match caller.send(node, id, number) {
                Ok(()) => break,
                Err(Failure::Expected(problem)) => {
                    world.complain(format!("{dialect:?}: {problem}"));
                }
                Err(Failure::Wrong(problem)) => {
                    world.wrong(format!("{dialect:?}, {}: {problem}", world.fault()));
                }
            }
            failing.get_or_insert((begun, world.fault()));
            if world.is_over() {
                world.wrong(format!("{dialect:?}: command {number} was never acknowledged"));
                return;
            }
            thread::sleep(PAUSE);
            node = (node + random.usize(1..NODES)) % NODES;
        }
        if let Some((begun, fault)) = failing {
            let commands = begun.elapsed();
            world.outage(fault, Outage { commands, ..Outage::default() });
        }
        world.acknowledge(dialect, Acknowledged { number, universe });
    }
}

/// The command with this number. Each changes the state differently.
fn command(number: u64) -> Value {
    if number.is_multiple_of(4) {
        json!({"type": "updateStar", "id": "s", "payload": {"name": format!("n-{number}")}})
    } else {
        json!({"type": "tick", "dt": number})
    }
}

/// The number of a command in a feed. `None` if it is not from [`command`].
pub(super) fn number(command: &Value) -> Option<u64> {
    let name = command.pointer("/payload/name").and_then(Value::as_str);
    match name {
        Some(name) => name.strip_prefix("n-")?.parse().ok(),
        None => command.get("dt")?.as_u64(),
    }
}

/// Why a command was not acknowledged.
enum Failure {
    /// A failure that may occur during a fault. The command is sent again.
    Expected(String),
    /// A failure that must never occur.
    Wrong(String),
}

struct Caller {
    clients: [(SocketAddr, Client); NODES],
    dialect: Dialect,
    session: Option<String>,
}

impl Caller {
    fn send(&mut self, node: usize, id: &str, number: u64) -> std::result::Result<(), Failure> {
        let key = format!("key-{number}");
        let arguments =
            json!({"universeId": id, "command": command(number), "idempotencyKey": key});
        let (path, headers, body) = match self.dialect {
            Dialect::Rest => (
                format!("/universes/{id}/commands"),
                format!("idempotency-key: {key}\r\n"),
                command(number),
            ),
            Dialect::Legacy => {
                let session = self.session(node)?;
                let headers =
                    format!("mcp-session-id: {session}\r\nmcp-protocol-version: {LEGACY}\r\n");
                let params = json!({"name": TOOL, "arguments": arguments});
                ("/mcp".to_owned(), headers, request("tools/call", &params))
            }
            Dialect::Modern => {
                let headers = format!(
                    "mcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\nmcp-name: {TOOL}\r\n"
                );
                let params = json!({"name": TOOL, "arguments": arguments, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": MODERN,
                    "io.modelcontextprotocol/clientCapabilities": {},
                }});
                ("/mcp".to_owned(), headers, request("tools/call", &params))
            }
        };
        let answer = self.call(node, &path, &headers, &body)?;
        if self.dialect == Dialect::Legacy && answer.status == 404 {
            self.session = None;
            return Err(Failure::Wrong(format!("a session was lost: {}", answer.body)));
        }
        if answer.status != 200 {
            return Err(Failure::Wrong(shown(&answer)));
        }
        match self.dialect {
            Dialect::Rest => Ok(()),
            Dialect::Legacy | Dialect::Modern => result(&answer),
        }
    }

    /// The session, opened here if there is none yet.
    fn session(&mut self, node: usize) -> std::result::Result<String, Failure> {
        if let Some(session) = &self.session {
            return Ok(session.clone());
        }
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "nodes", "version": "0"},
        });
        let answer = self.call(node, "/mcp", "", &request("initialize", &params))?;
        let session = answer.session.clone();
        let session = session.ok_or_else(|| Failure::Expected(shown(&answer)))?;
        let headers = format!("mcp-session-id: {session}\r\nmcp-protocol-version: {LEGACY}\r\n");
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.call(node, "/mcp", &headers, &initialized)?;
        Ok(self.session.insert(session).clone())
    }

    /// Sends one request. A failure that a client must expect from an unavailable server is [`Failure::Expected`].
    fn call(
        &mut self,
        node: usize,
        path: &str,
        headers: &str,
        body: &Value,
    ) -> std::result::Result<Answer, Failure> {
        let Some((to, client)) = self.clients.get_mut(node) else {
            return Err(Failure::Wrong(format!("there is no server {node}")));
        };
        let answer = client.call(&post(*to, path, headers, body), PATIENCE);
        match answer {
            Ok(answer) if answer.status == 429 || answer.status >= 500 => {
                Err(Failure::Expected(shown(&answer)))
            }
            Ok(answer) => Ok(answer),
            Err(problem) => Err(Failure::Expected(problem.to_string())),
        }
    }
}

const TOOL: &str = "send_universe_command";

fn request(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Checks the result of a call of the tool.
fn result(answer: &Answer) -> std::result::Result<(), Failure> {
    let parsed: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let Some(result) = parsed.get("result") else {
        return Err(Failure::Wrong(shown(answer)));
    };
    if result.get("isError") != Some(&Value::Bool(true)) {
        return Ok(());
    }
    let text = result.pointer("/content/0/text").and_then(Value::as_str);
    let text: String = text.unwrap_or_default().chars().take(SHOWN).collect();
    let expected = ["STORE_UNAVAILABLE", "STORE_FAILED"];
    match expected.into_iter().find(|code| text.contains(code)) {
        Some(code) => Err(Failure::Expected(code.to_owned())),
        None => Err(Failure::Wrong(text)),
    }
}

fn shown(answer: &Answer) -> String {
    let body: String = answer.body.chars().take(SHOWN).collect();
    format!("{} {body}", answer.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_its_number_in_the_log() {
        for wanted in [1, 2, 4, 1_000_000] {
            assert_eq!(number(&command(wanted)), Some(wanted));
        }
        let other = json!({"type": "addStar", "id": "s", "payload": {"name": "n"}});
        assert_eq!(number(&other), None);
    }

    #[test]
    fn what_a_tool_says_is_expected_only_of_the_store() {
        let said = |text: &str| {
            let result = json!({"isError": true, "content": [{"type": "text", "text": text}]});
            result_of(&json!({"result": result}))
        };
        assert!(matches!(said("STORE_FAILED"), Err(Failure::Expected(_))));
        assert!(matches!(said("UNIVERSE_NOT_FOUND"), Err(Failure::Wrong(_))));
        assert!(matches!(result_of(&json!({"error": {}})), Err(Failure::Wrong(_))));
        assert!(result_of(&json!({"result": {}})).is_ok());
    }

    fn result_of(body: &Value) -> std::result::Result<(), Failure> {
        result(&Answer { status: 200, session: None, body: body.to_string() })
    }
}
