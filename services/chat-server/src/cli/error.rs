//! Errors of commands: any error, in a sentence for its user.

use std::io;
use std::process::ExitCode;

use service_host::{Fault, complain};

use super::PROGRAM;
use crate::chat_service::Failure;

/// Why a command failed.
pub(super) type CliError = Box<dyn std::error::Error + Send + Sync>;

/// A request that cannot be answered.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Asked(pub(super) Failure);

/// Says on stderr why a command failed. 2 if the arguments are at fault, and not the data.
pub(super) fn code_of(error: &CliError) -> ExitCode {
    if let Some(Asked(failure)) = error.downcast_ref::<Asked>() {
        complain(&format!("{PROGRAM}: {failure}{}", among(failure)));
        let is_usage = failure.fault == Fault::Invalid;
        return if is_usage { ExitCode::from(2) } else { ExitCode::FAILURE };
    }
    match error.downcast_ref::<io::Error>() {
        // The reader of stdout has closed it.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Some(error) => complain(&format!("{PROGRAM}: cannot write the answer: {error}")),
        None => complain(&format!("{PROGRAM}: {error}")),
    }
    ExitCode::FAILURE
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
