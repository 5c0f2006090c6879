//! `spec-server preview`, `archive` and `task`.

use clap::Args;

use super::CliError;
use super::output::{Ink, Output};
use crate::archive::{self, How, PreviewSpec};
use crate::project::Project;
use crate::view::{ArchivedView, Budget, PreviewView, TickedTask};

/// The change, and the form of the output.
#[derive(Debug, Clone, Args)]
pub(super) struct OfChange {
    /// The id of an active change.
    id: String,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Archive {
    #[command(flatten)]
    of: OfChange,
    /// Archives it although tasks are open.
    #[arg(long)]
    force: bool,
    /// Changes no spec, and only moves the change to the archive.
    #[arg(long)]
    skip_specs: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Task {
    #[command(flatten)]
    of: OfChange,
    /// The number or mark of the task, such as 1.2 or T001, its text or a part of it, or its line, such as "line 6".
    task: String,
    /// Takes the tick away.
    #[arg(long)]
    undo: bool,
}

impl OfChange {
    /// Prints what archiving would make of the specs; 1 if something stands in its way.
    pub(super) fn preview(
        &self,
        project: &Project,
        output: &mut Output<'_>,
    ) -> Result<u8, CliError> {
        let id = self.id(project)?;
        let preview = archive::preview(project, &id)?;
        if self.json {
            output.json(&PreviewView::of(&id, &preview, Budget::ALL))?;
        } else {
            write_specs(&preview.specs, output)?;
            output.findings(&preview.problems, "error", Ink::Red)?;
            output.findings(&preview.warnings, "warning", Ink::Yellow)?;
        }
        Ok(u8::from(!preview.problems.is_empty()))
    }

    /// The exact id, for an id in upper or lower case.
    fn id(&self, project: &Project) -> Result<String, CliError> {
        Ok(project.change(&self.id)?.id.clone())
    }
}

impl Archive {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let id = self.of.id(project)?;
        let how = How { force: self.force, skip_specs: self.skip_specs };
        let archived = archive::archive_change(project, &id, &archive::today(), how)?;
        if self.of.json {
            output.json(&ArchivedView::of(&id, &archived, Budget::ALL))?;
        } else {
            write_specs(&archived.specs, output)?;
            output.findings(&archived.warnings, "warning", Ink::Yellow)?;
            let path = archived.path.to_string_lossy();
            output.line(format_args!("archived in {}", output.safe(&path)))?;
        }
        Ok(0)
    }
}

impl Task {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let id = self.of.id(project)?;
        let ticked = archive::complete_task(project, &id, &self.task, !self.undo)?;
        let view = TickedTask::of(&id, ticked);
        if self.of.json {
            output.json(&view)?;
        } else {
            let mark = if view.done { 'x' } else { ' ' };
            let (text, line) = (output.safe(&view.text), view.line);
            output.line(format_args!("[{mark}] {text}  {}:{line}", output.safe(&view.file)))?;
            output.line(format_args!("{}/{} tasks", view.completed, view.total))?;
        }
        Ok(0)
    }
}

fn write_specs(specs: &[PreviewSpec], output: &mut Output<'_>) -> Result<(), CliError> {
    for diff in specs.iter().map(PreviewSpec::diff) {
        output.text(&diff)?;
    }
    Ok(())
}
