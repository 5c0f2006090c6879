//! An event stream that steps wait on.

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::fault::Fault;
use crate::probe::Incoming;
use crate::sse::{Event, Frame};

/// The most frames of a stream that are read ahead.
const MAX_UNREAD: usize = 1_000;

/// Dropping it ends the exchange.
pub(super) struct EventStream {
    source: Source,
    /// Methods whose messages are skipped.
    ignored: Vec<String>,
}

enum Source {
    /// Nothing is read that no step asks for.
    Own(Box<Incoming>),
    /// Read by the task, which ends with this.
    Ahead { frames: mpsc::Receiver<Result<Frame, Fault>>, _reader: JoinSet<()> },
}

impl EventStream {
    pub(super) fn new(incoming: Incoming) -> Self {
        Self { source: Source::Own(Box::new(incoming)), ignored: Vec::new() }
    }

    /// The same without messages of these methods.
    pub(super) fn ignoring(self, ignored: Vec<String>) -> Self {
        Self { ignored, ..self }
    }

    /// The same, read by a separate task that gives every question on it to `answer`. The task waits while too much is
    /// unread.
    pub(super) fn answering(
        mut self,
        answer: impl Fn(Value) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> Self {
        let ignored = std::mem::take(&mut self.ignored);
        let (frames, read) = mpsc::channel(MAX_UNREAD);
        let mut reader = JoinSet::new();
        reader.spawn(async move {
            while let Some(frame) = self.next().await.transpose() {
                if let Ok(Frame::Event(event)) = &frame
                    && let Ok(message) = serde_json::from_str::<Value>(&event.data)
                    && message.get("method").is_some()
                    && message.get("id").is_some()
                {
                    answer(message).await;
                    continue;
                }
                let is_broken = frame.is_err();
                if frames.send(frame).await.is_err() || is_broken {
                    return;
                }
            }
        });
        Self { source: Source::Ahead { frames: read, _reader: reader }, ignored }
    }

    /// The next frame, or `None` at the end. Loses nothing when it is dropped while it waits.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, Fault> {
        loop {
            let frame = match &mut self.source {
                Source::Own(incoming) => incoming.next().await.map_err(Fault::new)?,
                Source::Ahead { frames, .. } => frames.recv().await.transpose()?,
            };
            match frame {
                Some(frame) if self.ignores(&frame) => {}
                frame => return Ok(frame),
            }
        }
    }

    fn ignores(&self, frame: &Frame) -> bool {
        let Frame::Event(event) = frame else {
            return false;
        };
        !self.ignored.is_empty()
            && serde_json::from_str::<Value>(&event.data).is_ok_and(|message| {
                let method = message.get("method").and_then(Value::as_str);
                method.is_some_and(|method| self.ignored.iter().any(|ignored| ignored == method))
            })
    }

    /// The next event, passing over comments.
    pub(super) async fn next_event(&mut self) -> Result<Option<Event>, Fault> {
        loop {
            match self.next().await? {
                Some(Frame::Event(event)) => return Ok(Some(event)),
                Some(Frame::Comment(_)) => {}
                None => return Ok(None),
            }
        }
    }
}
