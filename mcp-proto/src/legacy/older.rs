//! Content for clients of older revisions, whose kinds of content are a closed list. Content of an unknown kind is
//! expressed by a kind that the client knows. Members that a revision adds to a kind are kept, since older clients
//! ignore them.

use std::borrow::Cow;
use std::fmt::Write as _;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use sha2::{Digest as _, Sha256};

use crate::content::{
    ContentBlock, EmbeddedResource, MediaContent, Resource, ResourceContents, TextContent,
};
use crate::prompt::GetPromptResult;
use crate::version::ProtocolVersion;

/// Content in the kinds that a revision defines. Costs nothing from 2025-06-18 on.
pub(crate) fn for_version(
    content: &[ContentBlock],
    version: ProtocolVersion,
) -> Cow<'_, [ContentBlock]> {
    if version >= ProtocolVersion::V2025_06_18 {
        return Cow::Borrowed(content);
    }
    let known = content.iter().map(|known| block(known, version).unwrap_or_else(|| known.clone()));
    Cow::Owned(known.collect())
}

/// A prompt in the content of a revision.
pub(crate) fn prompt(mut prompt: GetPromptResult, version: ProtocolVersion) -> GetPromptResult {
    for message in &mut prompt.messages {
        if let Some(older) = block(&message.content, version) {
            message.content = older;
        }
    }
    prompt
}

/// The replacement of a block for clients of a revision that does not define its kind. `None` if the revision defines
/// it.
///
/// - A sound (since 2025-03-26) becomes an embedded resource with the same bytes. Its URI is derived from them, so that
///   it names nothing else: `ni:///sha-256;…` (RFC 6920).
/// - A link (since 2025-06-18) becomes text: name, URI in angle brackets, media type and description.
fn block(block: &ContentBlock, version: ProtocolVersion) -> Option<ContentBlock> {
    match block {
        ContentBlock::Audio(sound) if version < ProtocolVersion::V2025_03_26 => {
            Some(ContentBlock::Resource(embedded(sound)))
        }
        ContentBlock::ResourceLink(link) if version < ProtocolVersion::V2025_06_18 => {
            Some(ContentBlock::Text(link_text(link)))
        }
        _ => None,
    }
}

fn embedded(sound: &MediaContent) -> EmbeddedResource {
    let data = sound.data.as_bytes();
    // Data that is not Base64 is hashed unchanged.
    let bytes = BASE64.decode(data).unwrap_or_else(|_| data.to_vec());
    let name = BASE64URL_NOPAD.encode(&Sha256::digest(&bytes));
    EmbeddedResource {
        resource: ResourceContents {
            uri: format!("ni:///sha-256;{name}"),
            mime_type: Some(sound.mime_type.clone()),
            text: None,
            blob: Some(sound.data.clone()),
            meta: None,
        },
        annotations: sound.annotations.clone(),
        meta: sound.meta.clone(),
    }
}

fn link_text(link: &Resource) -> TextContent {
    let name = link.title.as_deref().unwrap_or(&link.name);
    let mut text = format!("{name} <{}>", link.uri);
    // Writing to a string cannot fail.
    if let Some(mime_type) = &link.mime_type {
        let _ = write!(text, " ({mime_type})");
    }
    if let Some(description) = &link.description {
        let _ = write!(text, ": {description}");
    }
    TextContent { text, annotations: link.annotations.clone(), meta: link.meta.clone() }
}
