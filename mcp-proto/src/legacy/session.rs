//! Sessions, which only the legacy era has. A session is a small record that can move between processes.

#[cfg(feature = "file-sessions")]
mod file;
mod memory;
mod table;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use serde::{Deserialize, Serialize};

use crate::call::Called;
use crate::context::ClientSide;
use crate::jsonrpc::ErrorObject;
use crate::lifecycle::{
    ClientCapabilities, Implementation, MAX_SUBSCRIPTION_BYTES, MAX_SUBSCRIPTIONS,
};
use crate::logging::LogLevel;
use crate::version::ProtocolVersion;

#[cfg(feature = "file-sessions")]
pub use file::{FileSessions, FileSessionsError};
pub use memory::MemorySessions;
pub use table::MemorySessionsConfig;

/// The id of a session: 128 random bits (UUID v4). Any caller that knows it has access, so it is never logged in full.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

/// The outcome of a legacy handshake, for the requests that follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// Its name.
    pub id: SessionId,
    /// The negotiated revision.
    pub protocol_version: ProtocolVersion,
    /// The client's name and version, as it reports them.
    pub client_info: Arc<Implementation>,
    /// What the client can do. Together with `client_info` at most
    /// [`MAX_CLIENT_BYTES`](crate::session::MAX_CLIENT_BYTES) as JSON, if a handshake created the session.
    pub client_capabilities: Arc<ClientCapabilities>,
    /// The authenticated caller that opened it; no other caller may use it.
    pub principal: Option<String>,
    /// The client whose share of the store it uses: the principal, or the address that opened it. `None` if neither is
    /// known.
    pub client: Option<Arc<str>>,
    /// The least severe level of log messages that the client wants, once it has set one.
    pub log_level: Option<LogLevel>,
    /// The resources that the client subscribes to, at most [`MAX_SUBSCRIPTIONS`](crate::lifecycle::MAX_SUBSCRIPTIONS).
    #[serde(default)]
    pub subscriptions: BTreeSet<String>,
}

/// A change that a legacy request makes to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionChange {
    /// `resources/subscribe`: subscribes to this resource.
    Subscribe(String),
    /// `resources/unsubscribe`.
    Unsubscribe(String),
    /// `logging/setLevel`: log messages of this level and above are sent.
    LogLevel(LogLevel),
}

/// Where sessions are kept. A store shared by several processes lets any of them serve any session.
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Stores a new session.
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>>;

    /// The session with that id, if it exists. Loading counts as use: the idle time starts again.
    fn load<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>>;

    /// [`load`](Self::load) for a store that can answer without waiting: `Some` with the session, if it exists. `None`,
    /// the default, means that `load` is used.
    fn load_now(&self, id: &SessionId) -> Option<Option<Arc<Session>>> {
        let _ = id;
        None
    }

    /// Changes a session by [`Session::apply`], atomically among all users of the store; returns the changed session,
    /// or `None` if it no longer exists. Counts as use.
    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>>;

    /// Ends a session; returns whether it existed.
    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>>;

    /// Whether changes may have passed the session by: an earlier process opened it, and has ended. A GET stream that
    /// is opened then begins by reporting that everything may have changed. True at most once for a session; never by
    /// default.
    fn take_missed(&self, id: &SessionId) -> bool {
        let _ = id;
        false
    }

    /// Reports whenever another process may have changed or ended a session. A hint only: it may come too often. If it
    /// comes late or never, as by default, a GET stream notices the change within
    /// [`HttpConfig::keep_alive`](crate::http::HttpConfig::keep_alive).
    fn hints(&self, id: &SessionId) -> BoxStream<'static, ()> {
        // By default there are no hints.
        let _ = id;
        Box::pin(stream::pending())
    }
}

