//! Pages of the history, and undoing the changes after a revision.

use http::header::{HeaderValue, LINK};
use http::{StatusCode, request};
use universe_core::{Findings, nearest};

use super::Rest;
use super::answer::{self, Answer, Failure};
use super::read::{self, Received};
use crate::store::UniverseId;
use crate::view::history::{DEFAULT_LIMIT, PageError, page};

impl Rest {
    /// `GET /universes/{id}/history` with `after` and `limit`: commands with their events, the oldest first.
    pub(super) async fn history(&self, head: &request::Parts, id: &UniverseId) -> Answer {
        let (after, limit) = (read::number(head, "after")?, read::number(head, "limit")?);
        let page = match page(&self.service, id, after, limit).await {
            Ok(page) => page,
            Err(PageError::Asked(problem)) => return Err(Failure::bad_request(problem)),
            Err(PageError::Service(error)) => return Err(error.into()),
        };
        let internal = || Failure::internal(&std::fmt::Error);
        let text = page.write(id, |next| next).ok_or_else(internal)?;
        let mut response = answer::json_text(StatusCode::OK, text.get().as_bytes().to_vec());
        if let Some(next) = page.next {
            let limit = limit.unwrap_or(DEFAULT_LIMIT);
            let next =
                format!("</universes/{id}/history?after={next}&limit={limit}>; rel=\"next\"");
            if let Ok(next) = HeaderValue::from_str(&next) {
                response.headers_mut().insert(LINK, next);
            }
        }
        Ok(response)
    }

    /// `POST /universes/{id}/undo` with `{revision}`: sets the state of that revision again, as a new revision.
    pub(super) async fn undo(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        body: Received,
    ) -> Answer {
        let expected = read::if_match(head)?;
        let given = body.parse(read::json).await?;
        let mut names = given.as_object().into_iter().flat_map(|it| it.keys());
        if let Some(name) = names.find(|name| *name != "revision") {
            let hint = nearest::hint(name, ["revision"]);
            return Err(Failure::bad_request(format!(
                "{name:?} is not a member of the body, which must be {{\"revision\": N}}{hint}"
            )));
        }
        let revision = given.get("revision").and_then(read::revision);
        let revision = revision.ok_or_else(|| {
            Failure::bad_request("the body must be {\"revision\": N}, the revision to go back to")
        })?;
        let universe = self.service.undo(id, revision, expected).await?;
        answer::universe(StatusCode::OK, universe, Findings::default()).await
    }
}
