//! One HTTP/1.0 request to a server on this machine. The answer ends when the connection closes.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use xtask::Result;

/// The time limit for a read or write.
const DEADLINE: Duration = Duration::from_secs(20);
/// The maximum length of an answer, in bytes.
const MOST: u64 = 16 << 20;

/// The stateless revision, in which a request needs no session.
const REVISION: &str = "2026-07-28";

/// The body of the answer to `GET`.
///
/// # Errors
/// When there is no answer, or its status is not a success.
pub(super) fn get(url: &str) -> Result<String> {
    send(url, "GET", "", "")
}

/// The body of the answer to a `POST` of JSON.
///
/// # Errors
/// As [`get`].
pub(super) fn post(url: &str, body: &str) -> Result<String> {
    send(url, "POST", "", body)
}

/// The result of an MCP request without parameters.
///
/// # Errors
/// As [`get`], or when the server answers with an error.
pub(super) fn mcp(url: &str, method: &str) -> Result<Value> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": meta}});
    let headers = format!("mcp-protocol-version: {REVISION}\r\nmcp-method: {method}\r\n");
    let answer: Value = serde_json::from_str(&send(url, "POST", &headers, &body.to_string())?)?;
    let result = answer.get("result").cloned();
    result.ok_or_else(|| format!("{method}: {answer}").into())
}

fn send(url: &str, verb: &str, headers: &str, body: &str) -> Result<String> {
    let (host, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(|| format!("not the URL of a server: {url}"))?;
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(DEADLINE))?;
    stream.set_write_timeout(Some(DEADLINE))?;
    let length = body.len();
    write!(
        stream,
        "{verb} /{path} HTTP/1.0\r\nhost: {host}\r\naccept: application/json, text/event-stream, */*\r\n\
         content-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.take(MOST).read_to_string(&mut answer)?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("the answer has no end of its head")?;
    let status = head.split_whitespace().nth(1).unwrap_or_default();
    if status.starts_with('2') {
        Ok(body.to_owned())
    } else {
        Err(format!("{verb} {url}: {status}: {body}").into())
    }
}
