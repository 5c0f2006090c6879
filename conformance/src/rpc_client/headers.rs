//! The headers in which a modern request repeats parts of its body (2026-07-28, Streamable HTTP).

use std::collections::BTreeSet;

use data_encoding::BASE64;
use serde_json::Value;

/// The member of a schema that names a header.
const ANNOTATION: &str = "x-mcp-header";

/// How deep the properties of a schema are looked into.
const MOST_DEPTH: usize = 16;

/// The value that `Mcp-Name` repeats.
pub(crate) fn named<'a>(method: &str, params: &'a Value) -> Option<&'a str> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        method if method.starts_with("tasks/") => "taskId",
        _ => return None,
    };
    params.get(member)?.as_str()
}

/// A value as a header carries it: unchanged, or in base64 between `=?base64?` and `?=` if it would not arrive
/// unchanged.
pub(crate) fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if plain { value.to_owned() } else { format!("=?base64?{}?=", BASE64.encode(value.as_bytes())) }
}

/// One argument of a tool that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// The properties that lead to it.
    path: Vec<String>,
    /// The header is `mcp-param-` and this.
    name: String,
}

impl Mirror {
    /// Those that an input schema names by `x-mcp-header`.
    pub(crate) fn all(schema: &Value) -> Vec<Self> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found);
        found
    }

    pub(crate) fn header(&self) -> String {
        format!("mcp-param-{}", self.name.to_ascii_lowercase())
    }

    /// The argument that it repeats, if that is a whole argument and not a member of one.
    pub(crate) fn argument(&self) -> Option<&str> {
        match self.path.as_slice() {
            [name] => Some(name),
            _ => None,
        }
    }

    /// Whether it repeats a string that may have any value, by the schema.
    pub(crate) fn is_text_of(&self, schema: &Value) -> bool {
        let properties = schema.get("properties");
        let property = self.argument().and_then(|name| properties?.get(name));
        property.is_some_and(|it| {
            let limits = ["enum", "const", "pattern", "format", "minLength", "maxLength"];
            it.get("type").is_some_and(|it| it == "string")
                && limits.iter().all(|limit| it.get(limit).is_none())
        })
    }

    /// What the header says of these arguments; nothing for an argument that is not there or null.
    pub(crate) fn value(&self, arguments: &Value) -> Option<String> {
        let at = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        match at {
            Value::String(text) => Some(encoded(text)),
            Value::Bool(value) => Some(value.to_string()),
            Value::Number(number) if number.is_i64() || number.is_u64() => Some(number.to_string()),
            _ => None,
        }
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(header) = property.get(ANNOTATION).and_then(Value::as_str) {
            found.push(Mirror { path: path.clone(), name: header.to_owned() });
        }
        if path.len() < MOST_DEPTH {
            collect(property, path, found);
        }
        path.pop();
    }
}

/// What is wrong with the headers that an input schema names by `x-mcp-header`.
pub(crate) fn misplaced(schema: &Value) -> Option<String> {
    let mut named = Vec::new();
    every(schema, 0, &mut named);
    let reachable = Mirror::all(schema);
    let mut known = BTreeSet::new();
    for annotated in &named {
        let given = annotated.get(ANNOTATION).unwrap_or(&Value::Null);
        let Some(name) = given.as_str().filter(|it| is_token(it)) else {
            return Some(format!("its x-mcp-header {given} is not a valid header name"));
        };
        if !is_primitive(annotated) {
            return Some(format!(
                "its x-mcp-header {name:?} is not on a string, an integer or a boolean"
            ));
        }
        if !known.insert(name.to_ascii_lowercase()) {
            return Some(format!("its x-mcp-header {name:?} comes twice"));
        }
        if !reachable.iter().any(|it| it.name == name) {
            return Some(format!(
                "its x-mcp-header {name:?} is at a place that is not reached through `properties` alone"
            ));
        }
    }
    None
}

/// Whether a schema is of a text, an integer or a boolean, as far as it says: null stands for an argument that is not
/// there.
fn is_primitive(schema: &Value) -> bool {
    let kinds = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.as_slice(),
        Some(kind) => std::slice::from_ref(kind),
        None => &[],
    };
    let known = ["string", "integer", "boolean", "null"];
    kinds.iter().all(|kind| known.iter().any(|it| kind == it))
}

/// Every schema below this one that has the annotation.
fn every<'a>(schema: &'a Value, depth: usize, found: &mut Vec<&'a Value>) {
    if depth > MOST_DEPTH * 2 {
        return;
    }
    let parts: Vec<&Value> = match schema {
        Value::Object(members) => {
            if members.get(ANNOTATION).is_some_and(|it| !it.is_object()) {
                found.push(schema);
            }
            // These hold values, not schemas.
            let is_value = |name: &str| ["const", "enum", "default", "examples"].contains(&name);
            let parts = members.iter().filter(|(name, _)| !is_value(name));
            parts.map(|(_, part)| part).collect()
        }
        Value::Array(parts) => parts.iter().collect(),
        _ => return,
    };
    for part in parts {
        every(part, depth + 1, found);
    }
}

/// A token of RFC 9110 §5.6.2, of which the names of headers are made.
fn is_token(text: &str) -> bool {
    let other = "!#$%&'*+-.^_`|~";
    !text.is_empty() && text.chars().all(|it| it.is_ascii_alphanumeric() || other.contains(it))
}
