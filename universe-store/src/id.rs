//! Identifiers of universes and commands, and revision numbers.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// Names a universe: 1 to [`UniverseId::MAX_LEN`] bytes of text without control characters. Cheap
/// to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct UniverseId(Arc<str>);

/// Why a text is not a [`UniverseId`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidId {
    /// It is empty or too long.
    #[error("a universe id has 1 to {} bytes, this has {len}", UniverseId::MAX_LEN)]
    Length {
        /// The length found, in bytes.
        len: usize,
    },
    /// It has a control character.
    #[error("a universe id has no control characters, this has one at byte {at}")]
    Control {
        /// Its offset, in bytes.
        at: usize,
    },
}

impl UniverseId {
    /// The longest id, in bytes.
    pub const MAX_LEN: usize = 200;

    /// Takes `id` as it is.
    ///
    /// # Errors
    /// [`InvalidId`] if it is empty, too long or has control characters.
    pub fn new(id: impl AsRef<str>) -> Result<Self, InvalidId> {
        let id = id.as_ref();
        if id.is_empty() || id.len() > Self::MAX_LEN {
            return Err(InvalidId::Length { len: id.len() });
        }
        match id.find(char::is_control) {
            Some(at) => Err(InvalidId::Control { at }),
            None => Ok(Self(id.into())),
        }
    }

    /// A random one (UUID version 4).
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string().into())
    }

    /// The id of a universe that a client creates under a key.
    pub fn of_command(command: CommandId) -> Self {
        Self(command.0.to_string().into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UniverseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for UniverseId {
    type Err = InvalidId;

    fn from_str(id: &str) -> Result<Self, InvalidId> {
        Self::new(id)
    }
}

impl TryFrom<String> for UniverseId {
    type Error = InvalidId;

    fn try_from(id: String) -> Result<Self, InvalidId> {
        Self::new(id)
    }
}

/// Names a command, so that its retry is recognised. Must be unique per command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub Uuid);

/// A key that cannot name a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key has 1 to {} bytes", CommandId::MAX_KEY)]
pub struct InvalidKey;

impl CommandId {
    /// A random one (UUID version 4).
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }

    /// The longest key, in bytes.
    pub const MAX_KEY: usize = 255;

    /// The id of the command that a client names by a key (UUID version 8). The same key gives the same id.
    ///
    /// # Errors
    /// [`InvalidKey`]
    pub fn of_key(key: &str) -> Result<Self, InvalidKey> {
        if key.is_empty() || key.len() > Self::MAX_KEY {
            return Err(InvalidKey);
        }
        let digest: [u8; 32] = Sha256::digest(key.as_bytes()).into();
        let [bytes @ .., _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _] = digest;
        Ok(Self(uuid::Builder::from_custom_bytes(bytes).into_uuid()))
    }
}

impl fmt::Display for CommandId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How many entries a universe has had: 0 is its genesis, the first entry makes 1, and so on
/// without gaps.
///
/// Never beyond [`Revision::MAX`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of a new universe.
    pub const GENESIS: Self = Self(0);

    /// The highest revision that a store can keep: 2⁶³ − 1.
    pub const MAX: Self = Self(i64::MAX as u64);

    /// The next revision.
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
