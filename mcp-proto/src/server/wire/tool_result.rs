//! `CallToolResult` as it is sent. This frequent result is written by hand, into one text of about the right size.

use bytes::Bytes;
use serde::Serialize;
use serde_json::value::RawValue;

use super::ResultMeta;
use crate::content::{ContentBlock, TextContent};
use crate::json::{self, on_one_line, push_string};
use crate::jsonrpc::{ErrorObject, Payload, Result};
use crate::legacy::older;
use crate::tool::{CallToolResult, PreparedJson, Shape};
use crate::version::{Era, ProtocolVersion};

/// How much room a result needs in addition to its content, including the server's name.
const FRAME: usize = 256;

/// What is before structured content.
const STRUCTURE: &[u8] = br#","structuredContent":"#;

/// What stands in the place of a mirror text that is left out.
const TEXT_LEFT_OUT: &str =
    "The answer is in structuredContent alone: with its text it would be too long.";

/// Writes a result for a revision, in a shape.
///
/// # Errors
/// −32603 when content or metadata cannot be written as JSON.
pub(crate) fn tool_result(
    result: &CallToolResult,
    version: ProtocolVersion,
    shape: Shape,
    server_info: &RawValue,
) -> Result<Payload> {
    let era = version.era();
    if let Some(json) = &result.prepared {
        return prepared(result, json.clone(), era, shape, server_info);
    }
    let size = result.size_as(shape);
    // Allows for escaping one byte in eight.
    let mut out = Payload::start(size + size / 8 + FRAME);
    push_begin(&mut out, era);
    match &result.typed {
        _ if shape == Shape::Structure => push_text(&mut out, TEXT_LEFT_OUT),
        Some(json) => push_text(&mut out, json),
        None => push_blocks(&mut out, &older::for_version(&result.content, version))?,
    }
    push_warnings(&mut out, result);
    out.push(b']');
    let structured = result.structured_json().filter(|_| shape != Shape::Text);
    if let Some(json) = structured.filter(|_| result.has_structure(era)) {
        out.extend_from_slice(STRUCTURE);
        out.extend_from_slice(on_one_line(json).as_bytes());
    }
    push_end(&mut out, result, era, server_info)?;
    Ok(Payload::started(out))
}

/// Assembles a result from its prepared parts.
fn prepared(
    result: &CallToolResult,
    json: PreparedJson,
    era: Era,
    shape: Shape,
    server_info: &RawValue,
) -> Result<Payload> {
    let (json, quoted) = json.into_parts();
    let mut before = Vec::new();
    push_begin(&mut before, era);
    let mut parts = Vec::new();
    let mut between = Vec::new();
    if shape == Shape::Structure {
        push_text(&mut before, TEXT_LEFT_OUT);
        parts.push(Bytes::from(before));
    } else {
        before.extend_from_slice(br#"{"type":"text","text":""#);
        parts.push(Bytes::from(before));
        parts.extend(quoted);
        between.extend_from_slice(br#""}"#);
    }
    push_warnings(&mut between, result);
    between.push(b']');
    let mut after = Vec::new();
    push_end(&mut after, result, era, server_info)?;
    if shape != Shape::Text && result.has_structure(era) {
        between.extend_from_slice(STRUCTURE);
        parts.push(between.into());
        parts.extend(json);
    } else {
        parts.push(between.into());
    }
    parts.push(after.into());
    Ok(Payload::in_parts(parts))
}

/// Writes what is before the content.
fn push_begin(out: &mut Vec<u8>, era: Era) {
    out.push(b'{');
    if era == Era::Modern {
        out.extend_from_slice(br#""resultType":"complete","#);
    }
    out.extend_from_slice(br#""content":["#);
}

/// Writes the text after the content, if there is one.
fn push_warnings(out: &mut Vec<u8>, result: &CallToolResult) {
    if let Some(warnings) = &result.warnings {
        if !out.ends_with(b"[") {
            out.push(b',');
        }
        push_text(out, warnings);
    }
}

/// Writes the members after the content, and the end of the result.
fn push_end(
    out: &mut Vec<u8>,
    result: &CallToolResult,
    era: Era,
    server_info: &RawValue,
) -> Result<()> {
    if result.is_error {
        out.extend_from_slice(br#","isError":true"#);
    }
    let meta = ResultMeta::new(result.meta.as_ref(), era, server_info);
    if !meta.is_empty() {
        out.extend_from_slice(br#","_meta":"#);
        meta.push_to(out)?;
    }
    out.push(b'}');
    Ok(())
}

fn push_blocks(out: &mut Vec<u8>, content: &[ContentBlock]) -> Result<()> {
    for (index, block) in content.iter().enumerate() {
        if index > 0 {
            out.push(b',');
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
fn push_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(br#"{"type":"text","text":"#);
    push_string(out, text);
    out.push(b'}');
}

/// A value as JSON.
pub(super) fn push_value(out: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    let json = json::to_json(value).map_err(|error| ErrorObject::not_serialised(&error))?;
    out.extend_from_slice(json.as_bytes());
    Ok(())
}
