//! `spec-server index`

use super::CliError;
use super::output::Output;
use crate::project::Project;
use crate::search;

/// Marks the project as indexed.
pub(super) fn run(project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
    let specs = project.specs()?;
    let path = search::build(project.root())?;
    let count = specs.items.len();
    output.line(format_args!("{count} specs indexed; marked by {}", path.display()))?;
    for unreadable in &specs.unreadable {
        output.line(format_args!("! {}", output.safe(&unreadable.problem)))?;
    }
    Ok(u8::from(!specs.unreadable.is_empty()))
}
