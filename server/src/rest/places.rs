//! `GET /universes/{id}/places`: where bodies are at a time.

use http::header::ETAG;
use http::{StatusCode, request};
use mcp_proto::budget::Client;

use super::Rest;
use super::answer::{self, Answer, Failure};
use super::read;
use crate::offload;
use crate::store::UniverseId;
use crate::view::{PlacesAsked, PlacesError, places};

/// The query parameters.
pub(super) const PARAMETERS: [&str; 6] = ["at", "bodies", "from", "separations", "limit", "cursor"];

impl Rest {
    /// Positions relative to `from`, and the angles between `separations`; without `bodies` a page of all.
    pub(super) async fn places(
        &self,
        head: &request::Parts,
        id: &UniverseId,
        client: &Client,
    ) -> Answer {
        let list = |name: &str| {
            let given = read::query(head, name)?;
            let ids = given.split(',').map(str::trim).filter(|id| !id.is_empty());
            Some(ids.map(str::to_owned).collect::<Vec<_>>())
        };
        let limit = read::number(head, "limit")?;
        let asked = PlacesAsked {
            at: read::query(head, "at"),
            bodies: list("bodies"),
            from: read::query(head, "from"),
            separations: list("separations"),
            limit: limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            after: read::query(head, "cursor"),
        };
        let universe = self.service.get(id).await?;
        let (revision, small) = (universe.revision, offload::is_small(&universe.state));
        let found = answer::worked_out(client, small, move || places(&universe, &asked));
        let found = found.await?.map_err(|error| {
            let status = match error {
                PlacesError::Unknown(_) => StatusCode::NOT_FOUND,
                PlacesError::NoEpoch(_) => StatusCode::UNPROCESSABLE_ENTITY,
                PlacesError::Invalid(_) => StatusCode::BAD_REQUEST,
            };
            Failure::new(status, error.to_string())
        })?;
        let mut response = answer::json_body(StatusCode::OK, &found);
        response.headers_mut().insert(ETAG, answer::etag(revision));
        Ok(response)
    }
}
