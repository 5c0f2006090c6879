//! `CallToolResult` as it is sent. This frequent result is written by hand, into one text of about the right size.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use super::ResultMeta;
use crate::content::{ContentBlock, TextContent};
use crate::json::{self, on_one_line, push_string};
use crate::jsonrpc::{ErrorObject, Payload};
use crate::legacy::older;
use crate::tool::{CallToolResult, PreparedJson};
use crate::version::{Era, ProtocolVersion};

/// How much room a result needs in addition to its content, including the server's name.
const FRAME: usize = 256;

/// Writes a result for a revision.
///
/// # Errors
/// −32603 when content or metadata cannot be written as JSON.
pub(crate) fn tool_result(
    result: &CallToolResult,
    version: ProtocolVersion,
    server_info: &RawValue,
) -> Result<Payload, ErrorObject> {
    let era = version.era();
    if let Some(json) = &result.prepared {
        return prepared(result, json.clone(), era, server_info);
    }
    let size = result.size();
    // Allows for escaping one byte in eight.
    let mut out = Payload::start(size + size / 8 + FRAME);
    out.push('{');
    if era == Era::Modern {
        out.push_str(r#""resultType":"complete","#);
    }
    out.push_str(r#""content":["#);
    match &result.typed {
        Some(json) => push_text(&mut out, json),
        None => push_blocks(&mut out, &older::for_version(&result.content, version))?,
    }
    out.push(']');
    // Before 2026-07-28 it is an object; clients of those revisions get the same content as text.
    let structured = result.structured_json();
    if let Some(json) = structured.filter(|json| era == Era::Modern || json.starts_with('{')) {
        out.push_str(r#","structuredContent":"#);
        out.push_str(&on_one_line(json));
    }
    push_end(&mut out, result, era, server_info)?;
    Ok(Payload::started(out))
}

/// Assembles a result from its prepared parts.
fn prepared(
    result: &CallToolResult,
    json: PreparedJson,
    era: Era,
    server_info: &RawValue,
) -> Result<Payload, ErrorObject> {
    let (json, quoted) = json.into_parts();
    let mut before = String::from("{");
    if era == Era::Modern {
        before.push_str(r#""resultType":"complete","#);
    }
    before.push_str(r#""content":[{"type":"text","text":""#);
    let mut after = String::new();
    push_end(&mut after, result, era, server_info)?;
    let is_object = json.first().is_some_and(|json| json.starts_with(b"{"));
    let mut parts = vec![Bytes::from(before)];
    parts.extend(quoted);
    if era == Era::Modern || is_object {
        parts.push(Bytes::from_static(br#""}],"structuredContent":"#));
        parts.extend(json);
    } else {
        parts.push(Bytes::from_static(br#""}]"#));
    }
    parts.push(after.into());
    Ok(Payload::in_parts(parts))
}

/// Writes the members after the content, and the end of the result.
fn push_end(
    out: &mut String,
    result: &CallToolResult,
    era: Era,
    server_info: &RawValue,
) -> Result<(), ErrorObject> {
    if result.is_error {
        out.push_str(r#","isError":true"#);
    }
    let meta = ResultMeta::new(result.meta.as_ref(), era, server_info);
    if !meta.is_empty() {
        out.push_str(r#","_meta":"#);
        meta.push_to(out)?;
    }
    out.push('}');
    Ok(())
}

fn push_blocks(out: &mut String, content: &[ContentBlock]) -> Result<(), ErrorObject> {
    for (index, block) in content.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match block {
            ContentBlock::Text(TextContent { text, annotations: None, meta: None }) => {
                push_text(out, text)
            }
            other => push_value(out, other)?,
        }
    }
    Ok(())
}

/// A text block without other members.
fn push_text(out: &mut String, text: &str) {
    out.push_str(r#"{"type":"text","text":"#);
    push_string(out, text);
    out.push('}');
}

/// A value as JSON.
pub(super) fn push_value(out: &mut String, value: &impl Serialize) -> Result<(), ErrorObject> {
    json::push_json(out, value).map_err(|error| ErrorObject::not_serialised(&error))
}
