//! Stores that several servers share, by the scheme of their URL: a database of PostgreSQL (the feature `postgres`),
//! streams of NATS JetStream (the feature `nats`).

#[cfg(feature = "nats")]
mod nats;
#[cfg(not(all(feature = "nats", feature = "postgres")))]
mod none;
#[cfg(feature = "postgres")]
mod postgres;
mod shared;

use std::path::Path;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcp_proto::session::{EventStore, SessionStore};

pub use self::shared::SharedTasks;

#[cfg(not(feature = "nats"))]
use self::none as nats;
#[cfg(not(feature = "postgres"))]
use self::none as postgres;
use self::shared::opened;
use crate::config::store::StoreUrl;
use crate::store::UniverseLog;
use crate::store::clients::SharedStore;

/// An open store for a server.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn UniverseLog>,
    /// The MCP data that is stored with the universes.
    pub(crate) shared: Option<Shared>,
    /// To be awaited when the server ends. It notifies the other servers at once, which would otherwise notice by a
    /// timeout.
    pub(crate) leave: Option<BoxFuture<'static, ()>>,
}

/// The stores of the MCP data that servers share. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) events: Arc<dyn EventStore>,
}

/// The kind of store that a URL names.
enum Engine {
    Postgres,
    Nats,
}

impl Engine {
    /// # Errors
    /// The URL has an unknown scheme.
    fn of(url: &StoreUrl) -> Result<Self, String> {
        match url.secret().split("://").next() {
            Some("postgres" | "postgresql") => Ok(Self::Postgres),
            Some("nats" | "tls") => Ok(Self::Nats),
            _ => Err(
                "the URL has another scheme than postgres (a database) or nats (streams of NATS JetStream)"
                    .to_owned(),
            ),
        }
    }
}

/// Checks a URL without connecting to it.
///
/// # Errors
/// A sentence, without a password.
pub(crate) fn check(url: &StoreUrl, authorities: Option<&Path>) -> Result<(), String> {
    match Engine::of(url)? {
        Engine::Postgres => postgres::check(url, authorities),
        Engine::Nats => nats::check(url, authorities),
    }
}

/// Connects, and creates or updates the tables or streams of the universes.
///
/// # Errors
/// A sentence, without a password.
pub(crate) async fn open(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Arc<dyn SharedStore>, String> {
    match Engine::of(url)? {
        Engine::Postgres => postgres::open(url, authorities).await,
        Engine::Nats => nats::open(url, authorities).await,
    }
}

/// The same for a server, which also stores sessions.
///
/// # Errors
/// A sentence, without a password.
pub(crate) async fn open_with_sessions(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Opened, String> {
    Ok(opened(open(url, authorities).await?))
}

/// The alternative to a command that only works on the file of a data directory.
pub(crate) fn instead(url: &StoreUrl, verb: Care) -> &'static str {
    match (Engine::of(url), verb) {
        (Ok(Engine::Nats), Care::Backup) => "`migrate` into a directory, or `nats account backup`",
        (Ok(Engine::Nats), Care::Restore) => {
            "`migrate` from a directory, or `nats account restore`"
        }
        (Ok(Engine::Nats), Care::Check) => "`nats stream report`",
        (Ok(Engine::Nats), Care::Compact) => {
            "`nats stream report` to see their sizes; the servers free what is unused by themselves"
        }
        (_, Care::Backup) => "pg_dump",
        (_, Care::Restore) => "pg_restore",
        (_, Care::Check) => "pg_amcheck",
        (_, Care::Compact) => "VACUUM",
    }
}

/// The commands that only work on the file of a data directory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Care {
    Backup,
    Restore,
    Check,
    Compact,
}
