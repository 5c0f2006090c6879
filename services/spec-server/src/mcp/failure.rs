//! Errors that are the same for tools, resources, prompts and completion.

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{RequestError, ToolError};
use serde_json::{Value, json};

use crate::project::ProjectError;
use crate::view::{Budget, Missing};

/// The longest error message.
const MESSAGE: Budget = Budget(2_000);

/// A failure that a model can act on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    /// In `UPPER_SNAKE`.
    code: &'static str,
    /// What is wrong and how to fix it.
    message: String,
    /// Details for programs.
    data: Value,
}

/// The code if no project is found.
pub(super) const NO_PROJECT: &str = "NO_PROJECT";

impl Failure {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        // The message repeats a client's input, which may be of any length.
        let (message, _) = MESSAGE.beginning(&message.into());
        Self { code, message, data: Value::Null }
    }

    pub(super) fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    /// An internal error of the server, with details for its log.
    pub(super) fn internal(problem: &dyn std::fmt::Display) -> Self {
        tracing::error!(%problem, "a request failed");
        Self::new("INTERNAL_ERROR", "it failed; the server's log has the details")
    }

    /// The error for a missing project.
    pub(super) fn no_project(error: &ProjectError) -> Self {
        Self::new(NO_PROJECT, error.to_string())
    }

    /// The error code for programs.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    /// The message for people and models.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Whether the error means that something does not exist, from a client's view.
    pub(super) fn is_not_found(&self) -> bool {
        self.code.ends_with("_NOT_FOUND") || self.code == "INVALID_ID"
    }
}

impl From<Missing> for Failure {
    fn from(missing: Missing) -> Self {
        let message = missing.to_string();
        let (code, nearest) = match missing {
            Missing::Requirement { nearest, .. } => ("REQUIREMENT_NOT_FOUND", nearest),
            Missing::Scenario { nearest, .. } => ("SCENARIO_NOT_FOUND", nearest),
        };
        Self::new(code, message).with_data(json!({ "nearest": nearest }))
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let error = Self::new(failure.code, failure.message);
        match failure.data {
            Value::Null => error,
            data => error.with_data(data),
        }
    }
}

impl From<Failure> for RequestError {
    fn from(failure: Failure) -> Self {
        let error = match failure.is_not_found() {
            true => Self::not_found(failure.message),
            false => ErrorObject::new(ErrorObject::INTERNAL, failure.message).into(),
        };
        let error = error.with_data("code", failure.code);
        match failure.data {
            Value::Object(members) => {
                members.into_iter().fold(error, |error, (name, value)| error.with_data(name, value))
            }
            _ => error,
        }
    }
}
