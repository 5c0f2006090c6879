//! The protocols that clients use, and requests as text.

use std::net::SocketAddr;

use serde_json::Value;

/// The protocol of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Rest,
    /// MCP with a session.
    Legacy,
    /// MCP without a session.
    Modern,
}

/// A request with a JSON body.
pub(super) fn post(to: SocketAddr, path: &str, headers: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    format!(
        "POST {path} HTTP/1.1\r\nhost: {to}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A request without a body.
pub(super) fn get(to: SocketAddr, path: &str, headers: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: {to}\r\n{headers}\r\n").into_bytes()
}
