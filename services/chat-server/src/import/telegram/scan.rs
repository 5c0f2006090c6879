//! JSON as Telegram writes it, piece by piece: unwanted values are skipped, wanted ones are returned unchanged.
//!
//! Telegram writes control characters as `\xNN`, which is not JSON: here it becomes `\u00NN`. The size and the depth of
//! every value are bounded.

use std::io::{self, ErrorKind, Read};

use serde_json::Value;

use crate::import::MAX_MESSAGE_BYTES;

/// How much is read at a time, in bytes.
const CHUNK: usize = 64 * 1024;

/// How deep objects and lists may be nested; an export has about a dozen.
const MAX_DEPTH: usize = 500;

/// The byte order mark, which some editors write at the beginning.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Why the reading cannot continue.
#[derive(Debug, thiserror::Error)]
pub(super) enum ScanError {
    /// An I/O error, or a value that is too large.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not JSON, or not as expected.
    #[error("{0}")]
    Damaged(String),
    /// The consumer has stopped the reading.
    #[error("stopped")]
    Stopped,
}

pub(super) type Scanned<T> = Result<T, ScanError>;

/// A reader of JSON, and its position.
pub(super) struct Scanner<'f> {
    file: &'f mut dyn Read,
    chunk: Vec<u8>,
    /// How much of the chunk is filled, and how much of that was taken.
    filled: usize,
    at: usize,
    /// The bytes before the chunk.
    before: u64,
    /// The value that was returned last.
    value: Vec<u8>,
    /// How many blanks there are before the next byte, if it is the first of its line.
    indent: Option<usize>,
}

impl<'f> Scanner<'f> {
    pub(super) fn new(file: &'f mut dyn Read) -> Self {
        Self {
            file,
            chunk: vec![0; CHUNK],
            filled: 0,
            at: 0,
            before: 0,
            value: Vec::new(),
            indent: None,
        }
    }

    /// How many bytes were taken.
    pub(super) fn done(&self) -> u64 {
        self.before + self.at as u64
    }

