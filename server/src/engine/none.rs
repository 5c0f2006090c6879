//! In place of the stores that several servers share, where the program is built without the feature `postgres`.

use std::path::Path;
use std::sync::Arc;

use mcp_proto::SessionStore;

use crate::config::StoreUrl;
use crate::store::UniverseLog;

const MISSING: &str = "this program was built without the feature postgres: build it with `--features postgres`, or use embedded or memory";

/// Refuses, and says how to build the program with them.
///
/// # Errors
/// Always.
pub(crate) fn check(_url: &StoreUrl, _authorities: Option<&Path>) -> Result<(), String> {
    Err(MISSING.to_owned())
}

/// Refuses, and says how to build the program with them.
///
/// # Errors
/// Always.
pub(crate) async fn open(
    _url: &StoreUrl,
    _authorities: Option<&Path>,
) -> Result<Arc<dyn UniverseLog>, String> {
    Err(MISSING.to_owned())
}

/// Refuses, and says how to build the program with them.
///
/// # Errors
/// Always.
pub(crate) async fn open_with_sessions(
    _url: &StoreUrl,
    _authorities: Option<&Path>,
) -> Result<(Arc<dyn UniverseLog>, Arc<dyn SessionStore>), String> {
    Err(MISSING.to_owned())
}
