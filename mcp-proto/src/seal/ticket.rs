//! Request state: the data that a handler needs when its client comes back with answers. The client keeps it.
//!
//! The state of a multi-round-trip request (2026-07-28) passes through hands that may alter it, keep it, or send it
//! with another request or by another caller. A ticket is valid only for the request that it was issued for, until it
//! expires.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Keys, Nonce, SealError, principal_parts};

/// The request that a request state is valid for: the same one, repeated by the same caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateBinding<'a> {
    /// The authenticated caller. `None` differs from a caller with an empty name.
    pub(crate) principal: Option<&'a str>,
    /// The method of the request.
    pub(crate) method: &'a str,
    /// The digest of the request: [`digest()`](super::digest()).
    pub(crate) arguments: [u8; 32],
}

/// A request state that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket<T> {
    /// The sealed content.
    pub(crate) content: T,
    /// The unique id of this ticket, for accepting it only once.
    pub(crate) id: Nonce,
    /// When it ends, in seconds since 1970 (UTC). From that second on it is expired.
    pub(crate) expires: u64,
}

/// Why a ticket is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TicketError {
    /// Forged, altered, issued for another request or to another caller, or sealed with a key that was removed. The
    /// client does not learn which.
    #[error("requestState is not one that this server gave for this request")]
    Unreadable,
    #[error("requestState has expired; send the request again without it")]
    Expired,
    #[error("requestState has been used already; send the request again without it")]
    Used,
    /// [`UsedOnce`](super::UsedOnce) is full. That is not the client's fault.
    #[error("too many requests were continued of late; try again later")]
    Full,
}

/// The first part of the associated data of a request state.
const PURPOSE: &[u8] = b"requestState";

impl StateBinding<'_> {
    /// Seals `content`, to be opened for the same binding before `expires`, in seconds since 1970 (UTC).
    ///
    /// Content that is nested deeper than [`MAX_DEPTH`](crate::json::MAX_DEPTH) is sealed, but cannot be read back.
    pub(crate) fn seal<T: Serialize + ?Sized>(
        &self,
        keys: &Keys,
        content: &T,
        expires: u64,
    ) -> Result<String, SealError> {
        let mut plaintext = expires.to_le_bytes().to_vec();
        serde_json::to_writer(&mut plaintext, content)
            .map_err(|error| SealError::Content(error.to_string()))?;
        keys.seal(&self.parts(), &plaintext)
    }

    /// Opens a state that was sealed for the same binding, `now` being in seconds since 1970 (UTC).
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        keys: &Keys,
        text: &str,
        now: u64,
    ) -> Result<Ticket<T>, TicketError> {
        let opened = keys.open(&self.parts(), text).ok_or(TicketError::Unreadable)?;
        let (expires, content) =
            opened.plaintext.split_first_chunk().ok_or(TicketError::Unreadable)?;
        let expires = u64::from_le_bytes(*expires);
        if expires <= now {
            return Err(TicketError::Expired);
        }
        // A state that another release of this server has sealed may have a different format.
        let content = serde_json::from_slice(content).map_err(|_| TicketError::Unreadable)?;
        Ok(Ticket { content, id: opened.nonce, expires })
    }

    fn parts(&self) -> [&[u8]; 5] {
        let [kind, name] = principal_parts(self.principal);
        let method = self.method.as_bytes();
        [PURPOSE, kind, name, method, &self.arguments]
    }
}

/// The seconds since 1970 (UTC). A clock that is set before that makes every ticket expired.
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(u64::MAX, |since| since.as_secs())
}
