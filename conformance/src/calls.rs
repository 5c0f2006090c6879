//! Calls of tools that were named: on the command line, in a file of calls, or in a transcript.

mod counts;

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

pub use self::counts::Calls;
pub(crate) use self::counts::tokens;

/// The largest file of calls, in bytes.
pub const MAX_CALLS_BYTES: u64 = 16 * 1024 * 1024;
/// The most calls in a file.
const MAX_CALLS: usize = 10_000;

/// A tool that may be called, and the arguments of the call if they were given.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// The arguments. If `None`, they are made from the schema of the tool.
    pub arguments: Option<Value>,
}

impl ToolCall {
    /// Reads the calls in a file: lines such as `{"name":"add","arguments":{"a":1}}`, one JSON array of such objects,
    /// or a transcript, whose calls of tools are taken.
    ///
    /// # Errors
    /// What is wrong with the file, with its line.
    pub fn read(path: &Path) -> Result<Vec<Self>, String> {
        let mut text = String::new();
        let read =
            File::open(path).and_then(|file| file.take(MAX_CALLS_BYTES).read_to_string(&mut text));
        let place = path.display();
        read.map_err(|error| format!("{place}: cannot be read: {error}"))?;
        if text.trim_start().starts_with('[') {
            let calls: Vec<Value> = serde_json::from_str(&text)
                .map_err(|error| format!("{place}: not JSON: {error}"))?;
            let calls = calls.iter().zip(1..);
            return calls
                .map(|(call, number)| {
                    Self::of(call).ok_or_else(|| format!("{place}: call {number} {WANTED}"))
                })
                .collect();
        }
        let mut calls = Vec::new();
        let mut is_recorded = false;
        for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
            let value: Value = serde_json::from_str(line)
                .map_err(|error| format!("{place}:{number}: not JSON: {error}"))?;
            is_recorded |= value.get("transcript").is_some();
            let call = if is_recorded { recorded(&value) } else { Some(&value) };
            match call.map(Self::of) {
                Some(Some(call)) => calls.push(call),
                // What depends on earlier answers of a recording cannot be repeated alone.
                Some(None) if is_recorded => {}
                Some(None) => return Err(format!("{place}:{number}: the line {WANTED}")),
                None => {}
            }
            if calls.len() > MAX_CALLS {
                return Err(format!("{place}: there are more than {MAX_CALLS} calls"));
            }
        }
        if calls.is_empty() {
            return Err(format!("{place}: there is no call of a tool in it"));
        }
        Ok(calls)
    }

    fn of(value: &Value) -> Option<Self> {
        let name = value.get("name")?.as_str()?.to_owned();
        let arguments = value.get("arguments").cloned();
        let is_variable = arguments.as_ref().is_some_and(|it| it.to_string().contains("$var"));
        let is_good = arguments.as_ref().is_none_or(Value::is_object) && !is_variable;
        is_good.then_some(Self { name, arguments })
    }
}

/// What a call looks like.
const WANTED: &str = "is not a call such as {\"name\":\"add\",\"arguments\":{\"a\":1}}";

/// The params of a call that a transcript sends.
fn recorded(step: &Value) -> Option<&Value> {
    let sent = step.get("mcp")?;
    let is_call = sent.get("method").is_some_and(|it| it == "tools/call");
    sent.get("params").filter(|_| is_call)
}

/// `NAME`, or `NAME={…}` with the arguments.
impl FromStr for ToolCall {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, json)) = text.split_once('=') else {
            return Ok(text.into());
        };
        let arguments: Value = serde_json::from_str(json)
            .map_err(|error| format!("the text after the first = is not JSON: {error}"))?;
        if !arguments.is_object() {
            return Err("the arguments are not a JSON object".to_owned());
        }
        Ok(Self { name: name.to_owned(), arguments: Some(arguments) })
    }
}

impl From<&str> for ToolCall {
    fn from(name: &str) -> Self {
        name.to_owned().into()
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
