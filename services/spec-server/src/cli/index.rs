//! `spec-server index`

use super::CliError;
use super::output::Output;
use crate::project::Project;
use crate::search;

/// Marks the project as one that may be searched.
pub(super) fn run(project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
    let path = search::build(project.root())?;
    output.line(format_args!("searches are allowed from now on; marked by {}", path.display()))?;
    Ok(0)
}
