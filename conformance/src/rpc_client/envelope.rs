//! What must be around an answer in each era.

use serde_json::{Value, json};

use crate::pattern::{Mismatch, Pattern};
use crate::template::Vars;
use crate::transcript::Era;

/// Compares a JSON-RPC answer: its frame exactly, its `member` (`result` or `error`) with `pattern`.
///
/// In the modern era what every result carries besides its content is judged here and then left out of the comparison,
/// so that one pattern serves both eras: `resultType` is `complete`, `_meta` is an object, and the caching hints are
/// well formed. A pattern that mentions one of these members compares it itself.
pub(crate) fn compare(
    era: Era,
    mut message: Value,
    id: u64,
    (member, pattern): (&'static str, &Pattern),
    vars: &mut Vars,
) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    if era == Era::Modern && member == "result" {
        mismatches = take_envelope(&mut message, pattern);
    }
    let frame =
        [("jsonrpc", Pattern::text("2.0")), ("id", Pattern::number(id)), (member, pattern.clone())];
    mismatches.append(&mut Pattern::object(frame).compare_and_keep(Some(&message), vars));
    mismatches
}

fn take_envelope(message: &mut Value, pattern: &Pattern) -> Vec<Mismatch> {
    let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) else {
        return Vec::new();
    };
    let mut mismatches = Vec::new();
    for (name, required, wanted, fits) in [
        (
            "resultType",
            true,
            json!("complete"),
            (|value| value == "complete") as fn(&Value) -> bool,
        ),
        ("_meta", false, json!({"$type": "object"}), Value::is_object),
        ("ttlMs", false, json!({"$type": "integer"}), Value::is_u64),
        ("cacheScope", false, json!({"$oneOf": ["public", "private"]}), |value| {
            value == "public" || value == "private"
        }),
    ] {
        if pattern.mentions(name) {
            continue;
        }
        let actual = result.remove(name);
        if !actual.as_ref().map_or(!required, fits) {
            let reason = Some("every result of 2026-07-28 has it".to_owned());
            mismatches.push(Mismatch {
                path: format!("/result/{name}"),
                expected: wanted,
                actual,
                reason,
            });
        }
    }
    mismatches
}

/// Puts in what every modern request says of its sender; what is there already stays. `None` if the params or their
/// `_meta` are not objects.
pub(crate) fn introduce(
    params: &mut Value,
    version: &str,
    capabilities: &Value,
    info: &Value,
) -> Option<()> {
    let meta = params.as_object_mut()?.entry("_meta").or_insert_with(|| json!({}));
    let meta = meta.as_object_mut()?;
    let said = [
        ("protocolVersion", version.into()),
        ("clientCapabilities", capabilities.clone()),
        ("clientInfo", info.clone()),
    ];
    for (name, value) in said {
        meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
    }
    Some(())
}
