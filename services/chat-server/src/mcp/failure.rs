//! Failures in MCP: tool errors, and JSON-RPC errors with `data.code`.

use std::future::Future;

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{Finding, RequestError, ToolError};
use serde_json::Value;

use super::REQUEST_TIMEOUT;
use crate::chat_service::Failure;

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
        let error = match (failure.is_not_found(), failure.is_invalid()) {
            (true, _) => Self::not_found(failure.message),
            (_, true) => Self::invalid_params(failure.message),
            _ => ErrorObject::new(ErrorObject::INTERNAL, failure.message).into(),
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

/// Arguments that do not match the schema of their tool get the same error as an invalid value.
pub(super) fn unfit(_tool: &str, _arguments: &Value, findings: &[Finding]) -> ToolError {
    let reasons: Vec<String> = findings
        .iter()
        .map(|finding| format!("invalid parameter '{}': {}", finding.path, finding.message))
        .collect();
    ToolError::new("INVALID_PARAMETER", reasons.join("; "))
}

/// The answer to a request, unless it takes too long. Tools have their own limit.
pub(super) async fn in_time<T>(
    answer: impl Future<Output = Result<T, Failure>>,
) -> Result<T, RequestError> {
    let answered = tokio::time::timeout(REQUEST_TIMEOUT, answer).await;
    Ok(answered.unwrap_or_else(|_elapsed| Err(Failure::timeout()))?)
}
