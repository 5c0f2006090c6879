//! Where a page ends. A cursor is opaque to clients, and refused if this index has not issued it.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};

use crate::digest::digest;
use crate::query::Invalid;

/// The number of a message within its source, in the order in which the index received them: 1 for the first, without
/// gaps. It never changes for a message.
pub type Sequence = u64;

/// How many bytes of the digest go with a cursor.
const TAG: usize = 9;
/// The version, the kind of page end and two numbers.
const PAYLOAD: usize = 18;
/// Never changes: another layout has another number.
const VERSION: u8 = 1;

/// An opaque position to continue from, as text of 36 letters that are allowed in a URI.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cursor(String);

/// The meaning of a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageEnd {
    /// Among messages newest first: those older than this one are next.
    Older { at: i64, msg: i64 },
    /// Among messages oldest first: those newer than this one are next.
    Newer { at: i64, msg: i64 },
    /// Among messages in which something was found inside words, newest first: those older than this one are next.
    Inside { at: i64, msg: i64 },
    /// Among the messages of a source in the order of their numbers: those after this one are next.
    After { src: i64, sequence: Sequence },
}

/// The key with which an index authenticates its cursors.
#[derive(Clone)]
pub(super) struct Secret([u8; 32]);

impl Cursor {
    /// A cursor that a client sends back. The index checks it.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text to hand out.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    pub(super) const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    pub(super) fn seal(&self, end: PageEnd) -> Cursor {
        let (kind, one, two) = match end {
            PageEnd::Older { at, msg } => (0, at, msg),
            PageEnd::After { src, sequence } => (1, src, sequence.cast_signed()),
            PageEnd::Inside { at, msg } => (2, at, msg),
            PageEnd::Newer { at, msg } => (3, at, msg),
        };
        let mut bytes = Vec::with_capacity(PAYLOAD + TAG);
        bytes.extend([VERSION, kind]);
        bytes.extend(one.to_be_bytes());
        bytes.extend(two.to_be_bytes());
        let tag = self.tag(&bytes);
        bytes.extend(tag);
        Cursor(BASE64URL_NOPAD.encode(&bytes))
    }

    /// # Errors
    /// [`Invalid`] if this index did not issue the cursor, or if it was changed.
    pub(super) fn open(&self, cursor: &Cursor) -> Result<PageEnd, Invalid> {
        self.try_open(cursor).ok_or_else(|| {
            Invalid::new(
                "cursor",
                "it is not a cursor of this server: give the `next_cursor` of an earlier answer \
                 unchanged, or none to begin with the newest message",
            )
        })
    }

    fn try_open(&self, cursor: &Cursor) -> Option<PageEnd> {
        if cursor.0.len() != (PAYLOAD + TAG) * 8 / 6 {
            return None;
        }
        let bytes = BASE64URL_NOPAD.decode(cursor.0.as_bytes()).ok()?;
        let (payload, tag) = bytes.split_at_checked(PAYLOAD)?;
        if !self.tag(payload).eq(tag.iter().copied()) {
            return None;
        }
        let (kind, numbers) = payload.split_first_chunk::<2>()?;
        let (one, two) = numbers.split_first_chunk::<8>()?;
        let one = i64::from_be_bytes(*one);
        let two = i64::from_be_bytes(*two.first_chunk::<8>()?);
        match kind {
            [VERSION, 0] => Some(PageEnd::Older { at: one, msg: two }),
            [VERSION, 1] => Some(PageEnd::After { src: one, sequence: two.cast_unsigned() }),
            [VERSION, 2] => Some(PageEnd::Inside { at: one, msg: two }),
            [VERSION, 3] => Some(PageEnd::Newer { at: one, msg: two }),
            _ => None,
        }
    }

    /// Differs from tags by the constant between key and text.
    pub(super) fn pseudonym(&self, text: &str) -> String {
        digest([&self.0, b"pseudonym\0".as_slice(), text.as_bytes()].concat(), 5)
    }

    /// Keyed by putting the key first. The hashed data has a fixed length, so nothing can be appended to it.
    fn tag(&self, payload: &[u8]) -> impl Iterator<Item = u8> + use<> {
        let digest = Sha256::new().chain_update(self.0).chain_update(payload);
        digest.finalize().into_iter().take(TAG)
    }
}
