//! What a load asks.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use crate::calls::parts;
use crate::json::put;
use crate::probe::Bench;

/// A request: its method and its params.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub(super) method: String,
    pub(super) params: Value,
}

/// A call that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} cannot be used as a call: {reason}")]
pub struct CallError {
    given: String,
    reason: String,
}

impl Call {
    /// A request of this method.
    ///
    /// # Errors
    /// The params are not an object, or the request has no answer that ends: it is a notification or a subscription, or
    /// opens the conversation itself.
    pub fn new(method: &str, params: Value) -> Result<Self, CallError> {
        let refuse =
            |reason: &str| CallError { given: method.to_owned(), reason: reason.to_owned() };
        if method.is_empty() {
            return Err(refuse("the method is missing; an example is tools/list"));
        }
        if method.starts_with("notifications/") {
            return Err(refuse("a notification has no answer to measure"));
        }
        if matches!(method, "subscriptions/listen" | "initialize") {
            return Err(refuse("the request cannot be repeated, or has no end"));
        }
        if !params.is_object() {
            return Err(refuse("the parameters are not a JSON object"));
        }
        Ok(Self { method: method.to_owned(), params })
    }

    /// A call of a tool.
    ///
    /// # Errors
    /// The arguments are not an object.
    pub fn tool(name: &str, arguments: Value) -> Result<Self, CallError> {
        if !arguments.is_object() {
            return Err(CallError {
                given: name.to_owned(),
                reason: "the arguments are not a JSON object".to_owned(),
            });
        }
        let mut params = json!({"name": name});
        put(&mut params, "arguments", arguments);
        Self::new("tools/call", params)
    }

    /// The tool of `NAME` or `NAME={…}`.
    ///
    /// # Errors
    /// What follows the sign is not a JSON object.
    pub fn parse_tool(text: &str) -> Result<Self, CallError> {
        let (name, arguments) = given(text)?;
        Self::tool(name, arguments)
    }

    /// What every server can be asked: what it is, and the lists that it declares.
    pub(super) fn safe(bench: &Bench) -> Vec<Self> {
        let methods = [bench.revision.ping()].into_iter().chain(bench.answered());
        methods.map(|method| Self { method: method.to_owned(), params: json!({}) }).collect()
    }
}

/// The text before the first `=`, and the JSON after it; an empty object without a `=`.
fn given(text: &str) -> Result<(&str, Value), CallError> {
    let (name, value) =
        parts(text).map_err(|reason| CallError { given: text.to_owned(), reason })?;
    Ok((name, value.unwrap_or_else(|| json!({}))))
}

/// `METHOD`, or `METHOD={…}` with params.
impl FromStr for Call {
    type Err = CallError;

    fn from_str(text: &str) -> Result<Self, CallError> {
        let (method, params) = given(text)?;
        Self::new(method, params)
    }
}

/// The method; of a tool, resource or prompt also its name.
impl fmt::Display for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.method)?;
        let named = self.params.get("name").or_else(|| self.params.get("uri"));
        match named.and_then(Value::as_str) {
            Some(name) => write!(formatter, " {name}"),
            None => Ok(()),
        }
    }
}
