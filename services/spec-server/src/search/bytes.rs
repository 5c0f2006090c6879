//! The file formats of this program: a header with the kind of file, and a body that is read as untrusted data.
//!
//! The header has 8 bytes of magic, the version of the format, the length of the body and its SHA-256. All numbers are
//! little-endian. A text is its length in bytes (`u32`) and its UTF-8.

use sha2::{Digest as _, Sha256};

/// The length of the header.
const HEAD: usize = 8 + 4 + 8 + 32;

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(super) enum FileError {
    /// It does not begin with the magic bytes of this format.
    #[error("is not a file of this program")]
    Foreign,
    /// Its format has another version.
    #[error("was written by another version of this program (format {found}, wanted {wanted})")]
    Version {
        /// The version of the file.
        found: u32,
        /// The version of this program.
        wanted: u32,
    },
    /// It is cut off, or its bytes were changed.
    #[error("is damaged")]
    Damaged,
    /// It is larger than the limit.
    #[error("has {bytes} bytes, more than {most}")]
    Large {
        /// Its size.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] std::io::Error),
}

/// The header values of a kind of file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Format {
    pub(super) magic: [u8; 8],
    pub(super) version: u32,
}

impl Format {
    /// A file with this body.
    pub(super) fn seal(self, body: &[u8]) -> Vec<u8> {
        let mut file = Vec::with_capacity(HEAD + body.len());
        file.extend(self.magic);
        file.extend(self.version.to_le_bytes());
        file.extend((body.len() as u64).to_le_bytes());
        file.extend(<[u8; 32]>::from(Sha256::digest(body)));
        file.extend(body);
        file
    }

    /// The body of a file.
    pub(super) fn open(self, file: &[u8]) -> Result<Reader<'_>, FileError> {
        let mut head = Reader(file);
        if head.array::<8>().is_none_or(|magic| magic != self.magic) {
            return Err(FileError::Foreign);
        }
        let found = head.number().ok_or(FileError::Damaged)?;
        if found != self.version {
            return Err(FileError::Version { found, wanted: self.version });
        }
        let length = head.array().map(u64::from_le_bytes);
        let sum = head.array::<32>();
        let Reader(body) = head;
        let whole = length == Some(body.len() as u64) && sum == Some(Sha256::digest(body).into());
        whole.then_some(Reader(body)).ok_or(FileError::Damaged)
    }
}

/// Bytes that are read from the front. `None` means that there are too few bytes, or that they are not valid.
#[derive(Debug)]
pub(super) struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads as many items as the leading number says. The reserved memory grows only with the items that are really
    /// present.
    pub(super) fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Appends a number: of items, of bytes in a text, or of a line. A number that is too large saturates, and the reader
/// then refuses it, so callers must limit it.
pub(super) fn put_number(body: &mut Vec<u8>, number: usize) {
    body.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
}
