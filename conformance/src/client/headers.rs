//! The headers in which a modern request repeats parts of its body (2026-07-28, Streamable HTTP).

use data_encoding::BASE64;
use serde_json::Value;

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

/// A value as a header carries it: as it is, or in base64 between `=?base64?` and `?=` if it would not arrive so.
pub(crate) fn encoded(value: &str) -> String {
    let plain = value
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\t'))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    match plain {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", BASE64.encode(value.as_bytes())),
    }
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

    /// What the header says of these arguments; nothing for an argument that is not there or null.
    pub(crate) fn value(&self, arguments: &Value) -> Option<String> {
        let at = self
            .path
            .iter()
            .try_fold(arguments, |value, name| value.get(name))?;
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
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push(Mirror {
                path: path.clone(),
                name: header.to_owned(),
            });
        }
        if path.len() < MOST_DEPTH {
            collect(property, path, found);
        }
        path.pop();
    }
}
