//! Changes of the JSON tree: types, members, ids, methods, revisions, batches.

use fastrand::Rng;
use serde_json::{Value, json};

use super::pick;
use crate::fuzz::paths;
use crate::json::put;
use crate::probe::Revision;

/// Methods of all revisions, and some of none.
const METHODS: [&str; 22] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "resources/templates/list",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "tasks/get",
    "tasks/list",
    "subscriptions/listen",
    "notifications/initialized",
    "notifications/cancelled",
    "TOOLS/LIST",
    "rpc.discover",
    "",
];
/// Names that mean something to some languages, or to the protocol at another place.
const NAMES: [&str; 12] = [
    "__proto__",
    "constructor",
    "toString",
    "",
    "id",
    "result",
    "error",
    "jsonrpc",
    "_meta",
    "\u{0}",
    "$ref",
    "params",
];
/// Texts that programs mistake for something else.
const TEXTS: [&str; 16] = [
    "",
    " ",
    "\u{0}",
    "\u{feff}a",
    "\u{202e}abc",
    "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "e\u{301}\u{301}\u{301}",
    "\u{ffff}",
    "a\nb\r\nc",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "%00%2e%2e%2f",
    "{{7*7}}${7*7}",
    "'; --",
    "=?base64?!?=",
    "null",
];
/// The places of a message that the protocol itself reads.
const PATHS: [&str; 12] = [
    "/jsonrpc",
    "/id",
    "/method",
    "/params",
    "/params/_meta",
    "/params/_meta/progressToken",
    "/params/_meta/io.modelcontextprotocol~1protocolVersion",
    "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
    "/params/_meta/io.modelcontextprotocol~1clientInfo",
    "/params/name",
    "/params/arguments",
    "/params/uri",
];

/// Makes one change, and returns its description.
pub(super) fn change(rng: &mut Rng, message: &mut Value, revision: Revision) -> &'static str {
    match rng.u8(0..14) {
        0..3 => {
            let value = other(rng);
            set(rng, message, value);
            "another type"
        }
        3 => {
            remove(rng, message);
            "a member missing"
        }
        4 => {
            add(rng, message);
            "an extra member"
        }
        5 => {
            let value = Value::from(text(rng));
            set(rng, message, value);
            "another text"
        }
        6 => {
            put(message, "id", id(rng));
            "another id"
        }
        7 => {
            let method = pick(rng, &METHODS).copied().unwrap_or_default();
            put(message, "method", method);
            "another method"
        }
        8 => {
            nest(rng, message);
            "nesting"
        }
        9 => {
            repeat(rng, message);
            "many elements"
        }
        10 => {
            mix(rng, message, revision);
            "another era"
        }
        11 => {
            batch(rng, message);
            "a batch"
        }
        12 => {
            respond(rng, message);
            "a response"
        }
        _ => {
            let version = ["1.0", "2", "", "2.0 "];
            let version = pick(rng, &version).copied().unwrap_or_default();
            put(message, "jsonrpc", version);
            "another jsonrpc"
        }
    }
}

/// A value that probably does not fit.
fn other(rng: &mut Rng) -> Value {
    let values = [
        Value::Null,
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e308),
        json!(9_007_199_254_740_993_u64),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(""),
        json!([]),
        json!({}),
        json!([null]),
        json!([[[[]]]]),
        json!({"": null}),
        json!({"__proto__": {"polluted": true}}),
    ];
    pick(rng, &values).cloned().unwrap_or_default()
}

fn text(rng: &mut Rng) -> String {
    match rng.u8(0..8) {
        0 => "x".repeat(rng.usize(1_000..70_000)),
        1 => "\u{1f600}".repeat(rng.usize(100..5_000)),
        2 => char::from(rng.u8(0..128)).to_string(),
        _ => pick(rng, &TEXTS).copied().unwrap_or_default().to_owned(),
    }
}

