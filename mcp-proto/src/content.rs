//! Content blocks, annotations and icons: shared by tools, prompts and resources.

mod base64;
mod icon;
mod resource;

use data_encoding::BASE64;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use base64::Base64;
pub(crate) use icon::check_icons;
pub use icon::{Icon, IconTheme};
pub use resource::Resource;

/// A piece of content (schema: `ContentBlock`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[must_use]
pub enum ContentBlock {
    /// Text for the model.
    Text(TextContent),
    /// An image.
    Image(MediaContent),
    /// Audio.
    Audio(MediaContent),
    /// A resource the client may read.
    ResourceLink(Resource),
    /// A resource's contents, embedded.
    Resource(EmbeddedResource),
}

/// Text (schema: `TextContent`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// An image or audio (schema: `ImageContent`, `AudioContent`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MediaContent {
    /// The bytes in Base64 (RFC 4648 §4).
    pub data: String,
    /// Media type, such as `image/png`.
    pub mime_type: String,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// An embedded resource (schema: `EmbeddedResource`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// The contents of a resource: exactly one of `text` and `blob` (schema: `ResourceContents`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceContents {
    /// Its URI.
    pub uri: String,
    /// Media type, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The text of a text resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The bytes of a binary resource in Base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// Hints about a piece of content (schema: `Annotations`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct Annotations {
    /// The intended audience.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<Role>,
    /// From 0 (optional) to 1 (required).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// ISO 8601 time of the last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// The author of a message, or the audience of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent { text: text.into(), annotations: None, meta: None })
    }

    /// An image: its bytes, which become Base64 here, and its media type such as `image/png`.
    pub fn image(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Image(MediaContent::new(bytes.as_ref(), mime_type.into()))
    }

    /// Audio: its bytes, which become Base64 here, and its media type such as `audio/wav`.
    pub fn audio(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
        Self::Audio(MediaContent::new(bytes.as_ref(), mime_type.into()))
    }

    /// A resource that the client may read.
    pub fn resource_link(resource: Resource) -> Self {
        Self::ResourceLink(resource)
    }

    /// The contents of a resource.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource { resource: contents, annotations: None, meta: None })
    }

    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }

    /// The same with hints for the client.
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        *self.extras().0 = Some(annotations);
        self
    }

    /// The same with metadata.
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        *self.extras().1 = Some(meta);
        self
    }

    /// The members that every kind of block has in addition to its content.
    fn extras(&mut self) -> (&mut Option<Annotations>, &mut Option<Map<String, Value>>) {
        match self {
            Self::Text(text) => (&mut text.annotations, &mut text.meta),
            Self::Image(media) | Self::Audio(media) => (&mut media.annotations, &mut media.meta),
            Self::ResourceLink(link) => (&mut link.annotations, &mut link.meta),
            Self::Resource(embedded) => (&mut embedded.annotations, &mut embedded.meta),
        }
    }

    /// About how many bytes it has.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.text.len(),
            Self::Image(media) | Self::Audio(media) => media.data.len(),
            Self::ResourceLink(_) => 0,
            Self::Resource(embedded) => embedded.resource.size(),
        }
    }
}

impl MediaContent {
    fn new(bytes: &[u8], mime_type: String) -> Self {
        Self { data: BASE64.encode(bytes), mime_type, annotations: None, meta: None }
    }
}

impl ResourceContents {
    /// The text of the resource at `uri`.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), text: Some(text.into()), ..Self::empty(None) }
    }

    /// The bytes of the resource at `uri`, which become Base64 here.
    pub fn blob(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        let blob = Some(BASE64.encode(bytes.as_ref()));
        Self { uri: uri.into(), blob, ..Self::empty(None) }
    }

    /// The same with a media type such as `text/plain`.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// The same with metadata.
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// About how many bytes it has.
    pub(crate) fn size(&self) -> usize {
        [&self.text, &self.blob].into_iter().flatten().map(String::len).sum()
    }

    /// No contents, of no resource yet.
    pub(crate) fn empty(mime_type: Option<String>) -> Self {
        Self { uri: String::new(), mime_type, text: None, blob: None, meta: None }
    }
}

impl Annotations {
    /// The same for this audience.
    pub fn with_audience(mut self, audience: impl Into<Vec<Role>>) -> Self {
        self.audience = audience.into();
        self
    }

    /// The same with a priority from 0 (optional) to 1 (required), to which values outside are clamped; NaN sets no
    /// priority.
    pub fn with_priority(mut self, priority: f64) -> Self {
        self.priority = (!priority.is_nan()).then(|| priority.clamp(0.0, 1.0));
        self
    }

    /// The same with the ISO 8601 time of the last change.
    pub fn with_last_modified(mut self, last_modified: impl Into<String>) -> Self {
        self.last_modified = Some(last_modified.into());
        self
    }
}
