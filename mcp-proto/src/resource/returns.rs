//! What the handler of a resource may return.

use std::borrow::Cow;

use data_encoding::BASE64;
use serde::Serialize;

use super::{ReadResourceResult, not_found};
use crate::content::ResourceContents;
use crate::handler::Json;
use crate::interrupt::RequestError;

/// What the handler of a resource may return.
///
/// | type | contents |
/// |---|---|
/// | `String`, `&'static str`, `Cow<'static, str>` | this text |
/// | `Vec<u8>`, `&'static [u8]` | these bytes |
/// | [`Json<T>`](Json) | the JSON as text, by default of the media type `application/json` |
/// | `Option` of any of these | for `None` there is no such resource |
/// | `Result` of any of these with [`RequestError`] | that, or the error |
/// | [`ResourceContents`], and a `Vec` of them | these, made by the handler, such as those of a folder |
/// | [`ReadResourceResult`] | the whole result, made by the handler |
///
/// Text, bytes and JSON have the requested URI, and the media type with which the resource or the template was added.
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    label = "its handler returns `{Self}`",
    note = "to return it as JSON, return `Json<{Self}>`: that needs `serde::Serialize`",
    note = "a resource returns `String`, `&'static str`, `Vec<u8>`, `Json<T>`, `ResourceContents`, `ReadResourceResult`, or an `Option` or a `Result<_, RequestError>` of these"
)]
pub trait IntoResource: Sized {
    /// The result. `empty` has the requested URI and the media type, but no text and no bytes.
    ///
    /// # Errors
    /// Why there are no contents.
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError>;
}

impl IntoResource for ReadResourceResult {
    fn into_resource(self, _: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        Ok(self)
    }
}

impl IntoResource for ResourceContents {
    fn into_resource(self, _: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        Ok(self.into())
    }
}

impl IntoResource for Vec<ResourceContents> {
    fn into_resource(self, _: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        Ok(self.into())
    }
}

impl IntoResource for String {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        Ok(ResourceContents { text: Some(self), ..empty }.into())
    }
}

impl IntoResource for &'static str {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        self.to_owned().into_resource(empty)
    }
}

impl IntoResource for Cow<'static, str> {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        self.into_owned().into_resource(empty)
    }
}

impl IntoResource for &'static [u8] {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        Ok(ResourceContents { blob: Some(BASE64.encode(self)), ..empty }.into())
    }
}

impl IntoResource for Vec<u8> {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        Ok(ResourceContents { blob: Some(BASE64.encode(&self)), ..empty }.into())
    }
}

impl<T: Serialize> IntoResource for Json<T> {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        let text = Some(serde_json::to_string(&self.0)?);
        let mime_type = empty.mime_type.or_else(|| Some("application/json".to_owned()));
        Ok(ResourceContents { text, mime_type, ..empty }.into())
    }
}

impl<T: IntoResource> IntoResource for Option<T> {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        self.ok_or_else(|| not_found(&empty.uri))?.into_resource(empty)
    }
}

// For one type of errors alone, so that a closure need not name it.
impl<T: IntoResource> IntoResource for Result<T, RequestError> {
    fn into_resource(self, empty: ResourceContents) -> Result<ReadResourceResult, RequestError> {
        self?.into_resource(empty)
    }
}
