//! Digests as text.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// The first `length` bytes of the SHA-256 digest of a text, in base 16.
pub(crate) fn digest(text: impl AsRef<[u8]>, length: usize) -> String {
    HEXLOWER.encode(known_range::items(&Sha256::digest(text), ..length))
}
