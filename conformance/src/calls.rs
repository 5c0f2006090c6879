//! Calls of tools that were named: on the command line, in a file of calls, or in a transcript.

mod counts;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

pub use self::counts::Calls;
pub(crate) use self::counts::tokens;
use crate::template::{Template, Vars};
use crate::transcript::files;

/// The most calls in a file.
const MAX_CALLS: usize = 10_000;

/// A tool that may be called, and the arguments of the call if they were given.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// The arguments. `None`: they are made from the tool's schema.
    pub arguments: Option<Value>,
}

impl ToolCall {
    /// Reads the calls in a file: lines such as `{"name":"add","arguments":{"a":1}}`, one JSON array of such objects,
    /// or a transcript, whose calls of tools are taken. The file has at most [`MAX_FILE_BYTES`](crate::MAX_FILE_BYTES).
    ///
    /// # Errors
    /// What is wrong with the file, with its line.
    pub fn read(path: &Path) -> Result<Vec<Self>, String> {
        let text = files::read(path).map_err(|error| error.to_string())?;
        let file = path.display();
        let mut calls = Vec::new();
        if text.trim_start().starts_with('[') {
            let values: Vec<Value> = serde_json::from_str(&text)
                .map_err(|error| format!("{file}: not JSON: {error}"))?;
            for (value, number) in values.iter().zip(1..) {
                let call = Self::of(value);
                calls.push(call.ok_or_else(|| format!("{file}: call {number} {WANTED}"))?);
            }
        } else {
            let mut is_recorded = false;
            for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty())
            {
                let value: Value = serde_json::from_str(line)
                    .map_err(|error| format!("{file}:{number}: not JSON: {error}"))?;
                is_recorded |= value.get("transcript").is_some();
                if is_recorded {
                    calls.extend(recorded(&value));
                } else {
                    let call = Self::of(&value);
                    calls.push(call.ok_or_else(|| format!("{file}:{number}: the line {WANTED}"))?);
                }
            }
        }
        match calls.len() {
            0 => Err(format!("{file}: there is no call of a tool in it")),
            1..=MAX_CALLS => Ok(calls),
            _ => Err(format!("{file}: there are more than {MAX_CALLS} calls")),
        }
    }

    fn of(value: &Value) -> Option<Self> {
        let name = value.get("name")?.as_str()?.to_owned();
        let arguments = value.get("arguments").cloned();
        arguments.as_ref().is_none_or(Value::is_object).then_some(Self { name, arguments })
    }
}

/// What a call looks like.
const WANTED: &str = "is not a call such as {\"name\":\"add\",\"arguments\":{\"a\":1}}";

/// The call that a step of a transcript sends, unless it depends on earlier answers.
fn recorded(step: &Value) -> Option<ToolCall> {
    let sent = step.get("mcp")?;
    let params =
        sent.get("params").filter(|_| sent.get("method").is_some_and(|it| it == "tools/call"));
    let params = Template::parse(params?).ok()?;
    ToolCall::of(&params.fill(&Vars::default()).ok()?)
}

/// The text before the first `=`, and the JSON after it.
pub(crate) fn parts(text: &str) -> Result<(&str, Option<Value>), String> {
    let Some((name, json)) = text.split_once('=') else {
        return Ok((text, None));
    };
    let value = serde_json::from_str(json)
        .map_err(|error| format!("the text after the first = is not JSON: {error}"))?;
    Ok((name, Some(value)))
}

/// `NAME`, or `NAME={…}` with the arguments.
impl FromStr for ToolCall {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, arguments) = parts(text)?;
        if !arguments.as_ref().is_none_or(Value::is_object) {
            return Err("the arguments are not a JSON object".to_owned());
        }
        Ok(Self { name: name.to_owned(), arguments })
    }
}

impl From<String> for ToolCall {
    fn from(name: String) -> Self {
        Self { name, arguments: None }
    }
}

impl fmt::Display for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.arguments {
            Some(arguments) => write!(formatter, "{}={arguments}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}
