//! Rich messages: blocks of headings, lists, tables, quotes and pictures, read in their order, with the names that the
//! export and the Bot API have for them.

use serde_json::Value;

use super::text::{MAX_DEPTH, plain};
use crate::json::{is_true, list, member};
use crate::model::Attachment;

/// A rich message as lines, and its files.
#[derive(Debug)]
pub(crate) struct Rich {
    lines: Vec<String>,
    pub(crate) attachments: Vec<Attachment>,
    files: fn(&Value) -> Vec<Attachment>,
}

impl Rich {
    /// Reads the member `rich_message`, if there is one; `files` gives those of a block.
    pub(crate) fn of(message: &Value, files: fn(&Value) -> Vec<Attachment>) -> Self {
        let mut rich = Self { lines: Vec::new(), attachments: Vec::new(), files };
        let message = message.get("rich_message").unwrap_or(&Value::Null);
        rich.blocks(message, "", 0);
        if is_true(message, "part") {
            rich.lines.push("[The rest of this message is not in the export]".to_owned());
        }
        rich
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }

    fn blocks(&mut self, of: &Value, before: &str, depth: usize) {
        if depth < MAX_DEPTH {
            list(of, "blocks").for_each(|block| self.block(block, before, depth));
        }
    }

    /// A block of any kind: its title, its words, its parts, its caption.
    fn block(&mut self, block: &Value, before: &str, depth: usize) {
        let kind = member(block, "type").unwrap_or_default();
        let quote = format!("{before}> ");
        let before = if kind.contains("quote") { quote.as_str() } else { before };
        ["title", "summary", "text", "formula", "source", "expression"]
            .iter()
            .for_each(|name| self.line(before, block.get(*name)));
        for item in list(block, "items") {
            self.item(item, before, depth);
        }
        for row in list(block, "rows").chain(list(block, "cells")) {
            let cells = row.get("cells").unwrap_or(row).as_array().into_iter().flatten();
            let cells: Vec<String> = cells.map(|cell| plain(cell).replace('\n', " ")).collect();
            self.lines.push(format!("{before}{}", cells.join(" | ")));
        }
        self.attachments.extend((self.files)(block));
        self.blocks(block, before, depth + 1);
        self.line(before, block.get("credit"));
        if let Some(caption) = block.get("caption") {
            self.line(before, Some(caption));
            self.line(before, caption.get("credit"));
        }
    }

    fn item(&mut self, item: &Value, before: &str, depth: usize) {
        let mark = match member(item, "task_state") {
            Some("checked") => "[x]",
            Some("unchecked") => "[ ]",
            _ if is_true(item, "is_checked") => "[x]",
            _ if is_true(item, "has_checkbox") => "[ ]",
            _ => member(item, "label").unwrap_or("-"),
        };
        let start = self.lines.len();
        self.line(before, Some(item));
        self.blocks(item, &format!("{before}  "), depth + 1);
        if let Some(first) = self.lines.get_mut(start) {
            let words = first.strip_prefix(before).unwrap_or(first).trim_start().to_owned();
            *first = format!("{before}{mark} {words}");
        }
    }

    fn line(&mut self, before: &str, text: Option<&Value>) {
        let words = text.map(plain).unwrap_or_default();
        let lines = words.lines().filter(|line| !line.trim().is_empty());
        self.lines.extend(lines.map(|line| format!("{before}{line}")));
    }
}
