//! The configuration of sessions over HTTP, and its defaults.

use std::time::Duration;

use crate::budget::{Bound, Kind};

/// The bounds of the revisions up to 2025-11-25 over HTTP: sessions, calls without their clients, resumable streams.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LegacyConfig {
    /// The most calls of one legacy session that run at once; one more gets 429. 1,024 by default.
    pub max_calls_per_session: usize,
    /// The most running calls whose legacy clients have disconnected; one more is cancelled. 1,024 by default.
    pub detached_calls: Bound,
    /// The most of these that belong to one session. 16 by default.
    pub max_detached_calls_per_session: usize,
    /// How long a call may continue after its legacy client has disconnected. 30 minutes by default.
    pub max_detached_time: Duration,
    /// How long such a call may still run once [`StreamableHttpService::close`](crate::StreamableHttpService::close)
    /// was called. 5 s by default, as the shutdown deadline of [`serve`](crate::http::serve).
    pub max_detached_time_after_close: Duration,
    /// The most events of one legacy stream that are kept for a client that reconnects (`Last-Event-ID`); older ones
    /// are forgotten. 256 by default.
    pub max_kept_events: usize,
    /// The most bytes of these events. The last event is always kept, since it may be the answer. 1 MiB by default.
    pub max_kept_bytes_per_stream: usize,
    /// The most bytes of kept events. When it is reached, streams without a reader are dropped in favor of the same
    /// client's other streams, oldest first; after that no more events are kept. Events that open connections have yet
    /// to read, at most 16 messages each, are never dropped for this. 64 MiB by default.
    pub kept_bytes: Bound,
    /// Streams that are kept without a connection: those whose calls have ended, and GET streams. One more replaces the
    /// oldest of its client. 1,024 by default.
    pub kept_streams: Bound,
    /// The most of these that belong to one session. 16 by default.
    pub max_kept_streams_per_session: usize,
    /// How long a stream is kept after the end of its calls, in the [`EventStore`](crate::session::EventStore) too. 5
    /// minutes by default.
    pub keep_ended_streams: Duration,
    /// How long a GET stream continues to listen after it has lost its connection. It then counts among the kept
    /// streams, not among the listeners of the server. 1 minute by default.
    pub keep_listening: Duration,
    /// The most messages of one batch (2025-03-26); a longer one gets 400. 50 by default.
    pub max_batch_messages: usize,
    /// How long the session store, and the event store, may take for one answer; then 503. 5 s by default.
    pub store_timeout: Duration,
}

impl LegacyConfig {
    /// The amounts that are counted for each client.
    pub(crate) fn bounds(&self) -> [(Kind, Bound); 2] {
        [(Kind::DetachedCalls, self.detached_calls), (Kind::KeptBytes, self.kept_bytes)]
    }
}

impl Default for LegacyConfig {
    fn default() -> Self {
        Self {
            max_calls_per_session: 1_024,
            detached_calls: Bound::of(1_024),
            max_detached_calls_per_session: 16,
            max_detached_time: Duration::from_secs(30 * 60),
            max_detached_time_after_close: Duration::from_secs(5),
            max_kept_events: 256,
            max_kept_bytes_per_stream: 1024 * 1024,
            kept_bytes: Bound::of(64 * 1024 * 1024),
            kept_streams: Bound::of(1_024),
            max_kept_streams_per_session: 16,
            keep_ended_streams: Duration::from_secs(5 * 60),
            keep_listening: Duration::from_secs(60),
            max_batch_messages: 50,
            store_timeout: Duration::from_secs(5),
        }
    }
}
