//! `spec-server project`

use clap::Args;

use super::CliError;
use super::output::Output;
use crate::project::Project;
use crate::view::{Budget, ProjectView};

#[derive(Debug, Clone, Args)]
pub(super) struct ProjectArgs {
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

impl ProjectArgs {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let view = ProjectView::of(project, 0, Budget::ALL);
        if self.json {
            output.json(&view)?;
            return Ok(0);
        }
        let ProjectView { kind, specs, changes, archive, .. } = &view;
        for (name, value) in
            [("kind", kind), ("specs", specs), ("changes", changes), ("archive", archive)]
        {
            output.line(format_args!("{name}: {}", output.safe(value)))?;
        }
        if !view.schema.is_empty() {
            output.line(format_args!("schema: {}", output.safe(&view.schema)))?;
        }
        output.text(&view.words)?;
        if let Some(note) = &view.note {
            output.line(output.safe(note))?;
        }
        Ok(0)
    }
}
