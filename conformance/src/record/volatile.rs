//! What is different each time a server runs: identifiers and times.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::mask::MASKED;
use crate::pattern::own_regex;

/// A part of a text that changes, and the expression that any such part matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChangingText {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) like: &'static str,
}

/// Each kind of part: how it is found, what is written in its place, and an example.
const KINDS: [(&str, &str, &str); 5] = [
    // A UUID (RFC 9562).
    (
        r"(?i-u:\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)",
        "[0-9A-Fa-f-]{36}",
        "00000000-0000-4000-8000-000000000000",
    ),
    // A date and time (RFC 3339).
    (
        r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(?:Z|[+-][0-9:]+)?",
        "2026-01-01T00:00:00Z",
    ),
    // A time of day.
    (
        r"\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:\s?[AP]M)?",
        r"[0-9]{1,2}:[0-9]{2}:[0-9.]+(?:\s?[AP]M)?",
        "12:00:00",
    ),
    // A long number in hexadecimal, such as a digest or a trace id.
    (r"(?i-u:\b[0-9a-f]{24,}\b)", "[0-9A-Fa-f]{24,}", "0123456789abcdef01234567"),
    // Milliseconds since 1970, from 2017 to 2033.
    (r"\b1[5-9][0-9]{11}\b", "[0-9]{13}", "1767225600000"),
];

static FINDERS: LazyLock<Vec<(Regex, &'static str)>> =
    LazyLock::new(|| KINDS.map(|(finder, like, _)| (own_regex(finder), like)).into());

/// The longest text that is looked into: beyond that it is data, such as a picture.
const MOST_BYTES: usize = 64 * 1024;

/// The parts of a text that change, in order, which do not overlap.
pub(crate) fn parts(text: &str) -> Vec<ChangingText> {
    if text.len() > MOST_BYTES {
        return Vec::new();
    }
    let mut found: Vec<ChangingText> = Vec::new();
    for (finder, like) in FINDERS.iter() {
        for part in finder.find_iter(text) {
            let (start, end) = (part.start(), part.end());
            if found.iter().all(|other| end <= other.start || start >= other.end) {
                found.push(ChangingText { start, end, like });
            }
        }
    }
    found.sort_by_key(|part| part.start);
    found
}

/// Whether a member of this name holds something that the server alone can make sense of.
pub(crate) fn is_opaque_name(name: &str) -> bool {
    matches!(name, "nextCursor" | "requestState" | "taskId" | "sessionId")
}

/// The pattern for a number that is a time, by its name or its size.
pub(crate) fn number(value: &Value, key: &str) -> Option<Value> {
    let named = [
        "timestamp",
        "createdAt",
        "updatedAt",
        "lastUpdatedAt",
        "elapsedMs",
        "durationMs",
        "uptime",
    ];
    let milliseconds =
        value.as_u64().is_some_and(|value| (1_500_000_000_000..2_000_000_000_000).contains(&value));
    (named.contains(&key) || milliseconds).then(|| json!({"$type": "number"}))
}

/// A regular expression for the whole text, in which `parts` may be anything that is like them.
pub(crate) fn expression(text: &str, parts: &[ChangingText]) -> String {
    let mut expression = String::from("^");
    let mut at = 0;
    for part in parts {
        expression.push_str(&literal(known_range::text(text, at..part.start)));
        expression.push_str(part.like);
        at = part.end;
    }
    expression + &literal(known_range::text(text, at..)) + "$"
}

/// What stands for a secret in an expression.
pub(super) const ANYTHING: &str = r"[\s\S]+";
/// What stands for base64 in which something changes.
pub(super) const ENCODED: &str = "^[A-Za-z0-9+/]+=*$";

/// A text for an expression that a recording has, and the text of any other expression as well as it can be read.
pub(crate) fn like(expression: &str) -> String {
    if expression == ENCODED {
        return "AAAA".to_owned();
    }
    let text = expression.strip_prefix('^').unwrap_or(expression);
    let text = text.strip_suffix('$').unwrap_or(text);
    let kinds = KINDS.iter().map(|(_, like, example)| (*like, *example));
    let text = kinds
        .chain([(ANYTHING, MASKED)])
        .fold(text.to_owned(), |text, (like, example)| text.replace(like, example));
    let mut escaped = false;
    let plain = text.chars().filter(|letter| {
        escaped = *letter == '\\' && !escaped;
        !escaped
    });
    plain.collect()
}

/// A text as a regular expression of a transcript, where `${` would begin a variable.
fn literal(text: &str) -> String {
    regex::escape(text).replace("${", "$${")
}
