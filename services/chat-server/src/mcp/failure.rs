//! Failures of requests that take too long or do not match a schema.

use std::future::Future;

use mcp_proto::schema::Finding;
use mcp_proto::{RequestError, ToolError};
use serde_json::Value;

use super::REQUEST_TIMEOUT;
use crate::chat_service::Failure;

/// Arguments that do not match the schema of their tool get the same error as an invalid value.
pub(super) fn unfit(_tool: &str, _arguments: &Value, findings: &[Finding]) -> ToolError {
    let reasons: Vec<String> = findings
        .iter()
        .map(|Finding { path, message, .. }| match path.as_str() {
            "" => format!("invalid parameters: {message}"),
            path => format!("invalid parameter '{path}': {message}"),
        })
        .collect();
    ToolError::new("INVALID_PARAMETER", reasons.join("; "))
}

/// The answer to a request, unless it takes too long. Tools have their own limit.
pub(super) async fn in_time<T>(
    answer: impl Future<Output = Result<T, Failure>>,
) -> Result<T, RequestError> {
    let answered = tokio::time::timeout(REQUEST_TIMEOUT, answer).await;
    Ok(answered.unwrap_or_else(|_elapsed| Err(timeout()))?)
}

fn timeout() -> Failure {
    let advice = "it took longer than 60 seconds: ask for less, such as one chat or a shorter time";
    Failure::new("TIMEOUT", advice)
}
