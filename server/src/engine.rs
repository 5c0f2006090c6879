//! Stores that several servers share: a database of PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use crate::config::StoreUrl;
use crate::store::UniverseLog;
use crate::store::postgres::{PostgresOptions, PostgresStore};

/// What is wrong with a URL, without connecting to what it names.
///
/// # Errors
/// A sentence, without a password.
pub(crate) fn check(url: &StoreUrl, authorities: Option<&Path>) -> Result<(), String> {
    let checked = PostgresStore::check(url.secret(), &options(authorities));
    checked.map_err(|problem| problem.to_string())
}

/// Connects, and makes or updates the tables.
///
/// # Errors
/// A sentence, without a password.
pub(crate) async fn open(
    url: &StoreUrl,
    authorities: Option<&Path>,
) -> Result<Arc<dyn UniverseLog>, String> {
    let opened = PostgresStore::open(url.secret(), &options(authorities)).await;
    match opened {
        Ok(store) => Ok(Arc::new(store)),
        Err(problem) => Err(problem.to_string()),
    }
}

fn options(authorities: Option<&Path>) -> PostgresOptions {
    let mut options = PostgresOptions::default();
    options.authorities = authorities.map(Path::to_owned);
    options
}
