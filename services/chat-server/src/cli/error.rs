//! Errors of commands.

use std::io;

use mcp_proto::BuildError;
use service_host::{Fault, HostError};

use crate::chat_service::Failure;
use crate::config::ConfigError;
use crate::index::IndexError;

/// Why a command failed, in a sentence for its user.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// No configuration was found; holds an example of one.
    #[error("{0}")]
    NoConfig(String),
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The request cannot be answered.
    #[error("{}{}", .0, among(.0))]
    Asked(Failure),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
    /// The answer cannot be written.
    #[error("cannot write the answer: {0}")]
    Write(#[from] io::Error),
    /// The server cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The server cannot be served.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::Asked(failure)
    }
}

impl CliError {
    /// Whether the arguments are at fault, and not the data.
    pub(super) fn is_usage(&self) -> bool {
        matches!(self, Self::Asked(failure) if failure.fault == Fault::Invalid)
    }
}

/// The names that may have been meant.
fn among(failure: &Failure) -> String {
    let lists = ["sources", "candidates", "nearest"];
    let named = |value: &serde_json::Value| match value.as_str() {
        Some(id) => Some(id.to_owned()),
        None => Some(format!(
            "{}:{} ({})",
            value.get("source")?.as_str()?,
            value.get("id")?.as_str()?,
            value.get("name")?.as_str()?
        )),
    };
    let names: Vec<String> = lists
        .into_iter()
        .filter_map(|list| failure.data.get(list)?.as_array())
        .flatten()
        .filter_map(named)
        .collect();
    if names.is_empty() { String::new() } else { format!("; there is {}", names.join(", ")) }
}
