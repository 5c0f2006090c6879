//! `GET /universes/{id}.svg` and `.png`: a universe as a picture.

use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderValue, IF_NONE_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, Response, StatusCode, request};
use mcp_proto::budget::Client;
use mcp_proto::http::Encoding;

use super::Rest;
use super::answer::{self, Failure, RestBody};
use super::read;
use crate::picture::{self, Options, PictureError};
use crate::store::UniverseId;

/// A picture loads nothing and runs no scripts.
const POLICY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");

/// The format of the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Svg,
    Png,
}

impl Format {
    fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Svg => "image/svg+xml",
            Self::Png => "image/png",
        })
    }
}

impl Rest {
    /// The picture, with `width`, `height`, `time`, `theme` and `focus`. Its entity tag is made from the revision and
    /// these options.
    pub(super) async fn picture(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        format: Format,
        client: &Client,
    ) -> Result<Response<RestBody>, Failure> {
        let options = Options::read(|name| read::query(head, name));
        let options = options.map_err(|findings| Failure::findings("picture", &findings))?;
        let universe = self.service.get(id).await?;
        let tag = options.tag(universe.revision);
        let (status, body) = if let Some(same) = unchanged(head, &tag) {
            let mut response = answer::empty(StatusCode::NOT_MODIFIED);
            response.headers_mut().insert(ETAG, same);
            return Ok(response);
        } else if head.method == Method::HEAD {
            (StatusCode::OK, Vec::new())
        } else {
            let drawn = answer::worked_out(client, false, move || match format {
                Format::Svg => picture::svg(&universe, &options).map(String::into_bytes),
                Format::Png => picture::png(&universe, &options),
            });
            let drawn = drawn.await?.map_err(|error| {
                let status = match error {
                    PictureError::NoFocus { .. } => StatusCode::NOT_FOUND,
                    PictureError::NoEpoch(_) => StatusCode::UNPROCESSABLE_ENTITY,
                    PictureError::NotDrawn => return Failure::internal(&error),
                };
                Failure::new(status, error.to_string())
            })?;
            (StatusCode::OK, drawn)
        };
        let mut response = answer::json_text(status, body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, format.media_type());
        headers.insert(CONTENT_SECURITY_POLICY, POLICY);
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if let Ok(tag) = HeaderValue::from_str(&format!("\"{tag}\"")) {
            headers.insert(ETAG, tag);
        }
        Ok(response)
    }
}

/// The tag in `If-None-Match` that names this picture in any encoding, if there is one (RFC 9110 §13.1.2).
fn unchanged(head: &request::Parts, tag: &str) -> Option<HeaderValue> {
    let values = head.headers.get_all(IF_NONE_MATCH).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.find_map(|given| {
        let strong = given.strip_prefix("W/").unwrap_or(given);
        if strong == "*" {
            return HeaderValue::from_str(&format!("\"{tag}\"")).ok();
        }
        let text = strong.strip_prefix('"')?.strip_suffix('"')?;
        let encoded = |encoding: &Encoding| text.strip_suffix(encoding.as_str())?.strip_suffix('-');
        let plain = Encoding::ALL.iter().find_map(encoded).unwrap_or(text);
        (plain == tag).then(|| HeaderValue::from_str(strong).ok())?
    })
}
