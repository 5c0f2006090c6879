//! Hashes of session ids, and what stands for an id of which only the hash is known.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

use crate::legacy::session::SessionId;

/// The SHA-256 of a session id.
pub(super) type Key = [u8; 32];

/// The first character of a stand-in. No header can contain it.
const STAND_IN: char = '\0';

/// The hash of an id, or of that for which it stands.
pub(super) fn key_of(id: &SessionId) -> Key {
    let hash = id.as_str().strip_prefix(STAND_IN);
    let hash = hash.and_then(|hash| HEXLOWER.decode(hash.as_bytes()).ok()?.try_into().ok());
    hash.unwrap_or_else(|| Sha256::digest(id.as_str()).into())
}

/// What stands for an id until its client sends the id itself.
pub(super) fn stand_in(key: &Key) -> SessionId {
    SessionId::from_header(&format!("{STAND_IN}{}", HEXLOWER.encode(key)))
}
