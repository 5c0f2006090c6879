//! Items that go by another name now.

use std::collections::BTreeMap;

use serde_json::Value;

use super::same::is_same;

/// How alike two names must be if only the arguments are the same.
const ALIKE: f64 = 0.8;
/// How long a description must be, in characters, to be that of one item alone.
const TELLING: usize = 20;
/// The most removed and added items that are compared with each other.
const MAX_PAIRS: usize = 10_000;

/// The new name of each item that was renamed, by its old name.
pub(super) fn renamed<'a>(
    old: &'a BTreeMap<String, Value>,
    new: &'a BTreeMap<String, Value>,
) -> BTreeMap<&'a str, &'a str> {
    let gone: Vec<_> = old.iter().filter(|(name, _)| !new.contains_key(*name)).collect();
    let come: Vec<_> = new.iter().filter(|(name, _)| !old.contains_key(*name)).collect();
    let mut pairs = Vec::new();
    if gone.len() * come.len() <= MAX_PAIRS {
        for (before, one) in &gone {
            for (after, other) in &come {
                let alike = strsim::jaro_winkler(before, after);
                let same_name = spelled(before).eq(spelled(after));
                if let Some(score) = score(one, other, same_name, alike) {
                    pairs.push((score, before.as_str(), after.as_str()));
                }
            }
        }
    }
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0));
    let mut renamed = BTreeMap::new();
    for (_, before, after) in pairs {
        if !renamed.contains_key(before) && !renamed.values().any(|it| *it == after) {
            renamed.insert(before, after);
        }
    }
    renamed
}

/// How sure it is that one item became the other; `None` if it probably did not.
fn score(old: &Value, new: &Value, same_name: bool, alike: f64) -> Option<f64> {
    let text = |item: &Value| item.get("description").and_then(Value::as_str).map(str::to_owned);
    let described = text(old).filter(|it| it.chars().count() >= TELLING);
    let same_text = described.is_some() && described == text(new);
    let same_form = has_a_form(old) && has_the_form(old, new);
    match (same_text, same_form) {
        (true, true) => Some(3.0 + alike),
        (true, false) => Some(2.0 + alike),
        (false, true) if same_name || alike >= ALIKE => Some(1.0 + alike),
        (false, false) if same_name => Some(alike),
        _ => None,
    }
}

/// A name without what only separates its words: `web-search` is `web_search` and `webSearch`.
fn spelled(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Whether it has arguments, by which it can be recognized.
fn has_a_form(item: &Value) -> bool {
    let properties = item.pointer("/inputSchema/properties").and_then(Value::as_object);
    let arguments = item.get("arguments").and_then(Value::as_array);
    properties.is_some_and(|it| !it.is_empty()) || arguments.is_some_and(|it| !it.is_empty())
}

/// Whether both have the same arguments.
fn has_the_form(old: &Value, new: &Value) -> bool {
    let same = match (old.get("inputSchema"), new.get("inputSchema")) {
        (Some(old), Some(new)) => is_same([old, new], "", old, new),
        (old, new) => old == new,
    };
    same && old.get("arguments") == new.get("arguments")
}
