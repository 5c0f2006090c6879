//! Finding what an id on the command line means.

use std::sync::Arc;

use super::CliError;
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
/// [`CliError::Unknown`], or what cannot be read.
pub(super) fn find(project: &Project, id: &str, wanted: Wanted) -> Result<Found, CliError> {
    if wanted == Wanted::Any {
        match project.spec(id) {
            Ok(spec) => return Ok(Found::Spec(spec)),
            Err(ReadError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let not_active = match project.change(id) {
        Err(error) if is_no_change(&error) => error,
        read => return Ok(Found::Change(read?)),
    };
    match (project.archived(id), wanted) {
        (Err(error), Wanted::Any) if is_no_change(&error) => Err(missing(project, id)?),
        (Err(error), Wanted::Change) if is_no_change(&error) => Err(not_active.into()),
        (read, _) => Ok(Found::Change(read?)),
    }
}

/// Whether there is none of that id, which may be one that only a spec can have.
fn is_no_change(error: &ReadError) -> bool {
    matches!(error, ReadError::NotFound { .. } | ReadError::BadId { .. })
}

/// That there is neither a spec nor a change of that id, with what is nearest.
///
/// # Errors
/// [`ReadError`] if that cannot be found out.
pub(super) fn missing(project: &Project, id: &str) -> Result<CliError, ReadError> {
    let mut ids = project.spec_ids()?;
    ids.extend(project.change_ids()?);
    Ok(CliError::Unknown {
        id: id.to_owned(),
        nearest: nearest(id, ids),
    })
}
