//! `spec-server show`

use clap::Args;

use super::output::{Ink, Output};
use super::{CliError, find};
use crate::model::Change;
use crate::project::Project;
use crate::validate::Touching;
use crate::view::{Budget, ChangeView, Detail, Requirements, Selection, TaskProgress};

#[derive(Debug, Clone, Args)]
pub(super) struct ShowArgs {
    /// The id of a spec or a change, active or archived. A spec goes first if there are both.
    id: String,
    /// Shows the change of that id.
    #[arg(long)]
    change: bool,
    /// Prints JSON: the requirements of a spec, a change with its sections.
    #[arg(long)]
    json: bool,
    /// How much of each requirement of a spec, in JSON.
    #[arg(long, value_enum, default_value_t, requires = "json", value_name = "DETAIL")]
    detail: Detail,
    /// This requirement alone, by its name or its line, in JSON; may be given more than once.
    #[arg(long = "requirement", requires = "json", value_name = "NAME")]
    requirements: Vec<String>,
}

impl ShowArgs {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        match (find::find(project, &self.id, self.change)?, self.json) {
            (find::SpecOrChange::Spec(spec), true) => {
                let selection =
                    Selection { detail: self.detail, names: self.requirements.clone(), offset: 0 };
                let touching = Touching::of(&project.changes()?.items);
                output.json(&Requirements::of(&spec, &selection, &touching, Budget::ALL)?)?;
            }
            (find::SpecOrChange::Change(change), true) => {
                output.json(&ChangeView::whole(&change, Budget::ALL))?
            }
            (find::SpecOrChange::Spec(spec), false) => output.text(&spec.source.text)?,
            (find::SpecOrChange::Change(change), false) => write_change(&change, output)?,
        }
        Ok(0)
    }
}

fn write_change(change: &Change, output: &mut Output<'_>) -> Result<(), CliError> {
    let TaskProgress { completed, total } = TaskProgress::of(change);
    let title = output.paint(Ink::Bold, &change.title);
    output.line(format_args!("{title} ({})", output.safe(&change.id)))?;
    output.line(format_args!("{completed}/{total} tasks"))?;
    for file in change.sources() {
        let path = file.path.to_string_lossy();
        output.line("")?;
        output.line(output.paint(Ink::Dim, &format!("--- {path} ---")))?;
        output.line("")?;
        output.text(&file.text)?;
    }
    Ok(())
}
