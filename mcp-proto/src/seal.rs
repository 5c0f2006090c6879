//! Sealed texts: data that a server gives to an untrusted client and later gets back, unaltered and without the client
//! being able to read it.
//!
//! The protocol has two such texts: the `requestState` of a multi-round-trip request ([`Ticket`]) and the cursor of a
//! list ([`cursor()`]). Both are encrypted and authenticated (XChaCha20-Poly1305, RFC 8439 with the 192-bit nonces of
//! draft-irtf-cfrg-xchacha-03) together with their purpose, so that a text for one purpose, caller or request is
//! invalid for another. The server keeps no state for them, except to accept a ticket only once.
//!
//! A text is the URL-safe base64, without padding, of a version byte, the id of the key, the nonce and the ciphertext
//! with its tag.

mod cursor;
mod digest;
mod keys;
mod ticket;
mod used;

use chacha20poly1305::aead::AeadInOut as _;
use data_encoding::BASE64URL_NOPAD;

pub(crate) use cursor::{cursor, open_cursor};
pub(crate) use digest::{digest, digest_value};
pub use keys::Keys;
pub(crate) use ticket::{StateBinding, Ticket, TicketError, unix_now};
pub(crate) use used::{DEFAULT_MAX_USED, UsedOnce};

use keys::KeyId;

/// The longest text that is opened or sealed, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The most bytes that fit into a sealed text.
pub(crate) const MAX_PLAINTEXT_BYTES: usize = MAX_TEXT_BYTES / 4 * 3 - HEAD - NONCE - TAG;

/// Random for each text and never used twice, so it also identifies the text.
pub(crate) type Nonce = [u8; NONCE];

const NONCE: usize = 24;
const TAG: usize = 16;
/// The version and the id of the key.
const HEAD: usize = 1 + size_of::<KeyId>();
/// The version of the layout and cipher. A change of either gets a new number.
const VERSION: u8 = 1;

/// The content of an opened text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) nonce: Nonce,
    pub(crate) plaintext: Vec<u8>,
}

/// Why sealing failed. No variant is the client's fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SealError {
    #[error("{0} bytes are to be sealed, but at most {MAX_PLAINTEXT_BYTES} fit")]
    TooLong(usize),
    #[error("the content cannot be written as JSON: {0}")]
    Content(String),
    #[error("the operating system gives no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

impl Keys {
    /// Seals `plaintext` with the current key. Opening it requires the same `purpose`, part by part.
    pub(crate) fn seal(&self, purpose: &[&[u8]], plaintext: &[u8]) -> Result<String, SealError> {
        let too_long = || SealError::TooLong(plaintext.len());
        if plaintext.len() > MAX_PLAINTEXT_BYTES {
            return Err(too_long());
        }
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(SealError::NoRandomness)?;

        let mut body = plaintext.to_vec();
        let ring = self.ring();
        let key = ring.current();
        // The cipher's own limit is at 256 GiB.
        let tag = key
            .cipher()
            .encrypt_inout_detached(&nonce.into(), &associated(purpose), body.as_mut_slice().into())
            .map_err(|_| too_long())?;

        let mut sealed = Vec::with_capacity(HEAD + NONCE + body.len() + TAG);
        sealed.push(VERSION);
        sealed.extend_from_slice(&key.id());
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&body);
        sealed.extend_from_slice(&tag);
        Ok(BASE64URL_NOPAD.encode(&sealed))
    }

    /// Opens a text that a process with one of these keys has sealed for the same `purpose`. Otherwise `None`, without
    /// a reason: an altered text cannot be distinguished from one sealed for another purpose.
    pub(crate) fn open(&self, purpose: &[&[u8]], text: &str) -> Option<Opened> {
        if text.len() > MAX_TEXT_BYTES {
            return None;
        }
        // Strict: no padding, no white space, and the unused bits are zero.
        let sealed = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (&[version, ref id @ ..], rest) = sealed.split_first_chunk::<HEAD>()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE>()?;
        let (body, tag) = rest.split_last_chunk::<TAG>()?;
        if version != VERSION {
            return None;
        }
        let associated = associated(purpose);
        // Ids are short, so two keys may share one.
        self.ring().all().filter(|key| key.id() == *id).find_map(|key| {
            let mut plaintext = body.to_vec();
            key.cipher()
                .decrypt_inout_detached(
                    nonce.into(),
                    &associated,
                    plaintext.as_mut_slice().into(),
                    tag.into(),
                )
                .ok()?;
            Some(Opened { nonce: *nonce, plaintext })
        })
    }
}

/// The version and the parts, each after its length, so that different lists of parts are always different bytes.
fn associated(parts: &[&[u8]]) -> Vec<u8> {
    let length = parts.iter().map(|part| size_of::<u64>() + part.len()).sum();
    let mut bytes = Vec::with_capacity(1_usize.saturating_add(length));
    bytes.push(VERSION);
    for part in parts {
        bytes.extend_from_slice(&length_of(part));
        bytes.extend_from_slice(part);
    }
    bytes
}

/// The length of `part` as it is written before the part, with the same size on every machine.
fn length_of(part: &[u8]) -> [u8; 8] {
    (part.len() as u64).to_le_bytes()
}

/// A principal as two parts, so that an absent principal differs from one with an empty name.
fn principal_parts(principal: Option<&str>) -> [&[u8]; 2] {
    match principal {
        None => [b"nobody", b""],
        Some(name) => [b"principal", name.as_bytes()],
    }
}

#[cfg(test)]
mod tests;
