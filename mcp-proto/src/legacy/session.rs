//! Sessions: the legacy era only. A session is a small record, not a living thing; it moves between processes.

mod memory;

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

pub use memory::{MemorySessions, MemorySessionsConfig};

/// The name of a session: 128 random bits (UUID v4). Whoever knows it is in, so it is never logged whole.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

/// What a legacy handshake settled, for the requests that follow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Session {
    /// Its name.
    pub id: SessionId,
    /// The negotiated revision.
    pub protocol_version: ProtocolVersion,
    /// Who the client says it is.
    pub client_info: Arc<Implementation>,
    /// What the client can do. Together with `client_info` at most [`MAX_CLIENT_BYTES`](crate::MAX_CLIENT_BYTES) as
    /// JSON, where a handshake made it.
    pub client_capabilities: Arc<ClientCapabilities>,
    /// The authenticated caller who opened it; nobody else may use it.
    pub principal: Option<String>,
    /// Whose share of the store it takes: the principal, or the address that opened it. `None` where neither is known.
    #[serde(default)]
    pub client: Option<Arc<str>>,
    /// The mildest log messages the client wants, once it has said so.
    #[serde(default)]
    pub log_level: Option<LogLevel>,
    /// The resources the client wants to hear of, at most [`MAX_SUBSCRIPTIONS`](crate::MAX_SUBSCRIPTIONS).
    #[serde(default)]
    pub subscriptions: BTreeSet<String>,
}

/// What a legacy request changes of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionChange {
    /// `resources/subscribe`: to hear of changes of this resource.
    Subscribe(String),
    /// `resources/unsubscribe`.
    Unsubscribe(String),
    /// `logging/setLevel`: to get log messages of this level and above.
    LogLevel(LogLevel),
}

/// Where sessions are kept. A store shared by several processes lets any of them serve any session.
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps a new session.
    fn insert(&self, session: Session) -> BoxFuture<'_, Result<(), SessionStoreError>>;

    /// The session of that name, if it lives. Loading counts as use: the idle time starts anew.
    fn load<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>>;

    /// [`load`](Self::load) by a store that need not wait for it: `Some` with the session, if it lives. `None` by
    /// default: the store is asked by `load`.
    fn load_now(&self, id: &SessionId) -> Option<Option<Arc<Session>>> {
        let _ = id;
        None
    }

    /// Changes a session by [`Session::apply`], atomically among all users of the store; gives it as it is then, or
    /// `None` when it is no more. Counts as use.
    fn change<'a>(
        &'a self,
        id: &'a SessionId,
        change: &'a SessionChange,
    ) -> BoxFuture<'a, Result<Option<Arc<Session>>, SessionStoreError>>;

    /// Ends a session; whether there was one.
    fn remove<'a>(&'a self, id: &'a SessionId) -> BoxFuture<'a, Result<bool, SessionStoreError>>;

    /// Tells whenever another process may have changed or ended a session. A hint only: it may be told too often. Where
    /// it is told too late or never, as by default, a GET stream finds out within
    /// [`HttpConfig::keep_alive`](crate::http::HttpConfig::keep_alive).
    fn hints(&self, id: &SessionId) -> BoxStream<'static, ()> {
        let _never_told = id;
        Box::pin(stream::pending())
    }
}

/// The store cannot do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionStoreError {
    /// It cannot answer now; the client gets 503.
    #[error("the session store is unavailable: {0}")]
    Unavailable(String),
    /// It has no room for one more session, and every session that it has is in use; the client gets 429 where it has
    /// its share, else 503.
    #[error("the session store has no room: {max} sessions are in use")]
    Full {
        /// Whether they are all of this client.
        is_share: bool,
        /// The bound that was met.
        max: usize,
    },
}

impl SessionId {
    /// A fresh random name.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }

    /// The name as a client sent it. Any visible ASCII is accepted; only a name that a store knows opens anything.
    #[must_use]
    pub fn from_header(value: &str) -> Self {
        Self(value.into())
    }

    /// The whole name, for the `mcp-session-id` header.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
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
    #[must_use]
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

    /// Makes a change. A subscription above the bound changes nothing: whoever asks for one checks first.
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

    /// Whether it may subscribe to one more resource while `others` more are on their way.
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
        let (count, bytes) = all.fold((0, 0_usize), |(count, bytes), uri| {
            (count + 1, bytes.saturating_add(uri.len()))
        });
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

/// The refusal of a subscription above the bound.
pub(crate) fn too_many_subscriptions() -> ErrorObject {
    ErrorObject::invalid_params(format!(
        "at most {MAX_SUBSCRIPTIONS} resources can be subscribed to, whose URIs have {MAX_SUBSCRIPTION_BYTES} bytes \
         together: unsubscribe from one first"
    ))
}

impl SessionChange {
    /// What a legacy request changes of its session, once it is answered; `None` for requests that change nothing and
    /// for params that will be refused.
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
