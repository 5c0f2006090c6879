//! Reading server-sent events out of any body, as bytes and as events.

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::soon;

/// An open event stream.
pub(crate) struct Feed<B> {
    body: B,
    buffer: Vec<u8>,
}

/// One event of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) kind: String,
    pub(crate) id: Option<u64>,
    pub(crate) data: Value,
}

impl<B> Feed<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    pub(crate) fn new(body: B) -> Self {
        let buffer = Vec::new();
        Self { body, buffer }
    }

    /// The next lines up to a blank one; `None` at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        // What was searched is not searched again: an event may have megabytes.
        let mut searched = 0;
        loop {
            let fresh = self.buffer[searched..].windows(2);
            if let Some(end) = fresh.into_iter().position(|pair| pair == b"\n\n") {
                let end = searched + end;
                let rest = self.buffer.split_off(end + 2);
                let mut block = std::mem::replace(&mut self.buffer, rest);
                block.truncate(end);
                return Some(String::from_utf8(block).unwrap());
            }
            searched = self.buffer.len().saturating_sub(1);
            let frame = soon(self.body.frame()).await?.ok()?;
            self.buffer.extend_from_slice(frame.data_ref().unwrap());
        }
    }

    /// The next event, whatever comments and events without data are before it; `None` at the end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            let block = self.block().await?;
            if let Some(event) = Event::read(&block) {
                return Some(event);
            }
        }
    }

    /// Whether all that is left is the end.
    pub(crate) async fn has_ended(&mut self) -> bool {
        self.block().await.is_none()
    }
}

impl Event {
    fn read(block: &str) -> Option<Self> {
        let field =
            |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let data = field("data").filter(|data| !data.is_empty())?;
        let data = serde_json::from_str(data).unwrap();
        Some(Self {
            kind: field("event").unwrap_or("message").to_owned(),
            // Those of MCP are no numbers.
            id: field("id").and_then(|id| id.parse().ok()),
            data,
        })
    }
}
