//! Finding what an id on the command line means.

use std::sync::Arc;

use crate::model::{Change, Spec};
use crate::project::{Project, ReadError, nearest};

/// What somebody looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// A spec or, if there is none, a change.
    Any,
    /// A change.
    Change,
}

/// What was found.
#[derive(Debug, Clone)]
pub(super) enum Found {
    Spec(Arc<Spec>),
    Change(Arc<Change>),
}

/// The spec, the active change or the archived change of that id.
///
/// # Errors
/// [`ReadError`]; a not-found one has the nearest ids of all that was looked for.
pub(super) fn find(project: &Project, id: &str, wanted: Wanted) -> Result<Found, ReadError> {
    if wanted == Wanted::Any {
        match project.spec(id) {
            Ok(spec) => return Ok(Found::Spec(spec)),
            Err(ReadError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let not_found = match project.change(id) {
        Err(error @ ReadError::NotFound { .. }) => error,
        read => return read.map(Found::Change),
    };
    if let Ok(change) = project.archived(id) {
        return Ok(Found::Change(change));
    }
    let ReadError::NotFound { kind, id, .. } = not_found else {
        return Err(not_found);
    };
    let mut ids = project.change_ids()?;
    if wanted == Wanted::Any {
        ids.extend(project.spec_ids()?);
    }
    Err(ReadError::NotFound {
        kind,
        nearest: nearest(&id, ids),
        id,
    })
}
