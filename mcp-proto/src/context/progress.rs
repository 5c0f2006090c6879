//! What a request that wants to hear of its progress is told (MCP "Progress"): numbers that only grow.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value};

/// The token of a request and how far its reports have come.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) token: Value,
    /// The bits of the last number that was told.
    last: AtomicU64,
}

impl Progress {
    /// `None` where the request asks for none. A token that is no string and no integer counts as none.
    pub(super) fn wanted(meta: &Map<String, Value>) -> Option<Arc<Self>> {
        let token = meta
            .get("progressToken")
            .filter(|token| token.is_string() || token.is_i64() || token.is_u64())?;
        Some(Arc::new(Self {
            token: token.clone(),
            last: AtomicU64::new(f64::NEG_INFINITY.to_bits()),
        }))
    }

    /// Whether a number is greater than all before it; remembers it if so. Not a number never is.
    pub(super) fn grows(&self, progress: f64) -> bool {
        let grows = |last: u64| (progress > f64::from_bits(last)).then(|| progress.to_bits());
        progress.is_finite()
            && self
                .last
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, grows)
                .is_ok()
    }
}
