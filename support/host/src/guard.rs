//! Authorization and audit records of calls, the same for every server of a program.

use mcp_proto::{Operation, OperationError, Scopes, ServerBuilder};

use crate::endpoint::{READ, WRITE};

/// Requires `read` or `write` of callers with known scopes, by the annotations of the tools, and writes a line into the
/// log, at level info under the target `audit`, for each call of a tool that may write: answered, cancelled, or refused
/// for its caller's scopes.
pub fn guard<S: Clone + Send + Sync + 'static>(builder: ServerBuilder<S>) -> ServerBuilder<S> {
    builder.scopes_by_annotation(&Scopes::of([READ]), &Scopes::of([WRITE])).observe(audit)
}

/// Writes the line of [`guard`] about a request, if it is a call of a tool that may write: for servers that observe
/// their requests themselves.
pub fn audit(operation: &Operation) {
    if !operation.writes {
        return;
    }
    let outcome = match operation.error {
        None if operation.asks => "asked the client".to_owned(),
        None => "done".to_owned(),
        Some(OperationError::Code(code)) => format!("error {code}"),
        Some(OperationError::Tool) => "failed".to_owned(),
        Some(other) => other.to_string(),
    };
    tracing::info!(
        target: "audit",
        caller = operation.principal.as_deref().unwrap_or("(not asked)"),
        tool = operation.tool,
        outcome,
        milliseconds = u64::try_from(operation.duration.as_millis()).unwrap_or(u64::MAX),
        "write"
    );
}
