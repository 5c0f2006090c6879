//! `GET /universes/{id}.svg` and `.png`: a universe as a picture.

use http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use http::{Method, StatusCode, request};
use mcp_proto::budget::Client;

use super::Rest;
use super::answer::{self, Answer, Failure};
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
    ) -> Answer {
        let options = Options::read(|name| read::query(head, name));
        let options = options.map_err(|findings| Failure::findings("picture", &findings))?;
        let universe = self.service.get(id).await?;
        let tag = options.tag(universe.revision);
        let body = if let Some(unchanged) = read::unchanged(head, &tag) {
            return Ok(unchanged);
        } else if head.method == Method::HEAD {
            Vec::new()
        } else {
            let drawn = answer::worked_out(client, false, move || match format {
                Format::Svg => picture::svg(&universe, &options).map(String::into_bytes),
                Format::Png => picture::png(&universe, &options),
            });
            drawn.await?.map_err(|error| {
                let status = match error {
                    PictureError::NoFocus { .. } => StatusCode::NOT_FOUND,
                    PictureError::NoEpoch(_) => StatusCode::UNPROCESSABLE_ENTITY,
                    PictureError::NotDrawn => return Failure::internal(&error),
                };
                Failure::new(status, error.to_string())
            })?
        };
        let mut response = answer::json_text(StatusCode::OK, body);
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
