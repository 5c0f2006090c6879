//! Finding the spec or change for an id on the command line.

use std::sync::Arc;

use super::CliError;
use crate::model::{Change, Spec};
use crate::project::{Project, ReadError, nearest};

/// The item that was found.
#[derive(Debug, Clone)]
pub(super) enum SpecOrChange {
    Spec(Arc<Spec>),
    Change(Arc<Change>),
}

/// The spec, the active change or the archived change with this id. With `only_changes` specs are not searched.
///
/// # Errors
/// [`CliError::Unknown`], or an error in reading the item.
pub(super) fn find(
    project: &Project,
    id: &str,
    only_changes: bool,
) -> Result<SpecOrChange, CliError> {
    if !only_changes {
        match project.spec(id) {
            Ok(spec) => return Ok(SpecOrChange::Spec(spec)),
            Err(ReadError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match project.any_change(id) {
        Err(error) if !only_changes && error.is_absent() => Err(missing(project, id)?),
        read => Ok(SpecOrChange::Change(read?)),
    }
}

/// The error for an id that no spec or change has, with the nearest ids.
///
/// # Errors
/// [`ReadError`] if the ids cannot be listed.
pub(super) fn missing(project: &Project, id: &str) -> Result<CliError, ReadError> {
    let mut ids = project.spec_ids()?;
    ids.extend(project.change_ids()?);
    Ok(CliError::Unknown { id: id.to_owned(), nearest: nearest(id, ids) })
}
