//! The requests to a server of the comparison, and the checks of its answers.

use serde_json::{Value, json};

use super::connection::Connection;
use super::load::Script;
use super::wire::Answer;
use crate::era::{Era, LEGACY, MODERN};
use xtask::Result;

/// The line that the tool `large` repeats.
const LINE: &str = "A line of prose that says \"yes\" once, and then goes on to its end.\n";
const LINES: usize = 1_500;
/// The placeholder for the id. All ids have the same number of digits, so that every request has the same length.
const ID: u64 = 1_000_000_000;
/// The placeholder for a number in the arguments that is different in each call.
pub(super) const NUMBER: &str = "9999999999";

/// A tool, its arguments, and a text that each answer must contain.
#[derive(Debug, Clone)]
pub(super) struct ToolCall {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) marker: String,
}

impl ToolCall {
    /// Echoes 200 bytes.
    pub(super) fn small() -> Self {
        let text = "A call of about two hundred bytes: long enough to be a sentence or two, short enough that what \
                    a server does around it shows. ";
        let text = text.repeat(2).chars().take(200).collect::<String>();
        Self { tool: "echo", arguments: json!({ "text": text }), marker: text }
    }

    /// Returns 100 KB of text.
    pub(super) fn large() -> Self {
        let text = Value::from(LINE.repeat(LINES)).to_string();
        Self {
            tool: "large",
            arguments: json!({}),
            // Some servers quote the text a second time; then the ends of lines differ.
            marker: text.chars().skip(1).take(30).collect(),
        }
    }

    /// Notifies all clients.
    pub(super) fn touch() -> Self {
        Self { tool: "touch", arguments: json!({}), marker: "touched".to_owned() }
    }

    /// A tool of the universe server, which answers with structured content.
    pub(super) fn universe(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments, marker: "\"structuredContent\"".to_owned() }
    }
}

/// The JSON-RPC text of a call, split around its id. It is the same on both transports.
#[derive(Debug, Clone)]
pub(super) struct Message {
    before: String,
    after: String,
    marker: String,
    least: usize,
}

impl Message {
    pub(super) fn new(call: &ToolCall, era: Era) -> Result<Self> {
        let mut params = json!({ "name": call.tool, "arguments": call.arguments });
        if era == Era::Modern
            && let Some(params) = params.as_object_mut()
        {
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1.0.0" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            params.insert("_meta".to_owned(), meta);
        }
        let text = json!({ "jsonrpc": "2.0", "id": ID, "method": "tools/call", "params": params });
        let text = text.to_string();
        let (before, after) = text.split_once(&ID.to_string()).ok_or("the call has no id")?;
        Ok(Self {
            before: before.to_owned(),
            after: after.to_owned(),
            marker: call.marker.clone(),
            least: if call.tool == "large" { LINE.len() * LINES } else { 0 },
        })
    }

    /// The call with this number.
    pub(super) fn text(&self, number: u64) -> String {
        let id = ID + number;
        let after = if self.after.contains(NUMBER) {
            self.after.replace(NUMBER, &id.to_string())
        } else {
            self.after.clone()
        };
        format!("{}{id}{after}", self.before)
    }

    /// The number of the call that this body answers.
    pub(super) fn number(body: &[u8]) -> Option<u64> {
        let at = memchr::memmem::find(body, b"\"id\":")? + 5;
        let digits = body.get(at..at + 10)?;
        std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?.checked_sub(ID)
    }

    /// Checks that `body` is a successful answer to the call with this number.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn check(&self, body: &[u8], number: u64) -> Result<()> {
        // The id is near the start or the end. A successful answer has no text that marks success.
        let id = format!("\"id\":{}", ID + number);
        let right = has(body, id.as_bytes())
            && body.len() > self.least
            && has(body, self.marker.as_bytes())
            && !has(body.get(..body.len().min(1_000)).unwrap_or_default(), b"\"isError\":true");
        if right {
            Ok(())
        } else {
            let text = String::from_utf8_lossy(body.get(..body.len().min(400)).unwrap_or_default());
            Err(format!("call {} was answered: {text}", ID + number).into())
        }
    }
}

