//! The media type of a file, for networks that only give its name.

use crate::model::{Attachment, AttachmentPlace};

/// Media types by the ends of names: of what WhatsApp and Signal send (IANA's registry of media types).
const BY_END: [(&str, &str); 37] = [
    ("3gp", "video/3gpp"),
    ("aac", "audio/aac"),
    ("amr", "audio/AMR"),
    ("avi", "video/x-msvideo"),
    ("csv", "text/csv"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("doc", "application/msword"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("heic", "image/heic"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mkv", "video/matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("oga", "audio/ogg"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("ppt", "application/vnd.ms-powerpoint"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("vcf", "text/vcard"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xls", "application/vnd.ms-excel"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("zip", "application/zip"),
];

/// The media type of a file: from its source, or by the end of its name.
#[must_use]
pub fn media_type(attachment: &Attachment) -> Option<&str> {
    let by_name = |name: &str| {
        let (_, end) = name.rsplit_once('.')?;
        let known = |known: &&(&str, &str)| known.0.eq_ignore_ascii_case(end);
        BY_END.iter().find(known).map(|(_, media_type)| *media_type)
    };
    let said = attachment.media_type.as_deref();
    let path = match &attachment.place {
        AttachmentPlace::Export(path) => Some(path.as_str()),
        _ => None,
    };
    said.or_else(|| attachment.name.as_deref().and_then(by_name)).or_else(|| path.and_then(by_name))
}
