//! The folder of a chat, and its contents.

use crate::model::{Attachment, AttachmentKind, AttachmentPlace};

/// The folder of a chat in that of the export.
#[derive(Debug)]
pub(super) struct Folder {
    /// The prefix that turns its paths into paths of the export.
    pub(super) prefix: String,
    /// The same for files next to the chat's folder; `None` if only that folder exists.
    beside: Option<String>,
}

impl Folder {
    /// The folder `below` of the export, with a slash after it; `prefix` is put before all paths.
    pub(super) fn new(prefix: &str, below: &str) -> Self {
        let parent = below.strip_suffix('/').map(|below| below.rfind('/').map_or(0, |at| at + 1));
        Self {
            prefix: format!("{prefix}{below}"),
            beside: parent.map(|end| format!("{prefix}{}", known_range::text(below, ..end))),
        }
    }

    /// The path, in the export, of a file of this name; `written` is the path in the chat's folder, with `%20` for
    /// each blank.
    pub(super) fn path(&self, name: &str, written: &str) -> String {
        let named = format!("media/{name}");
        let path = if named.replace(char::is_whitespace, "%20") == written {
            named
        } else {
            written.replace("%20", " ")
        };
        format!("{}{path}", self.prefix)
    }

    /// A sticker with its label and its path among the stickers, which are next to the chats.
    pub(super) fn sticker(&self, label: Option<&str>, path: Option<&str>) -> Attachment {
        let place = match (path, &self.beside) {
            (Some(path), Some(beside)) => {
                AttachmentPlace::Export(format!("{beside}exported_stickers/{path}"))
            }
            _ => AttachmentPlace::Missing(None),
        };
        Attachment::new(AttachmentKind::Sticker, label.map(str::to_owned), place)
    }
}
