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
            beside: parent.map(|end| format!("{prefix}{}", below.get(..end).unwrap_or_default())),
        }
    }

    /// The path, in the export, of a file of this name; `written` is the path in the chat's folder, with `%20` for
    /// each blank.
    pub(super) fn path(&self, name: &str, written: &str) -> String {
        let named = format!("media/{name}");
        let path = match named.replace(char::is_whitespace, "%20") == written {
            true => named,
            false => written.replace("%20", " "),
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
        Attachment {
            kind: AttachmentKind::Sticker,
            name: label.map(str::to_owned),
            media_type: None,
            size: None,
            seconds: None,
            place,
        }
    }
}

/// The kind of a file, by the end of its name.
pub(in crate::import) fn kind_of(name: &str) -> AttachmentKind {
    let end = name.rsplit_once('.').map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        Some(
            "jpg" | "jpeg" | "jfif" | "png" | "apng" | "gif" | "heic" | "heif" | "avif" | "bmp"
            | "tif" | "tiff" | "svg",
        ) => AttachmentKind::Image,
        Some("webp" | "was") => AttachmentKind::Sticker,
        Some("mp4" | "m4v" | "mov" | "qt" | "3gp" | "mkv" | "webm" | "avi" | "mpeg") => {
            AttachmentKind::Video
        }
        Some("opus" | "ogg" | "oga" | "m4a" | "mp3" | "aac" | "wav" | "amr" | "flac") => {
            AttachmentKind::Audio
        }
        _ => AttachmentKind::File,
    }
}
