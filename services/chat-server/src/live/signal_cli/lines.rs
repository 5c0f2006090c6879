//! Lines of a daemon. A line that cannot be read is skipped and does not end the connection.

use std::io;

use bytes::BytesMut;
use tokio_util::codec::{Decoder, LinesCodec, LinesCodecError};

/// Splits bytes into lines. A bad line is an item and not an error, since a reader would stop at an error.
#[derive(Debug)]
pub(super) struct Lines(LinesCodec);

impl Lines {
    /// Lines of at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self(LinesCodec::new_with_max_length(most))
    }
}

impl Decoder for Lines {
    type Item = Result<String, &'static str>;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        framed(self.0.decode(bytes))
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Self::Item>> {
        framed(self.0.decode_eof(bytes))
    }
}

fn framed(
    line: Result<Option<String>, LinesCodecError>,
) -> io::Result<Option<Result<String, &'static str>>> {
    match line {
        Ok(line) => Ok(line.map(Ok)),
        Err(LinesCodecError::MaxLineLengthExceeded) => Ok(Some(Err("it is too long"))),
        Err(LinesCodecError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Ok(Some(Err("it is not UTF-8")))
        }
        Err(LinesCodecError::Io(error)) => Err(error),
    }
}
