//! Universes, sessions and tasks in streams of NATS JetStream.

use std::path::Path;
use std::sync::Arc;

use universe_nats::{NatsOptions, NatsStore};

use crate::config::store::StoreUrl;
use crate::store::UniverseLog as _;
use crate::store::clients::SharedStore;

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
) -> Result<Arc<dyn SharedStore>, String> {
    let opened = NatsStore::open(url.secret(), &options(authorities)).await;
    let store = opened.map_err(|problem| problem.to_string())?;
    let replicas = store.copies();
    tracing::info!(%url, replicas, "the universes are in streams with as many copies");
    if replicas == Some(1) {
        tracing::warn!(
            "the streams have one copy: what was acknowledged is lost with the disk of their server"
        );
    }
    Ok(Arc::new(store))
}

fn options(authorities: Option<&Path>) -> NatsOptions {
    let mut options = NatsOptions::default();
    options.authorities = authorities.map(Path::to_owned);
    options
}
