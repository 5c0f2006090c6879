//! Errors that are the same for tools, resources, prompts and completion.

use serde_json::json;

pub(super) use service_host::Failure;

use crate::project::ProjectError;
use crate::view::Missing;

/// The code if no project is found.
pub(super) const NO_PROJECT: &str = "NO_PROJECT";

/// An internal error of the server, with details for its log.
pub(super) fn internal(problem: &dyn std::fmt::Display) -> Failure {
    tracing::error!(%problem, "a request failed");
    Failure::new("INTERNAL_ERROR", "it failed; the server's log has the details")
}

/// The error for a missing project.
pub(super) fn no_project(error: &ProjectError) -> Failure {
    Failure::new(NO_PROJECT, error.to_string())
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        let data = json!({ "nearest": missing.nearest });
        Self::not_found(missing.code, missing.to_string()).with_data(data)
    }
}
