//! What a pattern wants, in words: a report shows data as data, and never the way in which a transcript writes
//! matchers.

use serde_json::{Map, Value};

use crate::shorten::shorten;
use crate::template::sole_member;

/// Values longer than this many characters are shortened.
const MOST_SHOWN: usize = 400;

/// What a pattern wants of one place.
pub(crate) enum Wanted {
    /// Exactly this value, which contains no matchers.
    Value(Value),
    /// A value that is described.
    Words(String),
}

impl Wanted {
    /// Of a pattern as a transcript writes it.
    pub(crate) fn of(source: &Value) -> Self {
        match plain(source) {
            Some(value) => Self::Value(value),
            None => Self::Words(in_words(source)),
        }
    }
}

/// The value itself, if nothing in it is special.
fn plain(source: &Value) -> Option<Value> {
    Some(match source {
        Value::String(text) if has_variable(text) => return None,
        Value::String(text) => text.replace("$${", "${").into(),
        Value::Array(items) => Value::Array(items.iter().map(plain).collect::<Option<_>>()?),
        Value::Object(members) => match sole_member(members) {
            Some(("$literal", value)) => value.clone(),
            Some((name, _)) if name.starts_with('$') => return None,
            _ => Value::Object(
                members
                    .iter()
                    .map(|(name, value)| Some((name.clone(), plain(value)?)))
                    .collect::<Option<Map<_, _>>>()?,
            ),
        },
        scalar => scalar.clone(),
    })
}

fn has_variable(text: &str) -> bool {
    text.replace("$${", "").contains("${")
}

/// A pattern as a transcript writes it, in words.
pub(crate) fn in_words(source: &Value) -> String {
    if let Some(value) = plain(source) {
        return shorten(&value.to_string(), MOST_SHOWN);
    }
    let words = match source {
        Value::String(text) => format!("the text {text:?} with its variables filled in"),
        Value::Array(items) => format!("an array of [{}]", list(items)),
        Value::Object(members) => match sole_member(members) {
            Some((name, argument)) if name.starts_with('$') => matcher(name, argument),
            _ => format!("an object of {{{}}}", named(members)),
        },
        scalar => scalar.to_string(),
    };
    shorten(&words, MOST_SHOWN)
}

fn matcher(name: &str, argument: &Value) -> String {
    let text = argument.as_str().unwrap_or_default();
    match (name, argument) {
        ("$any", _) => "any value".to_owned(),
        ("$absent", _) => "nothing".to_owned(),
        ("$optional", inner) => format!("nothing, or {}", in_words(inner)),
        ("$type", _) => match text {
            "null" => "null".to_owned(),
            "array" | "integer" | "object" => format!("an {text}"),
            other => format!("a {other}"),
        },
        ("$match", _) => format!("a string in which /{text}/ is found"),
        ("$contains", Value::Array(items)) => {
            format!("an array with an element for each of [{}]", list(items))
        }
        ("$contains", Value::Object(members)) => {
            format!("an object with at least {{{}}}", named(members))
        }
        ("$contains", part) => format!("a string that contains {part}"),
        ("$unordered", Value::Array(items)) => {
            format!("an array, in any order, of [{}]", list(items))
        }
        ("$each", inner) => {
            format!("an array or object in which each value is {}", in_words(inner))
        }
        ("$length", length) => format!("a value of the length {length}"),
        ("$json", inner) => format!("a string that holds the JSON of {}", in_words(inner)),
        ("$not", inner) => format!("anything but {}", in_words(inner)),
        ("$all", Value::Array(items)) => joined(items, " and "),
        ("$oneOf", Value::Array(items)) => joined(items, " or "),
        ("$capture", _) => "a value".to_owned(),
        ("$var", _) => format!("the value that was captured as `{text}`"),
        (_, other) => other.to_string(),
    }
}

fn list(items: &[Value]) -> String {
    joined(items, ", ")
}

fn joined(items: &[Value], between: &str) -> String {
    let words: Vec<String> = items.iter().map(in_words).collect();
    words.join(between)
}

fn named(members: &Map<String, Value>) -> String {
    let words: Vec<String> =
        members.iter().map(|(name, value)| format!("{name}: {}", in_words(value))).collect();
    words.join(", ")
}
