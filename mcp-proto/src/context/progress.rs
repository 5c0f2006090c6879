//! Progress notifications of a request that asks for them (MCP "Progress"): numbers that only grow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

/// The longest token that is accepted, in bytes. Every report contains it, and many reports may wait for a client that
/// does not read.
const MAX_TOKEN_BYTES: usize = 1_024;

/// The token of a request, and the last number that was reported.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) token: Value,
    /// The bits of the last number that was sent.
    last: AtomicU64,
}

impl Progress {
    /// `None` if the request does not ask for progress. A token that is neither a string nor an integer, or is too
    /// long, is ignored.
    pub(super) fn wanted(meta: &Map<String, Value>) -> Option<Arc<Self>> {
        let token = meta.get("progressToken").filter(|token| match token {
            Value::String(text) => text.len() <= MAX_TOKEN_BYTES,
            token => token.is_i64() || token.is_u64(),
        })?;
        Some(Arc::new(Self {
            token: token.clone(),
            last: AtomicU64::new(f64::NEG_INFINITY.to_bits()),
        }))
    }

    /// Whether a number is greater than all before it; remembers it if so. NaN never is.
    pub(super) fn grows(&self, progress: f64) -> bool {
        let grows = |last: u64| (progress > f64::from_bits(last)).then(|| progress.to_bits());
        progress.is_finite()
            && self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grows).is_ok()
    }
}
