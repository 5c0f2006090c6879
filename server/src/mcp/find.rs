//! Finding the universe that a request names, and the error if it does not exist.

use mcp_proto::RequestError;
use mcp_proto::jsonrpc::ErrorObject;

use super::address;
use crate::commands::{CommandService, ServiceError, Universe};
use crate::store::UniverseId;
use crate::view::NearbyUniverses;

/// A universe that a URI or an argument names.
pub(super) async fn universe(service: &CommandService, id: &str) -> Result<Universe, RequestError> {
    let known = known_id(service, id).await?;
    match service.get(&known).await {
        Ok(universe) => Ok(universe),
        Err(error) => Err(failure(service, id, error).await),
    }
}

/// Parses an id, which may be a text that cannot be an id.
pub(super) async fn known_id(
    service: &CommandService,
    id: &str,
) -> Result<UniverseId, RequestError> {
    match UniverseId::new(id) {
        Ok(id) => Ok(id),
        Err(_) => Err(not_found(service, id).await),
    }
}

/// The error of a request about a universe, made from an error of the service.
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

/// An error message with the id of the universe, which the errors of the store do not have.
pub(super) fn about(id: &str, error: &ServiceError) -> String {
    let message = error.to_string();
    if message.contains(id) { message } else { format!("universe {id}: {message}") }
}

async fn not_found(service: &CommandService, id: &str) -> RequestError {
    let known = NearbyUniverses::near(service, id).await;
    let shown: String = id.chars().take(UniverseId::MAX_LEN).collect();
    RequestError::not_found(format!(
        "universe not found: {shown}{}; reading {} lists the universes",
        known.hint,
        address::LIST
    ))
    .with_data("knownIds", known.ids)
}
