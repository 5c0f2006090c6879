//! The ring of keys: one seals, and the earlier ones still open.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use sha2::{Digest as _, Sha256};

/// The keys that seal the texts that clients keep for the server and send back: request states and cursors.
///
/// Processes that serve the same clients need the same keys, or one refuses the texts that another has sealed. For a
/// single process [`Keys::random`] is enough. A clone is cheap and shares the ring: [`Keys::rotate`] reaches all
/// clones. A ring has at most [`Keys::MAX`] keys.
///
/// A key is 32 secret random bytes, never a password. To replace it in several processes without refusing anything,
/// first give all of them the next key as a previous one ([`Keys::with_previous`]), then make it the current one.
#[derive(Clone)]
#[must_use]
pub struct Keys(Arc<RwLock<Arc<Ring>>>);

/// The keys at one time.
#[derive(Clone)]
pub(super) struct Ring {
    current: Key,
    /// Newest first, at most [`Keys::MAX`] minus one.
    previous: Vec<Key>,
}

/// One key with its id.
#[derive(Clone, Copy)]
pub(super) struct Key {
    id: KeyId,
    secret: [u8; 32],
}

/// Identifies the key of a ring that sealed a text. Derived from the key, so that processes agree on it.
pub(super) type KeyId = [u8; 4];

impl Keys {
    /// The most keys in a ring: the current one and three that it has replaced.
    pub const MAX: usize = 4;

    /// A ring with one key from the operating system's random source. Texts that it seals cannot be opened after the
    /// process has ended.
    ///
    /// # Panics
    ///
    /// If the operating system returns no random bytes.
    #[expect(
        clippy::expect_used,
        reason = "no request leads here, and a server without randomness must not start"
    )]
    pub fn random() -> Self {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("the operating system gives random bytes");
        Self::new(secret)
    }

    /// A ring of one key: 32 secret random bytes.
    pub fn new(key: [u8; 32]) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(Ring { current: Key::new(key), previous: Vec::new() }))))
    }

    /// The same ring with another key, as the oldest, that opens but does not seal. In a ring of [`Keys::MAX`] keys it
    /// replaces the oldest. A key that is already in the ring keeps its position.
    pub fn with_previous(self, key: [u8; 32]) -> Self {
        self.change(|ring| {
            if ring.all().all(|known| known.secret != key) {
                ring.previous.truncate(Self::MAX - 2);
                ring.previous.push(Key::new(key));
            }
        });
        self
    }

    /// Makes `key` the key that seals, in all clones. The earlier keys still open. If there are more than
    /// [`Keys::MAX`], the oldest is dropped, and texts that it has sealed are refused from then on. A key of the ring
    /// may be made the current one again.
    pub fn rotate(&self, key: [u8; 32]) {
        self.change(|ring| {
            let last = std::mem::replace(&mut ring.current, Key::new(key));
            ring.previous.insert(0, last);
            ring.previous.retain(|known| known.secret != key);
            ring.previous.truncate(Self::MAX - 1);
        });
    }

    /// Replaces all keys, in all clones: `current` seals, and all of the new keys open. Texts sealed with any other key
    /// are refused from then on. `previous` is ordered newest first; keys beyond [`Keys::MAX`] are left out.
    pub fn replace(&self, current: [u8; 32], previous: &[[u8; 32]]) {
        self.change(|ring| {
            ring.current = Key::new(current);
            let previous = previous.iter().take(Self::MAX - 1);
            ring.previous = previous.map(|key| Key::new(*key)).collect();
        });
    }

    /// The current keys. Nothing is sealed or opened under the lock.
    pub(super) fn ring(&self) -> Arc<Ring> {
        // A change is made to a copy, so a panic leaves the ring whole.
        let ring = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&ring)
    }

    fn change(&self, change: impl FnOnce(&mut Ring)) {
        let mut shared = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut ring = Ring::clone(&shared);
        change(&mut ring);
        *shared = Arc::new(ring);
    }
}

impl fmt::Debug for Keys {
    /// Shows the ids, the current key's first: they are in every sealed text, and no key follows from them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ring = self.ring();
        let ids = ring.all().map(|key| data_encoding::HEXLOWER.encode(&key.id));
        formatter.write_str("Keys")?;
        formatter.debug_list().entries(ids).finish()
    }
}

impl Ring {
    pub(super) fn current(&self) -> &Key {
        &self.current
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.current).chain(&self.previous)
    }
}

impl Key {
    fn new(secret: [u8; 32]) -> Self {
        let hash =
            Sha256::new().chain_update("mcp-proto seal key id").chain_update(secret).finalize();
        let mut id = KeyId::default();
        id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self { id, secret }
    }

    pub(super) fn id(&self) -> KeyId {
        self.id
    }

    pub(super) fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.secret.into())
    }
}
