//! Server-sent events as they come.

use std::collections::VecDeque;
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use mcp_proto::http::EventReader;
use tokio::time::timeout;

/// The longest event in bytes. A command may be as large as a request.
const MAX_EVENT: usize = 64 << 20;

/// The longest pause between bytes of a feed. The server sends a comment every 30 s or
/// more often.
const SILENCE: Duration = Duration::from_secs(45);

/// A feed that is being read.
pub(super) struct Feed {
    body: Incoming,
    reader: EventReader,
    /// The events that came together with one that was returned.
    ready: VecDeque<Event>,
}

/// One event.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) id: Option<u64>,
    pub(super) data: String,
}

impl Feed {
    pub(super) fn new(body: Incoming) -> Self {
        Self { body, reader: EventReader::new(MAX_EVENT), ready: VecDeque::new() }
    }

    /// The next event; `Ok(None)` at the end.
    ///
    /// # Errors
    /// A description of what broke the feed.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let frame = match timeout(SILENCE, self.body.frame()).await {
                Err(_) => return Err("the server is silent".to_owned()),
                Ok(None) => return Ok(None),
                Ok(Some(frame)) => frame.map_err(|error| error.to_string())?,
            };
            let data = frame.into_data().unwrap_or_default();
            let events = self.reader.push(&data);
            let events = events.map_err(|_| format!("an event has more than {MAX_EVENT} bytes"))?;
            let named = events.into_iter().filter(|event| !event.event.is_empty());
            self.ready.extend(named.map(|event| Event {
                kind: event.event,
                id: event.id.and_then(|id| id.parse().ok()),
                data: event.data,
            }));
        }
    }
}
