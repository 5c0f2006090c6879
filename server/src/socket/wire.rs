//! The private lines of the socket, and its first one.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Asks to join. MCP messages follow.
pub(crate) const JOIN: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":\"universe\",\"method\":\"universe/join\"}\n";

/// Asks the holder to release the directory.
pub(crate) const HANDOVER: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":\"universe\",\"method\":\"universe/handover\"}\n";

/// Announces a request about the care of the data, which follows as one line.
pub(crate) const CARE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":\"universe\",\"method\":\"universe/care\"}\n";

/// Asks for REST. HTTP/1.1 follows after the answer.
pub(crate) const REST: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":\"universe\",\"method\":\"universe/rest\"}\n";

/// The positive answer to any of these lines.
pub(crate) const ACCEPTED: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":\"universe\",\"result\":{}}\n";

/// The answer to [`HANDOVER`] from a holder that keeps the directory.
pub(crate) const KEPT: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":\"universe\",\"error\":{\"code\":-32001,\"message\":\"kept\"}}\n";

/// The last line to joined processes when the holder releases the directory to another server.
pub(crate) const LEAVING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"universe/handover\"}\n";

/// The longest answer to a first line, in bytes.
const MAX_ANSWER: usize = 1_024;

/// The beginning of a connection.
pub(crate) enum First {
    /// [`JOIN`], with the bytes that followed.
    Join(Vec<u8>),
    /// [`HANDOVER`].
    Handover,
    /// [`CARE`].
    Care,
    /// [`REST`].
    Rest,
    /// None of them, with all bytes received.
    Other(Vec<u8>),
}

/// Reads as many bytes as necessary to decide.
pub(crate) async fn first(stream: &mut UnixStream) -> io::Result<First> {
    let mut seen = Vec::with_capacity(256);
    loop {
        if seen.starts_with(HANDOVER) {
            return Ok(First::Handover);
        }
        if seen == CARE {
            return Ok(First::Care);
        }
        if seen == REST {
            return Ok(First::Rest);
        }
        if seen.starts_with(JOIN) {
            return Ok(First::Join(seen.split_off(JOIN.len())));
        }
        let known = [JOIN, HANDOVER, CARE, REST];
        let open = known.iter().any(|line| line.starts_with(&seen));
        if !open || stream.read_buf(&mut seen).await? == 0 {
            return Ok(First::Other(seen));
        }
    }
}

/// Reads the answer to a first line.
///
/// # Errors
/// The holder's refusal. `PermissionDenied` means that the holder keeps the directory.
pub(crate) async fn accepted(stream: &mut UnixStream, time: Duration) -> io::Result<()> {
    let mut answer = Vec::with_capacity(MAX_ANSWER);
    let read = async {
        while !answer.ends_with(b"\n") && answer.len() < MAX_ANSWER {
            if stream.read_buf(&mut answer).await? == 0 {
                break;
            }
        }
        Ok::<_, io::Error>(())
    };
    timeout(time, read).await??;
    if answer == ACCEPTED {
        return Ok(());
    }
    if answer == KEPT {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let parsed: Option<Value> = serde_json::from_slice(&answer).ok();
    let message = parsed.as_ref().and_then(|parsed| parsed.pointer("/error/message")?.as_str());
    Err(io::Error::other(message.unwrap_or("it is not the server that was expected").to_owned()))
}

/// A line that refuses a connection, with the reason.
pub(crate) fn refusal(message: &str) -> String {
    let error = json!({"code": -32001, "message": message});
    let line = json!({"jsonrpc": "2.0", "id": null, "error": error});
    format!("{line}\n")
}
