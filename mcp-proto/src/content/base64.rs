//! Bytes as a member of arguments and results.

use std::borrow::Cow;

use data_encoding::{BASE64, BASE64_NOPAD};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes that are a text in Base64 on the wire (RFC 4648 §4), and published as such: a string with
/// `contentEncoding: base64`. Read with or without padding, written with it.
///
/// ```
/// use mcp_proto::Base64;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Upload {
///     /// The file.
///     data: Base64,
/// }
///
/// let upload: Upload = serde_json::from_str(r#"{ "data": "aGk=" }"#)?;
/// assert_eq!(*upload.data, *b"hi");
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Base64(pub Vec<u8>);

impl std::ops::Deref for Base64 {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Base64 {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl From<Base64> for Vec<u8> {
    fn from(bytes: Base64) -> Self {
        bytes.0
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<'de, str>::deserialize(deserializer)?;
        let bare = text.trim_end_matches('=');
        let decoded = if bare.len() == text.len() {
            BASE64_NOPAD.decode(bare.as_bytes())
        } else {
            BASE64.decode(text.as_bytes())
        };
        decoded.map(Self).map_err(|problem| {
            de::Error::custom(format!(
                "the text is not Base64 (RFC 4648 §4: A-Z a-z 0-9 + / and = at the end): {problem}"
            ))
        })
    }
}

impl JsonSchema for Base64 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Base64".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}
