//! Lines in and out, bounded. A line that is too long is reported and dropped, and reading continues after it.

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio_util::codec::{AnyDelimiterCodec, AnyDelimiterCodecError, Decoder, FramedRead};

/// The lines of a byte stream.
pub(super) type Lines<R> = FramedRead<R, LineCodec>;

/// A line that was read.
pub(super) enum Line {
    /// A line without its line end.
    Text(Bytes),
    /// A line that was longer than allowed and was dropped.
    TooLong,
}

/// Splits a stream into lines. A line that is too long is an item, since an error would end the stream.
pub(super) struct LineCodec(AnyDelimiterCodec);

pub(super) fn lines<R: AsyncRead>(reader: R, max_bytes: usize) -> Lines<R> {
    let codec = AnyDelimiterCodec::new_with_max_length(b"\n".to_vec(), b"\n".to_vec(), max_bytes);
    FramedRead::new(reader, LineCodec(codec))
}

pub(super) async fn write_line(
    writer: &mut (impl AsyncWrite + Unpin),
    line: &[u8],
) -> std::io::Result<()> {
    // One system call if the writer supports vectored writes.
    writer.write_all_buf(&mut line.chain(&b"\n"[..])).await?;
    writer.flush().await
}

impl Decoder for LineCodec {
    type Item = Line;
    type Error = std::io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, std::io::Error> {
        item(self.0.decode(buffer))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<Line>, std::io::Error> {
        item(self.0.decode_eof(buffer))
    }
}

fn item(
    decoded: Result<Option<Bytes>, AnyDelimiterCodecError>,
) -> Result<Option<Line>, std::io::Error> {
    match decoded {
        Ok(line) => Ok(line.map(Line::Text)),
        Err(AnyDelimiterCodecError::MaxChunkLengthExceeded) => Ok(Some(Line::TooLong)),
        Err(AnyDelimiterCodecError::Io(error)) => Err(error),
    }
}