    /// The bytes that are ready to be taken; empty at the end.
    fn ready(&mut self) -> Scanned<&[u8]> {
        while self.at == self.filled {
            self.before += self.filled as u64;
            (self.at, self.filled) = (0, 0);
            match self.file.read(&mut self.chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) => break,
                read => self.filled = read?,
            }
        }
        Ok(known_range::items(&self.chunk, self.at..self.filled))
    }

    /// The next byte that is not a blank, which stays; `None` at the end.
    fn peek(&mut self) -> Scanned<Option<u8>> {
        loop {
            let is_first = self.done() == 0;
            let ready = self.ready()?;
            let bom = if is_first && ready.starts_with(BOM) { BOM.len() } else { 0 };
            let rest = known_range::items(ready, bom..);
            let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace());
            let skip = bom + blanks.count();
            let (next, is_end) = (ready.get(skip).copied(), ready.is_empty());
            let blanks = known_range::items(ready, bom..skip);
            let indent = match memchr::memrchr(b'\n', blanks) {
                Some(end) => Some(blanks.len() - end - 1),
                None => self.indent.map(|before| before + skip - bom),
            };
            self.indent = indent;
            self.at += skip;
            if next.is_some() || is_end {
                return Ok(next);
            }
        }
    }

    fn wrong<T>(expected: &str, found: Option<u8>) -> Scanned<T> {
        Err(ScanError::Damaged(match found {
            Some(found) => format!("expected {expected}, found {:?}", char::from(found)),
            None => format!("expected {expected}, but the file ends there"),
        }))
    }

    /// Takes this byte.
    fn eat(&mut self, byte: u8) -> Scanned<()> {
        match self.peek()? {
            Some(next) if next == byte => {
                self.at += 1;
                Ok(())
            }
            other => Self::wrong(&format!("{:?}", char::from(byte)), other),
        }
    }

    /// Whether a list or an object continues; else its end is consumed.
    fn has_more(&mut self, is_first: &mut bool, end: u8) -> Scanned<bool> {
        let first = std::mem::replace(is_first, false);
        match self.peek()? {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.at += 1;
                Ok(true)
            }
            _ if first => Ok(true),
            other => Self::wrong("a comma or the end of a list", other),
        }
    }

    /// Passes the name of each member of an object to `each`, which takes its value.
    pub(super) fn members(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Scanned<()>,
    ) -> Scanned<()> {
        self.eat(b'{')?;
        let mut is_first = true;
        while self.has_more(&mut is_first, b'}')? {
            let Value::String(name) = self.parsed()? else {
                return Err(ScanError::Damaged("the name of a member is not a string".to_owned()));
            };
            self.eat(b':')?;
            each(self, &name)?;
        }
        Ok(())
    }

    /// Lets `each` take each entry of a list.
    pub(super) fn items(&mut self, mut each: impl FnMut(&mut Self) -> Scanned<()>) -> Scanned<()> {
        self.eat(b'[')?;
        let mut is_first = true;
        while self.has_more(&mut is_first, b']')? {
            each(self)?;
        }
        Ok(())
    }

    /// Checks that only blanks follow.
    pub(super) fn end(&mut self) -> Scanned<()> {
        match self.peek()? {
            None => Ok(()),
            other => Self::wrong("the end", other),
        }
    }

    /// The next value.
    pub(super) fn parsed(&mut self) -> Scanned<Value> {
        let wrong = |error: serde_json::Error| ScanError::Damaged(error.to_string());
        serde_json::from_slice(self.raw()?).map_err(wrong)
    }

    /// The next value, unchanged except for repairs.
    pub(super) fn raw(&mut self) -> Scanned<&[u8]> {
        let mut value = std::mem::take(&mut self.value);
        value.clear();
        let walked = self.walk(Some(&mut value), false);
        self.value = value;
        walked.map(|()| &*self.value)
    }

    /// The next value of a list; `None` for one that is damaged, which is passed over. Telegram writes an entry in
    /// lines of its own, and no line end within a string: so a quote too many is noticed, and the end of the entry is
    /// found.
    pub(super) fn entry(&mut self) -> Scanned<Option<&[u8]>> {
        self.indent = None;
        self.peek()?;
        let (indent, begin) = (self.indent, self.done());
        let mut value = std::mem::take(&mut self.value);
        value.clear();
        let walked = self.walk(Some(&mut value), indent.is_some());
        self.value = value;
        match (walked, indent) {
            (Ok(()), _) => Ok(Some(&*self.value)),
            (Err(ScanError::Damaged(_)), Some(indent)) if self.pass_over(indent)? => Ok(None),
            (Err(ScanError::Damaged(problem)), _) => Err(ScanError::Damaged(format!(
                "{problem}, in an entry that begins at byte {begin}"
            ))),
            (Err(error), _) => Err(error),
        }
    }

    /// Skips to the end of an entry: a brace behind as many blanks as stand before its beginning. Whether there is one.
    fn pass_over(&mut self, indent: usize) -> Scanned<bool> {
        let mut blanks = None;
        loop {
            let ready = self.ready()?;
            if ready.is_empty() {
                return Ok(false);
            }
            let mut taken = 0;
            let mut is_over = false;
            for byte in ready {
                taken += 1;
                blanks = match (*byte, blanks) {
                    (b'\n', _) => Some(0),
                    (b' ' | b'\t', Some(count)) => Some(count + 1),
                    (b'}', Some(count)) if count == indent => {
                        is_over = true;
                        break;
                    }
                    _ => None,
                };
            }
            self.at += taken;
            if is_over {
                return Ok(true);
            }
        }
    }

    /// Skips the next value, in constant memory.
    pub(super) fn skip(&mut self) -> Scanned<()> {
        self.walk(None, false)
    }

    fn walk(&mut self, mut value: Option<&mut Vec<u8>>, in_lines: bool) -> Scanned<()> {
        let mut walk = Walk { in_lines, ..Walk::default() };
        self.peek()?;
        loop {
            let ready = self.ready()?;
            if ready.is_empty() {
                return if walk.is_bare { Ok(()) } else { Self::wrong("the end of a value", None) };
            }
            let (taken, is_over) = walk.take(ready, value.as_deref_mut())?;
            self.at += taken;
            if is_over {
                return Ok(());
            }
        }
    }
}

