//! Lines out of a stream of bytes: bounded, and safe to cancel between any two reads.

use std::io;

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The least capacity of one read, in bytes.
const CHUNK: usize = 16 * 1024;

/// The most bytes that are read ahead while no line is handled: enough to find the end of an input after many lines.
const READ_AHEAD: usize = 256 * 1024;

/// A buffer that is filled by reads and emptied by lines.
#[derive(Debug)]
pub struct Lines {
    buffer: BytesMut,
    /// Where the search for the next line feed continues.
    searched: usize,
    /// The rest of a line that was too long is being dropped.
    skipping: bool,
    max_line_bytes: usize,
}

/// The next item in the buffer.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its end; may be empty.
    Text(Bytes),
    /// A line that was longer than allowed and was dropped.
    TooLong,
}

impl Lines {
    /// An empty buffer that drops lines longer than `max_line_bytes`.
    pub fn new(max_line_bytes: usize) -> Self {
        Self { buffer: BytesMut::new(), searched: 0, skipping: false, max_line_bytes }
    }

    /// Whether another read is within bounds while complete lines wait in the buffer.
    pub(crate) fn has_room(&self) -> bool {
        self.buffer.len() <= READ_AHEAD
    }

    /// Reads once; 0 at the end of the input. Dropping the future loses nothing.
    ///
    /// # Errors
    /// Those of the reader.
    pub async fn read(&mut self, reader: &mut (impl AsyncRead + Unpin)) -> io::Result<usize> {
        self.buffer.reserve(CHUNK);
        reader.read_buf(&mut self.buffer).await
    }

    /// The next whole line, if there is one.
    #[expect(clippy::should_implement_trait, reason = "more lines may follow after `None`")]
    pub fn next(&mut self) -> Option<Line> {
        let unsearched = known_range::items(&self.buffer, self.searched..);
        let Some(offset) = memchr(b'\n', unsearched) else {
            return self.without_end();
        };
        let mut line = self.buffer.split_to(self.searched + offset);
        self.buffer.advance(1);
        self.searched = 0;
        if std::mem::take(&mut self.skipping) {
            return self.next();
        }
        if line.len() > self.max_line_bytes {
            return Some(Line::TooLong);
        }
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        Some(Line::Text(line.freeze()))
    }

    /// The rest when the input ends: a last line without its line feed.
    pub fn rest(&mut self) -> Option<Line> {
        let rest = std::mem::take(&mut self.buffer);
        self.searched = 0;
        let skipping = std::mem::take(&mut self.skipping);
        (!rest.is_empty() && !skipping).then(|| Line::Text(rest.freeze()))
    }

    fn without_end(&mut self) -> Option<Line> {
        self.searched = self.buffer.len();
        if self.searched <= self.max_line_bytes {
            return None;
        }
        self.buffer.clear();
        self.searched = 0;
        // Reported once, when the line exceeds the bound; the rest of it is dropped silently.
        (!std::mem::replace(&mut self.skipping, true)).then_some(Line::TooLong)
    }
}
