//! Server-sent events as they come.

use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::time::timeout;

/// The longest event in bytes. A command may be as large as a request.
const MAX_EVENT: usize = 64 << 20;

/// The longest pause between bytes of a feed. The server sends a comment every 30 s or
/// more often.
const SILENCE: Duration = Duration::from_secs(45);

/// A feed that is being read.
pub(super) struct Feed {
    body: Incoming,
    /// The bytes that have arrived and are not parsed yet.
    text: Vec<u8>,
    /// The number of bytes that were already searched for the end of an event.
    seen: usize,
}

/// One event.
#[derive(Debug, Default)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) id: Option<u64>,
    pub(super) data: String,
}

impl Feed {
    pub(super) fn new(body: Incoming) -> Self {
        Self { body, text: Vec::new(), seen: 0 }
    }

    /// The next event; `Ok(None)` at the end.
    ///
    /// # Errors
    /// A description of what broke the feed.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            let from = self.seen.saturating_sub(1);
            let end = known_range::items(&self.text, from..);
            let end = end.windows(2).position(|two| two == b"\n\n");
            if let Some(end) = end {
                let block: Vec<u8> = self.text.drain(..from + end + 2).collect();
                self.seen = 0;
                let event = read(&String::from_utf8_lossy(&block));
                if !event.kind.is_empty() {
                    return Ok(Some(event));
                }
                continue;
            }
            self.seen = self.text.len();
            if self.text.len() > MAX_EVENT {
                return Err(format!("an event has more than {MAX_EVENT} bytes"));
            }
            match timeout(SILENCE, self.body.frame()).await {
                Err(_) => return Err("the server is silent".to_owned()),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(error.to_string()),
                Ok(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        self.text.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

/// Parses an event. It has no kind if there are only comments.
fn read(block: &str) -> Event {
    let mut event = Event::default();
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut event.kind),
            "id" => event.id = value.parse().ok(),
            "data" => {
                if !event.data.is_empty() {
                    event.data.push('\n');
                }
                event.data.push_str(value);
            }
            _ => {}
        }
    }
    event
}
