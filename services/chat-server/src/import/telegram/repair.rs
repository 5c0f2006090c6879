//! Telegram writes control characters as `\xNN`, which is not JSON: here it becomes `\u00NN`. And no message may be
//! larger than a bound, whatever it is made of, and nothing may lie deeper than another.

use std::io::{self, Read};

use super::Budget;

/// How much is repaired at a time, in bytes.
const CHUNK: usize = 64 * 1024;

/// How deep objects and lists may lie in one another; an export has about a dozen. The parser remembers each that is
/// open, also in what it passes over.
const MAX_DEPTH: usize = 500;

/// What some editors write at the beginning.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Where in the text a byte stands.
#[derive(Clone, Copy)]
enum At {
    Outside,
    InString,
    /// Behind a backslash in a string.
    Escaped,
}

/// A reader of JSON as it should have been written.
pub(super) struct Repaired<'b, R> {
    inner: R,
    at: At,
    depth: usize,
    /// How many bytes of a BOM have come; `None` once there is none to come.
    bom: Option<usize>,
    input: Vec<u8>,
    ready: Vec<u8>,
    /// How much of `ready` has been given.
    given: usize,
    budget: &'b Budget,
}

impl<'b, R: Read> Repaired<'b, R> {
    pub(super) fn new(inner: R, budget: &'b Budget) -> Self {
        Self {
            inner,
            at: At::Outside,
            depth: 0,
            bom: Some(0),
            input: vec![0; CHUNK],
            ready: Vec::new(),
            given: 0,
            budget,
        }
    }

    /// `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        let count = loop {
            match self.inner.read(&mut self.input) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.ready.clear();
        self.given = 0;
        for &byte in self.input.iter().take(count) {
            if let Some(known) = self.bom {
                if BOM.get(known) == Some(&byte) {
                    self.bom = Some(known + 1);
                    continue;
                }
                self.bom = None;
            }
            self.at = match (self.at, byte) {
                (At::Outside, b'"') => At::InString,
                (At::Outside, b'[' | b'{') => {
                    self.depth += 1;
                    if self.depth > MAX_DEPTH {
                        let problem = format!("lists in lists, more than {MAX_DEPTH} deep");
                        return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
                    }
                    At::Outside
                }
                (At::Outside, b']' | b'}') => {
                    self.depth = self.depth.saturating_sub(1);
                    At::Outside
                }
                (At::Outside, _) | (At::InString, b'"') => At::Outside,
                (At::InString, b'\\') => At::Escaped,
                (At::InString | At::Escaped, _) => {
                    if matches!((self.at, byte), (At::Escaped, b'x')) {
                        // The two digits that follow complete it.
                        self.ready.extend_from_slice(b"u00");
                        self.at = At::InString;
                        continue;
                    }
                    At::InString
                }
            };
            self.ready.push(byte);
        }
        Ok(count > 0)
    }
}

impl<R: Read> Read for Repaired<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() && !self.fill()? {
            return Ok(0);
        }
        let mut rest = self.ready.get(self.given..).unwrap_or_default();
        let count = rest.read(buffer)?;
        self.given += count;
        let left = self.budget.get().checked_sub(count).ok_or_else(|| {
            let most = crate::import::MAX_MESSAGE_BYTES;
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a message of more than {most} bytes"),
            )
        })?;
        self.budget.set(left);
        Ok(count)
    }
}
