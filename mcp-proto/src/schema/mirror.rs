//! Parameters that are mirrored into headers: `x-mcp-header` (2026-07-28, "Custom headers from tool parameters").

use std::borrow::Cow;

use http::HeaderName;
use serde_json::{Map, Value};

use super::SchemaError;
use super::walk::walk;
use crate::json;

/// The keyword.
const KEYWORD: &str = "x-mcp-header";
/// The prefix of its value in the header's name.
const PREFIX: &str = "mcp-param-";
/// The longest value of the keyword, in bytes, and the most of them in one schema: servers take about a hundred
/// headers.
const MAX_NAME: usize = 128;
const MAX_MIRRORED: usize = 32;

/// One parameter whose value a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MirroredParam {
    /// `mcp-param-` and the annotation, in lower case.
    pub header: HeaderName,
    /// The names of the properties that lead to it in the arguments, at least one.
    path: Box<[String]>,
}

impl MirroredParam {
    /// Its value in the arguments of a call; `None` where it is absent or null.
    pub fn value<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        let mut steps = self.path.iter();
        let found = steps.try_fold(arguments?, |value, step| value.as_object()?.get(step))?;
        (!found.is_null()).then_some(found)
    }

    /// Its place in the params of `tools/call`, for people.
    pub(crate) fn place(&self) -> String {
        format!("params.arguments.{}", self.path.join("."))
    }
}

/// A value as the text that a header repeats; `None` for values without such a form.
pub fn header_value(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Number(number) => Some(Cow::Owned(match json::whole(number) {
            Some(whole) => whole.to_string(),
            None => number.to_string(),
        })),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The parameters of an input schema that clients repeat.
///
/// # Errors
/// An annotation that clients reject, and the whole tool with it: one that is not a token or not unique, that is on
/// anything but a string, an integer or a boolean, or in a place that is not reached only through `properties`.
pub fn params_to_mirror(schema: &Value) -> Result<Vec<MirroredParam>, SchemaError> {
    params_of(schema, |_| Ok(()))
}

/// The same for a schema that will be published.
///
/// # Errors
/// Also an annotation on a password: every proxy on the path can read a header.
pub(crate) fn params_to_publish(schema: &Value) -> Result<Vec<MirroredParam>, SchemaError> {
    params_of(schema, |members| match members.get("format") {
        Some(format) if format == "password" => {
            Err("must not stand on a password: headers are seen by others".to_owned())
        }
        _ => Ok(()),
    })
}

fn params_of(
    schema: &Value,
    also: impl Fn(&Map<String, Value>) -> Result<(), String>,
) -> Result<Vec<MirroredParam>, SchemaError> {
    let mut params: Vec<MirroredParam> = Vec::new();
    walk(schema, |part, path| {
        let (Some(name), Some(members)) = (part.get(KEYWORD), part.as_object()) else {
            return Ok(());
        };
        let param = judge(name, members, path)
            .and_then(|param| also(members).map(|()| param))
            .map_err(|problem| SchemaError(format!("{KEYWORD:?}: {name} {problem}")))?;
        if params.iter().any(|known| known.header == param.header) {
            return Err(SchemaError(format!(
                "{KEYWORD:?}: {name} stands on two properties; names of headers have no case"
            )));
        }
        params.push(param);
        if params.len() > MAX_MIRRORED {
            return Err(SchemaError(format!(
                "{KEYWORD:?} stands on more than {MAX_MIRRORED} properties"
            )));
        }
        Ok(())
    })?;
    Ok(params)
}

fn judge(
    name: &Value,
    members: &Map<String, Value>,
    path: Option<&[&str]>,
) -> Result<MirroredParam, String> {
    let header = name
        .as_str()
        .filter(|name| (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_token))
        .and_then(|name| HeaderName::try_from(format!("{PREFIX}{name}")).ok())
        .ok_or_else(|| {
            format!(
                "must be 1 to {MAX_NAME} characters of A-Z a-z 0-9 ! # $ % & ' * + - . ^ _ ` | ~"
            )
        })?;
    let path = path.filter(|path| !path.is_empty()).ok_or(
        "must stand on a property that \"properties\" alone lead to: not in items, alternatives, conditions or definitions",
    )?;
    let kind = members.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(
            "must stand on a property whose \"type\" is \"string\", \"integer\" or \"boolean\""
                .to_owned(),
        );
    }
    Ok(MirroredParam { header, path: path.iter().map(|&step| step.to_owned()).collect() })
}

/// `tchar` (RFC 9110 §5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
