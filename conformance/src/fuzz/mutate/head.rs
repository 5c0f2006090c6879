//! Changes of the head: the HTTP method, and headers that are missing, wrong, twice, or of the other era.

use fastrand::Rng;
use http::Method;

use super::pick;
use crate::probe::{Bench, Raw};

/// Headers that the protocol reads, and what may stand in them.
const VALUES: [(&str, &[&str]); 13] = [
    (
        "content-type",
        &[
            "text/plain",
            "application/json; charset=utf-16",
            "application/jsonp",
            "",
            "application/x-www-form-urlencoded",
        ],
    ),
    ("accept", &["*/*", "text/html", "application/json", "", "text/event-stream;q=0"]),
    (
        "mcp-protocol-version",
        &["2024-11-05", "2025-11-25", "2026-07-28", "2099-01-01", "", "latest"],
    ),
    (
        "mcp-session-id",
        &["no-such-session", "", "a b", "\u{e9}", "00000000-0000-0000-0000-000000000000"],
    ),
    ("mcp-method", &["tools/list", "TOOLS/LIST", "", "no/such"]),
    ("mcp-name", &["other", "", "=?base64?Zm9v?=", "=?base64?!?=", "=?base64??="]),
    ("last-event-id", &["0", "no-such-event", "", "-1", "1_99999999"]),
    ("origin", &["https://evil.example", "null", "", "http://["]),
    ("host", &["evil.example", "", "127.0.0.1:1"]),
    ("content-encoding", &["gzip", "br", "identity, gzip", "none"]),
    ("expect", &["100-continue", "something"]),
    ("traceparent", &["00-0-0-00", "", "zz"]),
    ("authorization", &["Bearer", "Bearer ", "Basic !!!", ""]),
];
/// Methods besides POST.
const METHODS: [&str; 7] = ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD", "MCP"];
/// How long a long header is, in bytes.
const LONG: usize = 12_000;

/// Makes one change, and returns its description.
pub(super) fn change(rng: &mut Rng, raw: &mut Raw, bench: &Bench) -> &'static str {
    match rng.u8(0..8) {
        0 => {
            if !raw.headers.is_empty() {
                raw.headers.remove(rng.usize(0..raw.headers.len()));
            }
            "a header missing"
        }
        1 => {
            let method = pick(rng, &METHODS).copied().unwrap_or_default();
            if let Ok(method) = Method::from_bytes(method.as_bytes()) {
                raw.method = method;
            }
            "another HTTP method"
        }
        2 => {
            if let Some(header) = pick(rng, &raw.headers).cloned() {
                raw.headers.push(header);
            }
            "a header twice"
        }
        3 => {
            let name = VALUES[..].get(rng.usize(0..VALUES.len()));
            let name = name.map_or("x-unknown", |(name, _)| *name);
            // Over-long names of hosts are the business of the HTTP library.
            if name != "host" {
                raw.headers.push((name.to_owned(), "x".repeat(LONG)));
            }
            "a long header"
        }
        4 => {
            // What the other era would send.
            if bench.revision.is_modern() {
                raw.headers.push(("mcp-session-id".to_owned(), "a".to_owned()))
            } else {
                raw.headers.push(("mcp-method".to_owned(), "ping".to_owned()))
            }
            "a header of the other era"
        }
        _ => {
            if let Some((name, values)) = pick(rng, &VALUES) {
                let value = pick(rng, values).copied().unwrap_or_default();
                raw.headers.retain(|(known, _)| known != name);
                raw.headers.push(((*name).to_owned(), value.to_owned()));
            }
            "another header"
        }
    }
}
