//! The lines of a text that may be large and may be damaged.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Take};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use encoding_rs_io::{DecodeReaderBytes, DecodeReaderBytesBuilder};

use super::{MAX_MESSAGE_BYTES, MAX_TEXT_BYTES};

/// How much of a text is examined to detect its encoding, in bytes.
const GLANCE: u64 = 64 * 1024;

/// Lines without their ends (LF or CRLF) and without a BOM. UTF-16 and Latin-1 are recognised; damaged bytes
/// become U+FFFD.
pub(super) struct Lines<R> {
    reader: BufReader<Take<Decoded<R>>>,
    first: bool,
    /// Whether the last line ended with a bare LF.
    bare: bool,
    /// Whether the one before it did.
    behind_bare: bool,
    /// How many more bytes may be read.
    left: u64,
}

/// A text from its beginning.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

/// The same as UTF-8, unchanged or decoded.
enum Decoded<R> {
    Plain(Whole<R>),
    Other(Box<DecodeReaderBytes<Whole<R>, Vec<u8>>>),
}

/// A text as UTF-8, if it is in UTF-16; else unchanged.
pub(super) fn utf8<R: Read>(reader: R) -> io::Result<impl Read> {
    Decoded::new(reader, |head| match encoding(head) {
        wide if wide == UTF_16LE || wide == UTF_16BE => wide,
        _ => UTF_8,
    })
}

impl<R: Read> Decoded<R> {
    fn new(mut reader: R, encoding: impl Fn(&[u8]) -> &'static Encoding) -> io::Result<Self> {
        let mut head = Vec::new();
        reader.by_ref().take(GLANCE).read_to_end(&mut head)?;
        let encoding = encoding(&head);
        let whole = Cursor::new(head).chain(reader);
        Ok(if encoding == UTF_8 {
            Self::Plain(whole)
        } else {
            let builder = DecodeReaderBytesBuilder::new().encoding(Some(encoding)).to_owned();
            Self::Other(Box::new(builder.build(whole)))
        })
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(reader) => reader.read(buffer),
            Self::Other(reader) => reader.read(buffer),
        }
    }
}

/// A line.
pub(super) enum Line {
    Text(String),
    /// A line above [`MAX_MESSAGE_BYTES`], which was skipped.
    TooLong,
}

impl<R: Read> Lines<R> {
    /// # Errors
    /// Errors of the reader.
    pub(super) fn new(reader: R) -> io::Result<Self> {
        let reader = Decoded::new(reader, encoding)?;
        Ok(Self {
            // One more byte distinguishes a text that ends there from a longer one.
            reader: BufReader::new(reader.take(MAX_TEXT_BYTES + 1)),
            first: true,
            bare: false,
            behind_bare: false,
            left: MAX_TEXT_BYTES,
        })
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    /// Errors of the reader, and a text above [`MAX_TEXT_BYTES`].
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let most = MAX_MESSAGE_BYTES as u64;
        let mut part = self.reader.by_ref().take(most);
        let count = part.read_until(b'\n', &mut line)? as u64;
        self.spend(count)?;
        if count == 0 {
            return Ok(None);
        }
        self.behind_bare = std::mem::take(&mut self.bare);
        if line.pop_if(|end| *end == b'\n').is_none() && count == most {
            self.pass_over()?;
            return Ok(Some(Line::TooLong));
        }
        self.bare = line.pop_if(|end| *end == b'\r').is_none();
        let text = String::from_utf8(line)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let first = std::mem::take(&mut self.first);
        Ok(Some(Line::Text(match text.strip_prefix('\u{feff}') {
            Some(rest) if first => rest.to_owned(),
            _ => text,
        })))
    }

    /// Whether the last line stands behind a bare LF, not behind CRLF or at the beginning.
    pub(super) fn is_behind_lf(&self) -> bool {
        self.behind_bare
    }

    /// Skips the rest of a line, with no more memory than the reader's buffer.
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

/// A text in the encoding that it is most likely in.
pub fn decoded(head: &[u8]) -> String {
    encoding(head).decode(head).0.into_owned()
}

/// How a text is encoded, by its beginning; a BOM decides alone.
fn encoding(head: &[u8]) -> &'static Encoding {
    if let Some((known, _)) = Encoding::for_bom(head) {
        return known;
    }
    let zeros = |odd: usize| {
        let bytes = head.iter().skip(odd).step_by(2);
        bytes.filter(|byte| **byte == 0).count() * 3 > head.len() / 2
    };
    match (zeros(1), zeros(0), is_latin(head)) {
        (true, false, _) => UTF_16LE,
        (false, true, _) => UTF_16BE,
        (_, _, true) => WINDOWS_1252,
        _ => UTF_8,
    }
}

/// Whether more bytes above ASCII are invalid UTF-8 than valid: a damaged text has few invalid ones.
fn is_latin(head: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0, 0);
    let mut chunks = head.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        // The last character may be cut off.
        invalid += chunks.peek().map_or(0, |_| chunk.invalid().len());
    }
    invalid > valid
}
