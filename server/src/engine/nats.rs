//! Universes, sessions and tasks in streams of NATS JetStream.

use std::path::Path;
use std::sync::Arc;

use super::Opened;
use super::shared::opened;
use crate::config::StoreUrl;
use crate::store::UniverseLog;
use crate::store::clients::logs::LogBounds;
use crate::store::clients::sessions::SessionBounds;
use crate::store::nats::{NatsOptions, NatsStore};

/// # Errors
/// A sentence, without a password.
pub(super) fn check(url: &StoreUrl, authorities: Option<&Path>) -> Result<(), String> {
    let checked = NatsStore::check(url.secret(), &options(authorities));
    checked.map_err(|problem| problem.to_string())
}

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

async fn connect(url: &StoreUrl, authorities: Option<&Path>) -> Result<NatsStore, String> {
    let opened = NatsStore::open(url.secret(), &options(authorities)).await;
    let store = opened.map_err(|problem| problem.to_string())?;
    let replicas = store.copies();
    tracing::info!(%url, replicas, "the universes are in streams with as many copies");
    if replicas == Some(1) {
        tracing::warn!(
            "the streams have one copy: what was acknowledged is lost with the disk of their server"
        );
    }
    Ok(store)
}

fn options(authorities: Option<&Path>) -> NatsOptions {
    let mut options = NatsOptions::default();
    options.authorities = authorities.map(Path::to_owned);
    options
}
