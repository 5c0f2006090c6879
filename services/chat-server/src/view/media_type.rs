//! The media type of a file, for networks that only give its name.

use crate::model::{Attachment, AttachmentPlace, media_type_of};

/// The media type of a file: from its source, or by the end of its name.
pub fn media_type(attachment: &Attachment) -> Option<&str> {
    let path = match &attachment.place {
        AttachmentPlace::Export(path) => Some(path),
        _ => None,
    };
    let names = attachment.name.iter().chain(path);
    let by_name = || names.into_iter().find_map(|name| media_type_of(name));
    attachment.media_type.as_deref().or_else(by_name)
}