fn has(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// Repeated calls of one tool over HTTP.
#[derive(Debug, Clone)]
pub(super) struct Calls {
    head: String,
    message: Message,
    number: u64,
    step: u64,
}

impl Calls {
    /// Prepares calls on `connection`, with a session if the era has sessions. With several connections, each uses a
    /// different `lane` of `lanes`, so that no two send the same number.
    pub(super) fn new(
        connection: &mut Connection,
        call: &ToolCall,
        era: Era,
        (lane, lanes): (usize, usize),
    ) -> Result<Self> {
        let headers = match era {
            Era::Modern => format!(
                "mcp-protocol-version: {MODERN}\r\nmcp-method: tools/call\r\nmcp-name: {}\r\n",
                call.tool
            ),
            Era::Legacy => initialize(connection)?,
        };
        Self::with_headers(connection, call, era, (lane, lanes), &headers)
    }

    /// The same in an open session.
    pub(super) fn with_headers(
        connection: &Connection,
        call: &ToolCall,
        era: Era,
        (lane, lanes): (usize, usize),
        headers: &str,
    ) -> Result<Self> {
        Ok(Self {
            head: head("POST", connection.host(), headers),
            message: Message::new(call, era)?,
            number: u64::try_from(lane)?,
            step: u64::try_from(lanes)?,
        })
    }

    /// Makes one call, and checks its answer.
    ///
    /// # Errors
    /// When the answer is not a success.
    pub(super) fn make(&mut self, connection: &mut Connection) -> Result<usize> {
        let mut request = Vec::new();
        self.request(&mut request);
        let answer = connection.exchange(&request)?;
        let body = answer.body.into_bytes();
        let length = body.len();
        self.check(&Answer { status: answer.status, session: None, body: body.into() })?;
        Ok(length)
    }
}

impl Script for Calls {
    fn request(&mut self, out: &mut Vec<u8>) {
        self.number += self.step;
        write(out, &self.head, &self.message.text(self.number));
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<bool> {
        match answer.status {
            200 => self.message.check(&answer.body, self.number).map(|()| true),
            status => Err(format!(
                "a call was answered {status}: {:.300}",
                String::from_utf8_lossy(&answer.body)
            )
            .into()),
        }
    }
}

/// Repeats `initialize`, `notifications/initialized` and `DELETE`.
#[derive(Debug)]
pub(super) struct Sessions {
    host: String,
    session: String,
    step: usize,
}

impl Sessions {
    pub(super) fn new(connection: &Connection) -> Self {
        Self { host: connection.host().to_owned(), session: String::new(), step: 0 }
    }
}

impl Script for Sessions {
    fn request(&mut self, out: &mut Vec<u8>) {
        match self.step {
            0 => write(out, &head("POST", &self.host, ""), &initialize_text()),
            1 => write(out, &head("POST", &self.host, &session(&self.session)), INITIALIZED),
            _ => write(out, &head("DELETE", &self.host, &session(&self.session)), ""),
        }
    }

    fn check(&mut self, answer: &Answer<'_>) -> Result<bool> {
        let expected: &[u16] = match self.step {
            0 => &[200],
            1 => &[202],
            // A server may refuse to end a session, and a server without sessions does refuse.
            _ => &[200, 202, 204, 405],
        };
        if !expected.contains(&answer.status) {
            return Err(
                format!("step {} of a session was answered {}", self.step, answer.status).into()
            );
        }
        if self.step == 0 {
            self.session = answer.session.ok_or("initialize opened no session")?.to_owned();
        }
        self.step = (self.step + 1) % 3;
        Ok(self.step == 0)
    }
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The first message of a legacy client.
pub(super) fn initialize_text() -> String {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1.0.0" },
        },
    })
    .to_string()
}

/// Opens a session. Returns the headers for its requests, without a session id if the server has no sessions.
pub(super) fn initialize(connection: &mut Connection) -> Result<String> {
    let mut request = Vec::new();
    write(&mut request, &head("POST", connection.host(), ""), &initialize_text());
    let answer = connection.exchange(&request)?;
    if answer.status != 200 || !answer.body.contains("serverInfo") {
        return Err(
            format!("initialize was answered {}: {:.300}", answer.status, answer.body).into()
        );
    }
    let headers = match &answer.session {
        Some(id) => session(id),
        None => format!("mcp-protocol-version: {LEGACY}\r\n"),
    };
    request.clear();
    write(&mut request, &head("POST", connection.host(), &headers), INITIALIZED);
    match connection.exchange(&request)?.status {
        202 => Ok(headers),
        status => Err(format!("notifications/initialized was answered {status}").into()),
    }
}

/// The request that opens the stream of a session.
pub(super) fn stream(connection: &Connection, headers: &str) -> Vec<u8> {
    let host = connection.host();
    format!("GET /mcp HTTP/1.1\r\nhost: {host}\r\naccept: text/event-stream\r\n{headers}\r\n")
        .into_bytes()
}

fn session(id: &str) -> String {
    format!("mcp-protocol-version: {LEGACY}\r\nmcp-session-id: {id}\r\n")
}

fn head(method: &str, host: &str, headers: &str) -> String {
    format!(
        "{method} /mcp HTTP/1.1\r\nhost: {host}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\n{headers}content-length: "
    )
}

fn write(out: &mut Vec<u8>, head: &str, body: &str) {
    out.extend_from_slice(head.as_bytes());
    out.extend_from_slice(format!("{}\r\n\r\n{body}", body.len()).as_bytes());
}
