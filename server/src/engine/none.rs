//! In place of a store that several servers share, where the program is built without the feature of its name.

use std::path::Path;
use std::sync::Arc;

use crate::config::store::StoreUrl;
use crate::store::clients::SharedStore;

/// A message on how to build the program with the feature.
fn missing(url: &StoreUrl) -> String {
    let scheme = url.secret().split("://").next().unwrap_or_default();
    let feature = if scheme.starts_with("postgres") { "postgres" } else { "nats" };
    format!(
        "this program was built without the feature {feature}: build it with `--features {feature}`, or use embedded or memory"
    )
}

/// # Errors
/// Always.
pub(super) fn check(url: &StoreUrl, _authorities: Option<&Path>) -> Result<(), String> {
    Err(missing(url))
}

/// # Errors
/// Always.
pub(super) async fn open(
    url: &StoreUrl,
    _authorities: Option<&Path>,
) -> Result<Arc<dyn SharedStore>, String> {
    Err(missing(url))
}
