//! What happens in the steps that need more than a signal.

use std::io::BufRead as _;
use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{PATIENCE, POLL, Pair, WATCHED, small_call, text};
use crate::era::{Era, LEGACY, MODERN};
use crate::outlive::client::Transport;
use crate::outlive::proxy::Proxy;
use crate::outlive::universe::{BODIES, LARGE};
use crate::siege::wire;
use xtask::Result;

/// How long a peer is frozen.
const FROZEN: Duration = Duration::from_secs(2);
/// How often the universe changes while a client on stdio is frozen.
const CHANGES: usize = 100;
/// How long a client takes to open a stream again.
const RECONNECT: Duration = Duration::from_millis(1_500);
/// The longest time for the whole state of the large universe.
const WHOLE_DEADLINE: Duration = Duration::from_secs(120);
/// The entities of a page.
const PAGE: usize = 1_000;

impl Pair {
    /// Stops the client while its stream is open. Meanwhile the server must serve others, and the client's session on
    /// another connection.
    pub(super) fn freeze_client(&mut self) -> Result<()> {
        let begun = Instant::now();
        self.driver.signal("STOP")?;
        let served = match (self.row.transport, self.row.era) {
            (Transport::Stdio, _) => (0..CHANGES).try_for_each(|_| self.universe.change()),
            (Transport::Http, Era::Legacy) => self.second_connection(&self.stream_of_session()?),
            (Transport::Http, Era::Modern) => self.second_connection(&listen()),
        };
        thread::sleep(FROZEN.saturating_sub(begun.elapsed()));
        self.driver.signal("CONT")?;
        served.map_err(|error| format!("while the client is frozen: {error}").into())
    }

    /// A second connection of the client opens a stream, gets the next update, and leaves.
    fn second_connection(&self, request: &str) -> Result<()> {
        let to = self.universe.address();
        let request = request.replace("{host}", &to.to_string());
        let here = Ipv4Addr::LOCALHOST;
        let stream = wire::open_stream(here, to, request.as_bytes(), PATIENCE, PATIENCE);
        let stream = stream.map_err(|error| format!("a second stream: {error}"))?;
        self.universe.change()?;
        for line in stream.lines() {
            let line = line.map_err(|_| "a second stream gets no update")?;
            if line.contains("notifications/resources/updated") {
                return Ok(());
            }
        }
        Err("a second stream ends without an update".into())
    }

    fn stream_of_session(&self) -> Result<String> {
        let session = self.proxy.as_ref().and_then(Proxy::session);
        let session = session.ok_or("the client sent no session id")?;
        Ok(format!(
            "GET /mcp HTTP/1.1\r\nhost: {{host}}\r\naccept: text/event-stream\r\n\
             mcp-protocol-version: {LEGACY}\r\nmcp-session-id: {session}\r\n\r\n"
        ))
    }

    /// Stops the server while the client calls.
    pub(super) fn freeze_server(&mut self) -> Result<()> {
        self.universe.signal("STOP")?;
        let told = self.driver.tell(&small_call());
        thread::sleep(FROZEN);
        self.universe.signal("CONT")?;
        told?;
        let answer = self.driver.answer(PATIENCE * 3);
        let answer = answer.map_err(|error| format!("a call of a frozen server: {error}"))?;
        text(&answer).map(drop)
    }

    /// Waits until the first stream is cut and the client has reconnected. The server must let go of that stream.
    pub(super) fn late_byte(&self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        while !self.proxy.as_ref().is_some_and(Proxy::has_cut) {
            if Instant::now() >= end {
                return Err("the client opened no event stream".into());
            }
            thread::sleep(POLL);
        }
        thread::sleep(RECONNECT);
        let end = Instant::now() + PATIENCE / 2;
        loop {
            match self.universe.listeners()? {
                0 | 1 => return Ok(()),
                held if Instant::now() >= end => {
                    return Err(
                        format!("the server holds {held} subscriptions of one client").into()
                    );
                }
                _ => thread::sleep(POLL),
            }
        }
    }

    /// Reads the large universe over REST, and in pages over MCP.
    pub(super) fn pages(&mut self) -> Result<()> {
        let (mut pages, mut bodies) = (0, 0);
        let mut arguments = json!({ "universeId": LARGE, "limit": PAGE });
        loop {
            let order =
                json!({ "do": "call", "name": "get_universe_state", "arguments": arguments });
            let answer = self.driver.ask(&order);
            let answer = answer.map_err(|error| format!("page {}: {error}", pages + 1))?;
            let page: Value = serde_json::from_str(text(&answer)?)?;
            pages += 1;
            bodies += page.get("stars").and_then(Value::as_object).map_or(0, Map::len);
            match page.get("next") {
                Some(next) if pages <= BODIES / PAGE => {
                    if let Some(arguments) = arguments.as_object_mut() {
                        arguments.insert("cursor".to_owned(), next.clone());
                    }
                }
                _ => break,
            }
        }
        let over_rest = self.universe.bodies().map_err(|error| format!("over REST: {error}"))?;
        if (bodies, over_rest) != (BODIES, BODIES) {
            return Err(format!("{bodies} bodies in {pages} pages, {over_rest} over REST").into());
        }
        Ok(())
    }

    /// Asks for all of the large universe. It comes, or an error says how to ask for less.
    pub(super) fn whole(&mut self) -> Result<()> {
        let arguments = json!({ "universeId": LARGE, "whole": true });
        let order = json!({ "do": "call", "name": "get_universe_state", "arguments": arguments });
        let answer = self.driver.ask_within(&order, WHOLE_DEADLINE);
        let length = |answer: &Value| answer.get("length").and_then(Value::as_u64);
        match answer.and_then(|answer| text(&answer).map(|_| length(&answer))) {
            // A body takes more than 100 bytes.
            Ok(Some(length)) if length > BODIES as u64 * 100 => Ok(()),
            Ok(length) => Err(format!("an answer of {} bytes", length.unwrap_or(0)).into()),
            Err(error) if error.to_string().contains("select") => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// A modern subscription that is sent without the client.
fn listen() -> String {
    let body = json!({
        "jsonrpc": "2.0", "id": "second", "method": "subscriptions/listen",
        "params": {
            "notifications": { "resourceSubscriptions": [WATCHED] },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    });
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {{host}}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: {}\r\n\
         mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n\r\n{body}",
        MODERN,
        body.len()
    )
}
