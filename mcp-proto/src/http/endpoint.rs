//! What all requests of one service share: the server, the bounds, and the permits that keep them.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::config::HttpConfig;
use super::rejection::Rejection;
use crate::server::Server;

/// The server behind a service, and what its requests have in common.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) server: Server,
    pub(crate) config: HttpConfig,
    /// A permit for each call that may run.
    calls: Arc<Semaphore>,
    /// A permit for each byte of bodies that may be held.
    pub(super) body_memory: Arc<Semaphore>,
}

impl Endpoint {
    pub(super) fn new(server: Server, config: HttpConfig) -> Self {
        let permits = |max: usize| Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
        Self {
            calls: permits(config.max_calls),
            body_memory: permits(config.max_buffered_bytes),
            server,
            config,
        }
    }

    /// The permit of one more call.
    pub(crate) fn permit(&self) -> Result<OwnedSemaphorePermit, Rejection> {
        Arc::clone(&self.calls)
            .try_acquire_owned()
            .map_err(|_| Rejection::ServiceBusy(self.config.max_calls))
    }
}