fn unended() -> ScanError {
    ScanError::Damaged("a string does not end in its line".to_owned())
}

/// The position of a byte within a value.
#[derive(Default)]
struct Walk {
    at: At,
    depth: usize,
    /// Whether it is a number or a word, which ends where something else begins.
    is_bare: bool,
    /// Whether a string that does not end in its line is an error.
    in_lines: bool,
}

#[derive(Clone, Copy, Default)]
enum At {
    #[default]
    Outside,
    InString,
    /// Behind a backslash in a string.
    Escaped,
}

impl Walk {
    /// Continues with a part of the value. Returns how much of the part belongs to it, and whether the value is
    /// complete.
    fn take(&mut self, part: &[u8], mut value: Option<&mut Vec<u8>>) -> Scanned<(usize, bool)> {
        let (mut at, mut copied) = (0, 0);
        let mut copy = |from: usize, to: usize, more: &[u8]| -> Scanned<()> {
            let Some(value) = value.as_deref_mut() else {
                return Ok(());
            };
            value.extend_from_slice(known_range::items(part, from..to));
            value.extend_from_slice(more);
            if value.len() > MAX_MESSAGE_BYTES {
                Err(io::Error::new(
                    ErrorKind::InvalidData,
                    format!("a message of more than {MAX_MESSAGE_BYTES} bytes"),
                )
                .into())
            } else {
                Ok(())
            }
        };
        while let Some(&byte) = part.get(at) {
            match self.at {
                At::InString => {
                    let rest = known_range::items(part, at..);
                    let Some(end) = memchr::memchr2(b'"', b'\\', rest) else {
                        if self.in_lines && memchr::memchr(b'\n', rest).is_some() {
                            return Err(unended());
                        }
                        at = part.len();
                        break;
                    };
                    if self.in_lines
                        && memchr::memchr(b'\n', known_range::items(rest, ..end)).is_some()
                    {
                        return Err(unended());
                    }
                    at += end + 1;
                    self.at = match rest.get(end) {
                        Some(b'"') => At::Outside,
                        _ => At::Escaped,
                    };
                }
                At::Escaped => {
                    if byte == b'x' {
                        // The two digits that follow complete it.
                        copy(copied, at, b"u00")?;
                        copied = at + 1;
                    }
                    at += 1;
                    self.at = At::InString;
                    continue;
                }
                At::Outside => match byte {
                    b',' | b'}' | b']' if self.depth == 0 => {
                        copy(copied, at, b"")?;
                        return Ok((at, true));
                    }
                    byte if self.is_bare && byte.is_ascii_whitespace() => {
                        copy(copied, at, b"")?;
                        return Ok((at, true));
                    }
                    _ => {
                        at += 1;
                        match byte {
                            b'"' => self.at = At::InString,
                            b'[' | b'{' => self.depth += 1,
                            b']' | b'}' => self.depth -= 1,
                            _ => self.is_bare |= self.depth == 0,
                        }
                    }
                },
            }
            if self.depth > MAX_DEPTH {
                let problem = format!("lists in lists, more than {MAX_DEPTH} deep");
                return Err(io::Error::new(ErrorKind::InvalidData, problem).into());
            }
            if self.depth == 0 && !self.is_bare && matches!(self.at, At::Outside) {
                copy(copied, at, b"")?;
                return Ok((at, true));
            }
        }
        copy(copied, at, b"")?;
        Ok((at, false))
    }
}
