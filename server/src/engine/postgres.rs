//! Universes, sessions and tasks in a database of PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use crate::config::store::StoreUrl;
use crate::store::clients::SharedStore;
use crate::store::postgres::{PostgresOptions, PostgresStore};

/// Checks a URL without connecting to it.
///
/// # Errors
/// A sentence, without a password.
pub(super) fn check(url: &StoreUrl, authorities: Option<&Path>) -> Result<(), String> {
    let checked = PostgresStore::check(url.secret(), &options(authorities));
    checked.map_err(|problem| problem.to_string())
}

/// Connects, and creates or updates the tables.
///
/// # Errors
/// A sentence, without a password.
pub(super) async fn open(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Arc<dyn SharedStore>, String> {
    let opened = PostgresStore::open(url.secret(), &options(authorities)).await;
    let store = opened.map_err(|problem| problem.to_string())?;
    Ok(Arc::new(store))
}

fn options(authorities: Option<&Path>) -> PostgresOptions {
    let mut options = PostgresOptions::default();
    options.authorities = authorities.map(Path::to_owned);
    options
}