fn id(rng: &mut Rng) -> Value {
    let ids = [
        Value::Null,
        json!(true),
        json!(1.5),
        json!(-7),
        json!(0),
        json!(9_007_199_254_740_993_u64),
        json!(i64::MIN),
        json!(""),
        json!("7"),
        json!("\u{0}"),
        json!("\u{1f600}\u{202e}"),
        json!([1]),
        json!({"id": 1}),
        json!("i".repeat(20_000)),
    ];
    pick(rng, &ids).cloned().unwrap_or_default()
}

/// A path in it: one that the protocol reads, or any.
fn pick_path(rng: &mut Rng, message: &Value) -> String {
    let known = PATHS.iter().filter(|path| message.pointer(path).is_some());
    let known: Vec<_> = known.map(|path| (*path).to_owned()).collect();
    let from = if rng.bool() && !known.is_empty() { known } else { paths::all(message) };
    pick(rng, &from).cloned().unwrap_or_default()
}

fn set(rng: &mut Rng, message: &mut Value, value: Value) {
    let path = pick_path(rng, message);
    paths::set(message, &path, value);
}

fn remove(rng: &mut Rng, message: &mut Value) {
    let path = pick_path(rng, message);
    paths::remove(message, &path);
}

fn add(rng: &mut Rng, message: &mut Value) {
    let name = pick(rng, &NAMES).copied().unwrap_or_default();
    let value = other(rng);
    let path = pick_path(rng, message);
    let at = if rng.bool() { Some(message) } else { message.pointer_mut(&path) };
    if let Some(at) = at {
        put(at, name, value);
    }
}

/// Wraps a value in arrays or objects, less deep than parsers commonly go.
fn nest(rng: &mut Rng, message: &mut Value) {
    let path = pick_path(rng, message);
    let Some(at) = message.pointer_mut(&path) else {
        return;
    };
    for _ in 0..rng.usize(1..60) {
        let inner = at.take();
        *at = if rng.bool() { json!([inner]) } else { json!({ "a": inner }) };
    }
}

/// A value becomes an array, or an object, of many like it.
fn repeat(rng: &mut Rng, message: &mut Value) {
    let path = pick_path(rng, message);
    let Some(at) = message.pointer_mut(&path) else {
        return;
    };
    let inner = at.take();
    // What is large is not made larger.
    let small = inner.to_string().len() < 1_000;
    let count = if small { rng.usize(2..2_000) } else { 2 };
    *at = if rng.bool() {
        Value::Array(vec![inner; count])
    } else {
        let members = (0..count).map(|index| (format!("m{index}"), inner.clone()));
        Value::Object(members.collect())
    };
}

/// Mixes the eras: adds members of the other one, or removes or changes those of this one.
fn mix(rng: &mut Rng, message: &mut Value, revision: Revision) {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    let versions = ["2024-11-05", "2025-11-25", "2026-07-28", "2099-01-01", "1"];
    let version = pick(rng, &versions).copied().unwrap_or_default();
    if revision.is_modern() {
        let meta = "/params/_meta";
        if rng.bool() {
            paths::remove(message, meta);
        } else if let Some(meta) = message.pointer_mut(meta) {
            put(meta, VERSION, version);
        }
        return;
    }
    let meta = json!({
        VERSION: version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    if let Some(params) = message.get_mut("params") {
        put(params, "_meta", meta);
    }
}

fn batch(rng: &mut Rng, message: &mut Value) {
    let one = message.take();
    *message = match rng.u8(0..6) {
        0 => json!([]),
        1 => json!([1, null, "a"]),
        2 => json!([[one]]),
        3 => json!([one.clone(), one]),
        4 => json!([one, {"jsonrpc": "2.0"}]),
        _ => json!([one]),
    };
}

/// A response to something that was never asked, or both a request and a response.
fn respond(rng: &mut Rng, message: &mut Value) {
    let id = id(rng);
    match rng.u8(0..3) {
        0 => *message = json!({"jsonrpc": "2.0", "id": id, "result": {}}),
        1 => {
            let error = json!({"code": "none", "message": null});
            *message = json!({"jsonrpc": "2.0", "id": id, "error": error});
        }
        _ => put(message, "result", json!({})),
    }
}
