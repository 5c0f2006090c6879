//! The keys of an issuer: a text that the embedder replaces, or keys fetched from the issuer.
//!
//! A task of its own fetches the keys, not a request. A client that disconnects would otherwise use up the one fetch of
//! the interval, and could lock out all callers by repeating that.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use jsonwebtoken::DecodingKey;
use tokio::time::{Instant, timeout};

use super::algorithm::SigningAlgorithm;
use super::keys::{InvalidKeys, KeyLookup, KeySet};
use crate::http::authorize::Denied;
use crate::locked::Locked as _;

/// How old fetched keys may be before newer ones are fetched; until then the old ones are used. A key that its issuer
/// has withdrawn is accepted for the same time.
pub const KEYS_FRESH: Duration = Duration::from_secs(10 * 60);

/// How long fetched keys stay valid while newer ones cannot be fetched. After that every token of the issuer is
/// refused.
pub const KEYS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The minimum time between the starts of two fetches, for any tokens. A new key is unknown for at most this long.
pub const KEYS_INTERVAL: Duration = Duration::from_secs(30);

/// How long one fetch may take.
pub const KEYS_TIMEOUT: Duration = Duration::from_secs(10);

/// Where the keys of an issuer come from.
pub trait FetchKeys: fmt::Debug + Send + Sync {
    /// The current text of the issuer's JWK set, of at most [`MAX_KEY_SET_BYTES`](super::MAX_KEY_SET_BYTES). It is
    /// dropped after [`KEYS_TIMEOUT`].
    ///
    /// # Errors
    /// Why the keys are not available, for the log.
    fn fetch(&self) -> BoxFuture<'_, Result<String, String>>;
}

/// The public keys of an issuer. Clones share them.
///
/// Keys are fetched when the first token arrives, by one fetch at a time. A fetch runs to its end or to
/// [`KEYS_TIMEOUT`] even if the request that began it is dropped. [`KEYS_FRESH`], [`KEYS_KEPT`] and [`KEYS_INTERVAL`]
/// determine when the next one starts. This type must be used within a tokio runtime.
#[derive(Debug, Clone)]
pub struct IssuerKeys {
    fetch: Option<Arc<dyn FetchKeys>>,
    state: Arc<Mutex<State>>,
}

/// A fetch that several callers may wait for.
type Fetching = Shared<BoxFuture<'static, ()>>;

#[derive(Debug, Default)]
struct State {
    set: Option<Arc<KeySet>>,
    /// When the set arrived.
    came: Option<Instant>,
    /// When the last fetch began.
    tried: Option<Instant>,
    /// Whether the last fetch failed.
    failed: bool,
    /// The last fetch.
    fetching: Option<Fetching>,
}

impl IssuerKeys {
    /// The keys of a JWK set (RFC 7517).
    ///
    /// # Errors
    /// The text is not a JWK set, or has no key that verifies signatures.
    pub fn from_text(text: &str) -> Result<Self, InvalidKeys> {
        let keys = Self { fetch: None, state: Arc::default() };
        keys.replace(text)?;
        Ok(keys)
    }

    /// The keys that `fetch` returns.
    pub fn fetched(fetch: impl FetchKeys + 'static) -> Self {
        Self { fetch: Some(Arc::new(fetch)), state: Arc::default() }
    }

    /// Replaces the keys.
    ///
    /// # Errors
    /// As [`IssuerKeys::from_text`]; the old keys are then kept.
    pub fn replace(&self, text: &str) -> Result<(), InvalidKeys> {
        let set = KeySet::read(text)?;
        self.state.locked().take(set);
        Ok(())
    }

    /// The key that a token names.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: SigningAlgorithm,
    ) -> Result<DecodingKey, Denied> {
        let unavailable = || {
            let problem = "the keys of the token's issuer are not available: try again in a minute";
            Denied::Unavailable(problem.to_owned())
        };
        let mut set = self.good();
        if set.is_none() {
            self.refresh().await;
            set = self.good();
        }
        let mut set = set.ok_or_else(unavailable)?;
        if let KeyLookup::UnknownId = set.find(id, algorithm) {
            self.refresh().await;
            set = self.good().ok_or_else(unavailable)?;
        }
        match set.find(id, algorithm) {
            KeyLookup::Key(key) => Ok(key.clone()),
            // The token's key may be one that could not be fetched.
            KeyLookup::UnknownId if self.state.locked().failed => Err(unavailable()),
            KeyLookup::UnknownId => {
                let problem = "it names a key (kid) that its issuer does not publish";
                Err(Denied::Invalid(problem.to_owned()))
            }
            KeyLookup::Unfit(problem) => Err(Denied::Invalid(problem.to_owned())),
        }
    }

    /// The keys, if they are not too old. If they are old, newer ones are fetched.
    fn good(&self) -> Option<Arc<KeySet>> {
        let age = {
            let state = self.state.locked();
            self.fetch.as_ref().and(state.came).map(|it| it.elapsed())
        };
        if age.is_some_and(|age| age >= KEYS_FRESH) {
            // No caller waits for it.
            drop(self.begin());
        }
        let is_good = age.is_none_or(|age| age < KEYS_KEPT);
        self.state.locked().set.clone().filter(|_| is_good)
    }

    /// Waits for the fetch that runs, or for a new one if it is time for one.
    async fn refresh(&self) {
        if let Some(fetching) = self.begin() {
            fetching.await;
        }
    }

    fn begin(&self) -> Option<Fetching> {
        let fetch = Arc::clone(self.fetch.as_ref()?);
        let mut state = self.state.locked();
        // A fetch that no caller polled is only known to have ended once it is polled here.
        let is_running = |it: &Fetching| it.clone().now_or_never().is_none();
        if let Some(running) = state.fetching.clone().filter(is_running) {
            return Some(running);
        }
        if state.tried.is_some_and(|it| it.elapsed() < KEYS_INTERVAL) {
            return None;
        }
        state.tried = Some(Instant::now());
        state.failed = true;
        let shared = Arc::clone(&self.state);
        // Not tied to a request: a client that disconnects must not use up the one fetch of the interval.
        let task = tokio::spawn(async move {
            let text = timeout(KEYS_TIMEOUT, fetch.fetch()).await;
            let text = text.unwrap_or_else(|_| Err("it took too long".to_owned()));
            let set = text.and_then(|text| KeySet::read(&text).map_err(|it| it.to_string()));
            match set {
                Ok(set) => shared.locked().take(set),
                Err(problem) => tracing::warn!(problem, ?fetch, "keys could not be fetched"),
            }
        });
        let fetching = task.map(|_ended| ()).boxed().shared();
        state.fetching = Some(fetching.clone());
        Some(fetching)
    }
}

impl State {
    fn take(&mut self, set: KeySet) {
        self.set = Some(Arc::new(set));
        self.came = Some(Instant::now());
        self.failed = false;
    }
}
