//! The lines of a text that may be large and may be damaged.

use std::io::{self, BufRead, BufReader, Read, Take};

use super::{MAX_MESSAGE_BYTES, MAX_TEXT_BYTES};

/// Lines without their ends (LF or CRLF) and without a BOM. What is not UTF-8 becomes U+FFFD.
pub(super) struct Lines<R> {
    reader: BufReader<Take<R>>,
    first: bool,
    /// How many bytes there may be yet.
    left: u64,
}

/// A line.
pub(super) enum Line {
    Text(String),
    /// One above [`MAX_MESSAGE_BYTES`], which was passed over.
    TooLong,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            // One more tells a text that ends there from one that goes on.
            reader: BufReader::new(reader.take(MAX_TEXT_BYTES + 1)),
            first: true,
            left: MAX_TEXT_BYTES,
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// Those of the reader, and a text above [`MAX_TEXT_BYTES`].
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let most = MAX_MESSAGE_BYTES as u64;
        let mut part = self.reader.by_ref().take(most);
        let count = part.read_until(b'\n', &mut line)? as u64;
        self.spend(count)?;
        if count == 0 {
            return Ok(None);
        }
        if line.pop_if(|end| *end == b'\n').is_none() && count == most {
            self.pass_over()?;
            return Ok(Some(Line::TooLong));
        }
        line.pop_if(|end| *end == b'\r');
        let text = String::from_utf8(line)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let first = std::mem::take(&mut self.first);
        Ok(Some(Line::Text(match text.strip_prefix('\u{feff}') {
            Some(rest) if first => rest.to_owned(),
            _ => text,
        })))
    }

    /// The rest of a line, in as little memory as the reader has.
    fn pass_over(&mut self) -> io::Result<()> {
        loop {
            let ready = self.reader.fill_buf()?;
            let end = memchr::memchr(b'\n', ready);
            let count = end.map_or(ready.len(), |end| end + 1);
            self.reader.consume(count);
            self.spend(count as u64)?;
            if end.is_some() || count == 0 {
                return Ok(());
            }
        }
    }

    fn spend(&mut self, count: u64) -> io::Result<()> {
        self.left = self.left.checked_sub(count).ok_or_else(|| {
            let problem = format!("a text of more than {MAX_TEXT_BYTES} bytes");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })?;
        Ok(())
    }
}
