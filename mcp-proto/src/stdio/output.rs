//! The output of a connection: messages as lines, queued up to a limit and written as the peer reads them.

use std::io;

use bytes::{Buf as _, BufMut as _, BytesMut};
use futures_util::FutureExt as _;
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use crate::json;
use crate::jsonrpc::{ErrorObject, Response, append_all};

/// Above this many unwritten bytes nothing more is started or run until the peer has read some.
const HIGH_WATER: usize = 256 * 1024;

/// The bytes on their way out.
#[derive(Debug, Default)]
pub(crate) struct Output {
    queued: BytesMut,
    /// Something was written that a buffering writer may still hold.
    unflushed: bool,
}

impl Output {
    /// Queues one message.
    pub(crate) fn push(&mut self, message: &impl Serialize) {
        write_line(&mut self.queued, message);
    }

    /// Queues one answer.
    pub(crate) fn answer(&mut self, answer: &Response) {
        write_answer(&mut self.queued, answer);
    }

    /// Queues the answers of a batch.
    pub(crate) fn answers(&mut self, answers: &[Response]) {
        write_answers(&mut self.queued, answers);
    }

    /// The queue, to write more lines into.
    pub(crate) fn lines(&mut self) -> &mut BytesMut {
        &mut self.queued
    }

    /// Queues lines, leaving none behind.
    pub(crate) fn append(&mut self, lines: &mut BytesMut) {
        if self.queued.is_empty() {
            std::mem::swap(&mut self.queued, lines);
        } else {
            self.queued.unsplit(lines.split());
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        has_room(&self.queued)
    }

    /// Whether [`Output::write`] has something to do.
    pub(crate) fn is_due(&self) -> bool {
        !self.queued.is_empty() || self.unflushed
    }

    /// Writes as much as the writer accepts, and flushes once the queue is empty. Cancel-safe: written bytes leave the
    /// queue before the next wait.
    pub(crate) async fn write<W: AsyncWrite + Unpin>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.queued.is_empty() {
            writer.flush().await?;
            self.unflushed = false;
            return Ok(());
        }
        let written = writer.write(&self.queued).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.queued.advance(written);
        self.unflushed = true;
        if self.queued.is_empty()
            && let Some(flushed) = writer.flush().now_or_never()
        {
            self.unflushed = false;
            return flushed;
        }
        Ok(())
    }
}

pub(crate) fn has_room(lines: &BytesMut) -> bool {
    lines.len() < HIGH_WATER
}

/// Queues one message as one line. JSON text has no line feed outside strings and none inside.
pub(crate) fn write_line(lines: &mut BytesMut, message: &impl Serialize) {
    match json::to_json(message) {
        Ok(message) => {
            lines.extend_from_slice(message.as_bytes());
            lines.put_u8(b'\n');
        }
        Err(error) => tracing::error!(%error, "a message could not be serialised"),
    }
}

/// [`write_line`] for an answer, whose approximate length is known.
pub(crate) fn write_answer(lines: &mut BytesMut, answer: &Response) {
    lines.reserve(answer.size_hint());
    answer.append_to(lines);
    lines.put_u8(b'\n');
}

/// An answer that its peer takes: an error instead of one of more than `max` bytes.
pub(crate) fn fitting(answer: Response, max: usize) -> Response {
    let size = answer.size_hint();
    if size <= max || answer.outcome.is_err() {
        return answer;
    }
    tracing::warn!(size, max, "an answer was longer than clients take: an error was sent instead");
    let problem = format!(
        "the answer has {size} bytes, and this connection takes at most {max}: ask for less, or for a part of it"
    );
    Response::error(answer.id, ErrorObject::new(ErrorObject::INTERNAL, problem))
}

/// The answers of a batch that its peer takes together: errors instead of those that do not fit behind the others.
pub(crate) fn fitting_together(answers: Vec<Response>, max: usize) -> Vec<Response> {
    let mut left = max;
    let fitting = answers.into_iter().map(|answer| {
        let answer = fitting(answer, left);
        left = left.saturating_sub(answer.size_hint());
        answer
    });
    fitting.collect()
}

/// [`write_answer`] for the answers of a batch.
pub(crate) fn write_answers(lines: &mut BytesMut, answers: &[Response]) {
    append_all(answers, lines);
    lines.put_u8(b'\n');
}
