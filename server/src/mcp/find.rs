//! Finding the universe that a request names, and saying so when there is none.

use mcp_proto::RequestError;
use mcp_proto::jsonrpc::ErrorObject;
use universe_core::nearest;

use super::address;
use crate::commands::{CommandService, ServiceError, Universe};
use crate::store::{MAX_PAGE, Page, UniverseId};

/// How many ids are told to a caller who named an unknown universe.
const TOLD_IDS: usize = 20;

/// A universe that a URI or an argument names.
pub(super) async fn universe(service: &CommandService, id: &str) -> Result<Universe, RequestError> {
    let known = known_id(service, id).await?;
    match service.get(&known).await {
        Ok(universe) => Ok(universe),
        Err(error) => Err(failure(service, id, error).await),
    }
}

/// An id given as a text, which may be one that nothing can have.
pub(super) async fn known_id(
    service: &CommandService,
    id: &str,
) -> Result<UniverseId, RequestError> {
    match UniverseId::new(id) {
        Ok(id) => Ok(id),
        Err(_) => Err(not_found(service, id).await),
    }
}

/// A failure of the service, as an answer to a request about a universe.
pub(super) async fn failure(
    service: &CommandService,
    id: &str,
    error: ServiceError,
) -> RequestError {
    match error {
        ServiceError::NotFound(_) => not_found(service, id).await,
        error => ErrorObject::new(ErrorObject::INTERNAL, about(id, &error)).into(),
    }
}

/// A failure that names the universe. Those of the store do not by themselves.
pub(super) fn about(id: &str, error: &ServiceError) -> String {
    let told = error.to_string();
    match told.contains(id) {
        true => told,
        false => format!("universe {id}: {told}"),
    }
}

async fn not_found(service: &CommandService, id: &str) -> RequestError {
    let known = known_ids(service, id).await;
    let shown: String = id.chars().take(UniverseId::MAX_LEN).collect();
    RequestError::not_found(format!(
        "universe not found: {shown}{}; reading {} lists the universes",
        known.hint,
        address::LIST
    ))
    .with_data("knownIds", known.ids)
}

/// Universes for a caller that named an unknown one.
pub(super) struct Known {
    /// Ids, at most [`TOLD_IDS`]: those that are near, by id or by name, then the newest.
    pub(super) ids: Vec<String>,
    /// `; did you mean A?`, or nothing.
    pub(super) hint: String,
}

/// What exists, the nearest to `unknown` first. Looks at the newest [`MAX_PAGE`] universes.
pub(super) async fn known_ids(service: &CommandService, unknown: &str) -> Known {
    let page = Page {
        after: None,
        limit: MAX_PAGE,
    };
    let known = service.list(page).await.unwrap_or_default();
    let ids = || known.iter().map(|record| record.meta.id.as_str());
    let mut near = nearest::nearest(unknown, ids());
    if near.is_empty() {
        let names = nearest::nearest(unknown, known.iter().map(|record| &*record.meta.name));
        let named = known
            .iter()
            .filter(|record| names.contains(&&*record.meta.name));
        near = named.map(|record| record.meta.id.as_str()).collect();
    }
    near.truncate(TOLD_IDS);
    let hint = match near.as_slice() {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(" or ")),
    };
    let others = ids().filter(|id| !near.contains(id));
    let ids = near.iter().copied().chain(others).take(TOLD_IDS);
    let ids = ids.map(str::to_owned).collect();
    Known { ids, hint }
}
