//! Rules for the messages of a sampling request (2025-11-25, "Sampling", "Message content constraints"): model
//! providers refuse or misread conversations that break them.

use std::collections::BTreeSet;

use super::{CreateMessage, SamplingContent, SamplingMessage};
use crate::content::Role;

/// Checks the rules. The error is for the log, since the fault is the server's.
pub(super) fn check(message: &CreateMessage) -> Result<(), String> {
    let mut open = BTreeSet::new();
    for (index, said) in message.messages.iter().enumerate() {
        open = follow(&open, said).map_err(|problem| format!("messages[{index}]: {problem}"))?;
    }
    match open.first() {
        Some(id) => Err(format!("the use {id:?} of a tool has no result")),
        None => Ok(()),
    }
}

/// Whether a conversation uses tools, which clients without that capability cannot read.
pub(super) fn has_tools(messages: &[SamplingMessage]) -> bool {
    let mut pieces = messages.iter().flat_map(|message| &message.content);
    pieces.any(|piece| {
        matches!(piece, SamplingContent::ToolUse { .. } | SamplingContent::ToolResult { .. })
    })
}

/// The tool uses that are open after a message, given those open before it.
fn follow<'m>(
    open: &BTreeSet<&'m str>,
    message: &'m SamplingMessage,
) -> Result<BTreeSet<&'m str>, String> {
    let (mut uses, mut results, mut others) = (BTreeSet::new(), BTreeSet::new(), 0);
    for piece in &message.content {
        let is_new = match piece {
            SamplingContent::ToolUse { id, .. } => uses.insert(id.as_str()),
            SamplingContent::ToolResult { tool_use_id, .. } => results.insert(tool_use_id.as_str()),
            _ => {
                others += 1;
                true
            }
        };
        if !is_new {
            return Err("two uses of tools, or two results, have the same id".to_owned());
        }
    }
    if !uses.is_empty() && message.role != Role::Assistant {
        return Err("only the assistant uses tools".to_owned());
    }
    if !results.is_empty() && (message.role != Role::User || others > 0 || !uses.is_empty()) {
        return Err(
            "results of tools stand in a message of the user that has nothing else".to_owned()
        );
    }
    if results != *open {
        return Err(format!(
            "the message before uses the tools {open:?}, but the results are of {results:?}"
        ));
    }
    Ok(uses)
}
