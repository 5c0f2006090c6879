//! Parameters of tools that headers repeat (`x-mcp-header`; 2026-07-28, Streamable HTTP, "Custom headers from tool
//! parameters"), from the client's side.

use std::collections::HashMap;
use std::sync::Mutex;

use http::{HeaderName, HeaderValue};
use mcp_proto::Tool;
use mcp_proto::schema::{MirroredParam, header_value, params_to_mirror};
use serde_json::{Map, Value};

use super::{ClientError, Result};
use crate::locked::Locked as _;

/// The most tools that are remembered. Calls of others are refused, listed again and refused again.
const MAX_TOOLS: usize = 10_000;

/// The tools whose parameters are repeated, as they were listed last.
#[derive(Debug, Default)]
pub(super) struct Mirrored(Mutex<HashMap<String, Vec<MirroredParam>>>);

impl Mirrored {
    /// Learns from a list of tools, and removes the tools with invalid annotations, which no client may call.
    pub(super) fn learn(&self, tools: &mut Vec<Tool>) {
        let mut table = self.0.locked();
        tools.retain(|tool| match params_to_mirror(&tool.input_schema) {
            Ok(params) => {
                if params.is_empty() {
                    table.remove(&tool.name);
                } else if table.len() < MAX_TOOLS || table.contains_key(&tool.name) {
                    table.insert(tool.name.clone(), params);
                }
                true
            }
            Err(problem) => {
                tracing::warn!(tool = tool.name, %problem, "a tool was left out of the list");
                false
            }
        });
    }

    /// The headers of a call with these params.
    pub(super) fn headers(
        &self,
        params: &Map<String, Value>,
    ) -> Result<Vec<(HeaderName, HeaderValue)>> {
        let table = self.0.locked();
        let tool = params.get("name").and_then(Value::as_str);
        let mirrored = tool.and_then(|tool| table.get(tool));
        let arguments = params.get("arguments");
        let said = mirrored.into_iter().flatten().filter_map(|param| {
            let text = header_value(param.value(arguments)?)?;
            Some(header_text(&text).map(|value| (param.header.clone(), value)))
        });
        said.collect()
    }
}

/// A value as the standard headers carry it: Base64 where it could not stand for itself (2026-07-28, "Headers").
pub(super) fn header_text(text: &str) -> Result<HeaderValue> {
    let plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim_matches(' ') == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let value = if plain {
        HeaderValue::from_str(text)
    } else {
        let encoded = data_encoding::BASE64.encode(text.as_bytes());
        HeaderValue::from_str(&format!("=?base64?{encoded}?="))
    };
    value.map_err(|problem| ClientError::Protocol(problem.to_string()))
}
