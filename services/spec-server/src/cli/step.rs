//! `spec-server next`, `new` and `write`.

use std::io::{self, Read as _};

use clap::Args;

use super::CliError;
use super::output::{Ink, Output};
use crate::archive;
use crate::project::Project;
use crate::view::{Budget, StepView, WrittenView};

#[derive(Debug, Clone, Args)]
pub(super) struct Next {
    /// The id of an active change.
    id: String,
    /// This artifact instead of the next one.
    artifact: Option<String>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(super) struct New {
    /// The id of the new change, in kebab-case.
    id: String,
    /// Its workflow, if not the project's.
    #[arg(long)]
    schema: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Write {
    /// The id of an active change.
    id: String,
    /// An artifact, such as proposal, or a file, such as specs/auth/spec.md.
    file: String,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

impl Next {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let change = project.change(&self.id)?;
        let view = StepView::of(project, &change, self.artifact.as_deref(), Budget::ALL)?;
        if self.json {
            output.json(&view)?
        } else {
            show(&view, output)?
        }
        Ok(0)
    }
}

impl New {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        archive::new_change(project, &self.id, self.schema.as_deref())?;
        let path = project.display_path(&project.change_folder(&self.id)?);
        output.line(format_args!("made {path}; continue with `spec-server next {}`", self.id))?;
        Ok(0)
    }
}

impl Write {
    /// 1 if validation finds an error in the file. It is written all the same.
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let change = project.change(&self.id)?;
        let mut text = String::new();
        let most = project.limits().file_bytes.saturating_add(1);
        io::stdin().take(most).read_to_string(&mut text)?;
        let written = archive::write_file(project, &change, &self.file, &text)?;
        let view = WrittenView::of(project, &change.id, &written, Budget::ALL)?;
        if self.json {
            output.json(&view)?;
        } else {
            let how = if view.changed { "wrote" } else { "unchanged:" };
            output.line(format_args!("{how} {}", output.safe(&view.file)))?;
            let verdict = &view.verdict;
            for (ink, findings) in [
                (Ink::Red, &verdict.errors),
                (Ink::Yellow, &verdict.warnings),
                (Ink::Dim, &verdict.notes),
            ] {
                for finding in findings {
                    let line =
                        finding.problem.line.map(|line| format!("{line}: ")).unwrap_or_default();
                    let text = output.safe(&finding.problem.description);
                    output.line(output.paint(ink, &format!("{line}{text}")))?;
                }
            }
            output.line(&view.verdict.summary)?;
        }
        Ok(u8::from(!view.verdict.errors.is_empty()))
    }
}

fn show(view: &StepView, output: &mut Output<'_>) -> io::Result<()> {
    output.line(format_args!("{} ({})", view.change_id, view.schema))?;
    for one in &view.artifacts {
        let behind = match (one.missing.as_slice(), one.files.as_slice()) {
            ([], files) => files.join(", "),
            (missing, _) => format!("needs {}", missing.join(", ")),
        };
        output.line(format_args!(
            "- {}  {}  {behind}",
            output.paint(Ink::Cyan, &one.id),
            one.state
        ))?;
    }
    output.line(format_args!("{}/{} tasks", view.tasks.completed, view.tasks.total))?;
    output.line("")?;
    let next = match (&view.write, &view.task) {
        (Some(write), _) => {
            format!("Next: write {} ({}): {}", write.artifact, write.file, write.description)
        }
        (None, Some(task)) => format!(
            "Next: {} {} (line {})",
            task.id.as_deref().unwrap_or("-"),
            task.text,
            task.line
        ),
        (None, None) => format!("Next: spec-server archive {}", view.change_id),
    };
    output.line(output.paint(Ink::Bold, &next))?;
    for note in view.note.iter() {
        output.line(output.paint(Ink::Yellow, note))?;
    }
    for text in view.instruction.iter() {
        output.line("")?;
        output.text(text)?;
    }
    let Some(write) = &view.write else { return Ok(()) };
    for rule in &write.rules {
        output.line(format_args!("- {}", output.safe(rule)))?;
    }
    for (title, text) in [("Context", &write.context), ("Template", &write.template)] {
        if let Some(text) = text {
            output.line("")?;
            output.line(output.paint(Ink::Dim, &format!("--- {title} ---")))?;
            output.text(text)?;
        }
    }
    Ok(())
}
