//! Universes, sessions and tasks in a database of PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use super::Opened;
use super::shared::opened;
use crate::config::StoreUrl;
use crate::store::UniverseLog;
use crate::store::clients::logs::LogBounds;
use crate::store::clients::sessions::SessionBounds;
use crate::store::postgres::{PostgresOptions, PostgresStore};

/// What is wrong with a URL, without connecting to what it names.
///
/// # Errors
/// A sentence, without a password.
pub(super) fn check(url: &StoreUrl, authorities: Option<&Path>) -> Result<(), String> {
    let checked = PostgresStore::check(url.secret(), &options(authorities));
    checked.map_err(|problem| problem.to_string())
}

/// Connects, and makes or updates the tables.
///
/// # Errors
/// A sentence, without a password.
pub(super) async fn open(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Arc<dyn UniverseLog>, String> {
    Ok(Arc::new(connect(url, authorities).await?))
}

/// The same for a server, which has sessions, too.
///
/// # Errors
/// A sentence, without a password.
pub(super) async fn open_with_sessions(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Opened, String> {
    let store = connect(url, authorities).await?;
    let sessions = Arc::new(store.sessions(SessionBounds::default()));
    let logs = Box::new(store.logs(LogBounds::default()));
    let node = store.nodes();
    Ok(opened(Arc::new(store), node, sessions, logs))
}

async fn connect(url: &StoreUrl, authorities: Option<&Path>) -> Result<PostgresStore, String> {
    let opened = PostgresStore::open(url.secret(), &options(authorities)).await;
    opened.map_err(|problem| problem.to_string())
}

fn options(authorities: Option<&Path>) -> PostgresOptions {
    let mut options = PostgresOptions::default();
    options.authorities = authorities.map(Path::to_owned);
    options
}
