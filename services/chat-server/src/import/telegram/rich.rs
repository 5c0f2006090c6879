//! Rich messages: blocks of headings, lists, tables, quotes and pictures, read in their order.

use serde_json::Value;

use super::media;
use super::text::{MAX_DEPTH, plain};
use crate::json::{is_true, list, member};
use crate::model::{Attachment, AttachmentKind};

/// A rich message as lines, and its files.
#[derive(Debug, Default)]
pub(super) struct Rich {
    lines: Vec<String>,
    pub(super) attachments: Vec<Attachment>,
}

/// Members of a block that are files.
const FILES: [(&str, AttachmentKind); 5] = [
    ("video", AttachmentKind::Video),
    ("animation", AttachmentKind::Video),
    ("audio", AttachmentKind::Audio),
    ("voice", AttachmentKind::Audio),
    ("document", AttachmentKind::File),
];

impl Rich {
    /// Reads the member `rich_message`.
    pub(super) fn of(message: &Value) -> Self {
        let mut rich = Self::default();
        rich.blocks(message, "", 0);
        if is_true(message, "part") {
            rich.lines.push("[The rest of this message is not in the export]".to_owned());
        }
        rich
    }

    pub(super) fn text(&self) -> String {
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
        self.line(before, block.get("title"));
        ["text", "formula", "source"].iter().for_each(|name| self.line(before, block.get(*name)));
        for item in list(block, "items") {
            self.item(item, before, depth);
        }
        for row in list(block, "rows") {
            let cells = row.get("cells").unwrap_or(row).as_array().into_iter().flatten();
            let cells: Vec<String> = cells.map(|cell| plain(cell).replace('\n', " ")).collect();
            self.lines.push(format!("{before}{}", cells.join(" | ")));
        }
        self.attachments.extend(media::attachments(block));
        let files = FILES.iter().filter_map(|(name, kind)| Some((member(block, name)?, *kind)));
        self.attachments.extend(files.map(|(path, kind)| media::attachment(kind, path, None)));
        self.blocks(block, before, depth + 1);
        if let Some(caption) = block.get("caption") {
            self.line(before, Some(caption));
            self.line(before, caption.get("credit"));
        }
    }

    fn item(&mut self, item: &Value, before: &str, depth: usize) {
        let mark = match member(item, "task_state") {
            Some("checked") => "[x] ",
            Some("unchecked") => "[ ] ",
            _ => "- ",
        };
        let start = self.lines.len();
        self.line(before, Some(item));
        self.blocks(item, &format!("{before}  "), depth + 1);
        if let Some(first) = self.lines.get_mut(start) {
            let words = first.strip_prefix(before).unwrap_or(first).trim_start().to_owned();
            *first = format!("{before}{mark}{words}");
        }
    }

    fn line(&mut self, before: &str, text: Option<&Value>) {
        let words = text.map(plain).unwrap_or_default();
        let lines = words.lines().filter(|line| !line.trim().is_empty());
        self.lines.extend(lines.map(|line| format!("{before}{line}")));
    }
}
