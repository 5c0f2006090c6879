//! Finding what an id on the command line means.

use std::sync::Arc;

use super::CliError;
use crate::model::{Change, Spec};
use crate::project::{Project, ReadError, nearest};

/// What was found.
#[derive(Debug, Clone)]
pub(super) enum SpecOrChange {
    Spec(Arc<Spec>),
    Change(Arc<Change>),
}

/// The spec, the active change or the archived change of that id; `only_changes`, no spec.
///
/// # Errors
/// [`CliError::Unknown`], or what cannot be read.
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
