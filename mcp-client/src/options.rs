//! The options of a single call.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Options of a single call. The defaults are those of the configuration.
#[derive(Clone, Default)]
#[non_exhaustive]
#[must_use]
pub struct CallOptions {
    /// How long the answer may take, without the time that callbacks and log-ins take;
    /// [`ClientConfig::timeout`](super::ClientConfig::timeout) by default.
    pub timeout: Option<Duration>,
    /// Each progress report restarts the time limit, up to this long in all. `None`, the default: they do not.
    pub max_timeout: Option<Duration>,
    /// More members of the request's `_meta`, such as `traceparent`.
    pub meta: Map<String, Value>,
    pub(super) progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

/// The progress of a call (schema: `ProgressNotificationParams`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// How much is done; grows with each report.
    pub progress: f64,
    /// How much there is to do, if the server knows.
    pub total: Option<f64>,
    /// What is being done, in words.
    pub message: Option<String>,
}

impl Progress {
    /// Progress without a total and a message.
    pub fn new(progress: f64) -> Self {
        Self { progress, total: None, message: None }
    }
}

impl CallOptions {
    /// The same with another time limit.
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The same, and each progress report restarts the time limit, up to this long in all.
    pub fn with_max_timeout(mut self, max: Duration) -> Self {
        self.max_timeout = Some(max);
        self
    }

    /// The same with a member of the request's `_meta`.
    pub fn with_meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.insert(name.into(), value.into());
        self
    }

    /// Asks the server for progress and sets the callback for each report. The callback must not block.
    pub fn with_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }
}

impl fmt::Debug for CallOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallOptions")
            .field("timeout", &self.timeout)
            .field("max_timeout", &self.max_timeout)
            .field("meta", &self.meta)
            .field("progress", &self.progress.is_some())
            .finish()
    }
}
