//! `GET /universes/{id}/tree`: a universe as an outline, a page at a time.

use http::header::{CONTENT_TYPE, ETAG, HeaderValue, LINK};
use http::{StatusCode, request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Rest;
use super::answer::{self, Answer, Failure};
use super::read;
use crate::offload;
use crate::store::UniverseId;
use crate::view::tree::{Cursor, Part, TreePage, tree};

/// The default number of entities on a page.
pub(super) const DEFAULT_LIMIT: u64 = 500;
/// The most entities on one page.
pub(super) const MAX_LIMIT: u64 = 10_000;

impl Rest {
    /// The outline as text, with `limit` and `cursor`. All pages show the revision of the first page.
    pub(super) async fn tree(&self, head: &request::Parts, id: &UniverseId) -> Answer {
        let limit = read::number(head, "limit")?.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let error = format!("limit must be a number from 1 to {MAX_LIMIT}");
            return Err(Failure::bad_request(error));
        }
        let cursor = match read::query(head, "cursor") {
            None => None,
            Some(cursor) => Some(Cursor::read(&cursor).ok_or_else(|| {
                Failure::bad_request(
                    "cursor must be the one of a Link header that this server gave",
                )
            })?),
        };
        let (universe, skip) = Cursor::begin(cursor, &self.service, id).await?;
        let revision = universe.revision;
        let small = offload::is_small(&universe.state);
        let room = usize::try_from(limit).unwrap_or(usize::MAX);
        let part = Part { skip, entities: room, ..Part::default() };
        let written = offload::run(small, None, move || tree(&universe, part)).await;
        let TreePage { text, next } = written.map_err(|error| Failure::internal(&error))?;
        let mut response = answer::json_text(StatusCode::OK, text.into_bytes());
        let headers = response.headers_mut();
        let text = HeaderValue::from_static("text/plain; charset=utf-8");
        headers.insert(CONTENT_TYPE, text);
        headers.insert(ETAG, answer::etag(revision));
        if let Some((cursor, _omitted)) = next {
            let id = utf8_percent_encode(id.as_str(), NON_ALPHANUMERIC);
            let next =
                format!("</universes/{id}/tree?limit={limit}&cursor={cursor}>; rel=\"next\"");
            if let Ok(next) = HeaderValue::from_str(&next) {
                headers.insert(LINK, next);
            }
        }
        Ok(response)
    }
}