/// Why the store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionStoreError {
    /// It is unavailable now; the client gets 503.
    #[error("the session store is unavailable: {0}")]
    Unavailable(String),
    /// It has no capacity for another session, and all its sessions are in use. The client gets 429 if it has used its
    /// share, else 503.
    #[error("the session store has no room: {max} sessions are in use")]
    Full {
        /// Whether this client's own share is the reason.
        is_share: bool,
        /// The bound that was reached.
        max: usize,
    },
}

impl SessionId {
    /// A new random id.
    pub fn random() -> Self {
        let mut text = uuid::Uuid::encode_buffer();
        let text = uuid::Uuid::new_v4().hyphenated().encode_lower(&mut text);
        Self(Arc::from(&*text))
    }

    /// The id as a client sent it. Any visible ASCII is accepted; only an id that a store knows gives access.
    pub fn from_header(value: &str) -> Self {
        Self(value.into())
    }

    /// The full id, for the `mcp-session-id` header.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.0.chars().take(8).collect();
        write!(formatter, "{shown}…")
    }
}

impl Session {
    /// A session of a client that speaks `protocol_version`.
    pub fn new(
        protocol_version: ProtocolVersion,
        client_info: Implementation,
        client_capabilities: ClientCapabilities,
    ) -> Self {
        Self {
            id: SessionId::random(),
            protocol_version,
            client_info: Arc::new(client_info),
            client_capabilities: Arc::new(client_capabilities),
            principal: None,
            client: None,
            log_level: None,
            subscriptions: BTreeSet::new(),
        }
    }

    /// Applies a change. A subscription above the bound changes nothing: callers check the bound first.
    pub fn apply(&mut self, change: &SessionChange) {
        match change {
            SessionChange::Subscribe(uri) => {
                if self.has_room_for(uri, std::iter::empty()) {
                    self.subscriptions.insert(uri.clone());
                }
            }
            SessionChange::Unsubscribe(uri) => {
                self.subscriptions.remove(uri);
            }
            SessionChange::LogLevel(level) => self.log_level = Some(*level),
        }
    }

    /// Whether it may subscribe to one more resource while `others` more are pending.
    pub(crate) fn has_room_for<'u>(
        &'u self,
        uri: &'u str,
        others: impl Iterator<Item = &'u str>,
    ) -> bool {
        if self.subscriptions.contains(uri) {
            return true;
        }
        let all = self.subscriptions.iter().map(String::as_str);
        let all = all.chain(others).chain([uri]);
        let (count, bytes) = all
            .fold((0, 0_usize), |(count, bytes), uri| (count + 1, bytes.saturating_add(uri.len())));
        count <= MAX_SUBSCRIPTIONS && bytes <= MAX_SUBSCRIPTION_BYTES
    }
}

impl From<&Session> for ClientSide {
    fn from(session: &Session) -> Self {
        Self {
            protocol_version: session.protocol_version,
            client_info: Some(Arc::clone(&session.client_info)),
            client_capabilities: Arc::clone(&session.client_capabilities),
            // The client has not chosen yet: the server may (2025-11-25, "Logging").
            log_level: Some(session.log_level.unwrap_or(LogLevel::Info)),
        }
    }
}

/// The error for a subscription above the bound.
pub(crate) fn too_many_subscriptions() -> ErrorObject {
    ErrorObject::invalid_params(format!(
        "at most {MAX_SUBSCRIPTIONS} resources can be subscribed to, whose URIs have {MAX_SUBSCRIPTION_BYTES} bytes \
         together: unsubscribe from one first"
    ))
}

impl SessionChange {
    /// The change that a legacy request makes to its session once it is answered; `None` for requests that change
    /// nothing and for params that will be refused.
    pub(crate) fn of(called: &Called) -> Option<Self> {
        let text = |name| called.text(name);
        match called.method() {
            "resources/subscribe" => text("uri").map(|uri| Self::Subscribe(uri.to_owned())),
            "resources/unsubscribe" => text("uri").map(|uri| Self::Unsubscribe(uri.to_owned())),
            "logging/setLevel" => text("level")?.parse().ok().map(Self::LogLevel),
            _ => None,
        }
    }
}
