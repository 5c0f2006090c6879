//! Errors in the arguments of a call, as the answer reports them.

use serde::Serialize;
use serde_json::Value;

/// The longest path and the longest message of a finding, in bytes; longer ones are truncated. For an instance that is
/// too large, longer messages are omitted.
pub(super) const MAX_TOLD: usize = 1_024;

/// The longest text of an offending value that is quoted back, in bytes.
const MAX_QUOTED: usize = 120;

/// The most values of an `enum` that are listed, and how many of a longer one are.
const MAX_OPTIONS: usize = 50;
const FIRST_OPTIONS: usize = 2;

/// One thing that is wrong with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Where, as a JSON Pointer (RFC 6901); empty for the arguments as a whole. Truncated if it is very long.
    pub path: String,
    /// What is wrong and what would be valid.
    pub message: String,
    /// The missing or unknown member there, if that is the error. Not sent to clients separately: the message names it.
    #[serde(skip)]
    pub member: Option<String>,
    /// The value there, as text; `None` if it is long, a list or an object. Not sent to clients separately.
    #[serde(skip)]
    pub value: Option<String>,
}

impl Finding {
    /// A finding whose texts are truncated, so that they do not repeat a client's megabytes.
    pub fn new(path: &str, message: &str) -> Self {
        Self { path: shortened(path), message: shortened(message), member: None, value: None }
    }

    /// The message without the value that is wrong, which a person may have typed.
    pub(crate) fn without_value(&self, whole: &Value) -> String {
        let shown = whole.pointer(&self.path).map(shown);
        let rest = shown.and_then(|shown| self.message.strip_prefix(&shown));
        rest.map_or_else(|| self.message.clone(), |rest| format!("the value{rest}"))
    }
}

/// A text, or its beginning if it is very long.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().find(|(at, _)| *at >= MAX_TOLD) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", known_range::text(text, ..at)),
    }
}

/// A value in a message: as JSON, or "the value" if it is long, a list or an object.
pub(super) fn shown(value: &Value) -> String {
    if is_quotable(value) { value.to_string() } else { "the value".to_owned() }
}

/// A short value: a text without quotes, anything else as JSON.
pub(super) fn quotable(value: &Value) -> Option<String> {
    is_quotable(value).then(|| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Whether a value is short enough to be quoted.
fn is_quotable(value: &Value) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) => false,
        Value::String(text) => text.len() <= MAX_QUOTED,
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The values of an `enum`, or the first of many.
pub(super) fn options(values: &[Value]) -> String {
    let listed = match values.len() {
        0..=MAX_OPTIONS => values,
        _ => values.get(..FIRST_OPTIONS).unwrap_or(values),
    };
    let others = values.len() - listed.len();
    let listed: Vec<_> = listed.iter().map(Value::to_string).collect();
    let listed = listed.join(", ");
    match others {
        0 => listed,
        _ => format!("{listed} or {others} other candidates"),
    }
}
