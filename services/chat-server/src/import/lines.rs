//! The lines of a text that may be large and may be damaged.

use std::io::{self, BufRead, BufReader, Read, Take};

use super::{MAX_MESSAGE_BYTES, MAX_TEXT_BYTES};

/// Lines without their ends (LF or CRLF) and without a BOM. What is not UTF-8 becomes U+FFFD.
pub(super) struct Lines<R> {
    reader: BufReader<Take<R>>,
    first: bool,
    /// Of the text, in bytes.
    pub(super) read: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::new(reader.take(MAX_TEXT_BYTES)),
            first: true,
            read: 0,
        }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// Those of the reader, and a line above [`MAX_MESSAGE_BYTES`].
    pub(super) fn next(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let most = MAX_MESSAGE_BYTES as u64;
        let count = self
            .reader
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut line)?;
        if count == 0 {
            return Ok(None);
        }
        self.read += count as u64;
        if line.pop_if(|end| *end == b'\n').is_none() && count as u64 == most {
            let problem = format!("a line of more than {most} bytes");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        line.pop_if(|end| *end == b'\r');
        let text = String::from_utf8(line)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let first = std::mem::take(&mut self.first);
        Ok(Some(match text.strip_prefix('\u{feff}') {
            Some(rest) if first => rest.to_owned(),
            _ => text,
        }))
    }
}
