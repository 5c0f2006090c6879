//! One exchange of a login, and what an authorization server says instead of a token.

use std::time::Duration;

use serde_json::Value;

use crate::probe::exchange::Exchange;
use crate::probe::http::{Raw, send};
use crate::target::Target;

/// One exchange with any URL.
pub(crate) async fn ask(url: &str, raw: Raw, timeout: Duration) -> Exchange {
    match Target::url(url) {
        Ok(target) => {
            let path = target.locate("/", "/");
            send(&target, raw.at(&path), timeout).await
        }
        Err(error) => Exchange::failed(error.to_string()),
    }
}

/// What an authorization server says instead (RFC 6749 §5.2).
pub(crate) fn reason(answer: &Exchange, answered: &Value) -> String {
    let text = |name: &str| answered.get(name).and_then(Value::as_str).map(str::to_owned);
    let said: Vec<_> = ["error", "error_description"].into_iter().filter_map(text).collect();
    match answer.status {
        Some(status) if !said.is_empty() => format!("status {status}, {}", said.join(": ")),
        _ => answer.outcome(),
    }
}
