//! `spec-server list`

use clap::Args;
use serde::Serialize;

use super::CliError;
use super::output::{Ink, Output};
use crate::model::{Change, Spec};
use crate::plural::counted;
use crate::project::{Listing, Project, Unreadable};
use crate::view::{ChangeSummary, TaskProgress};

#[derive(Debug, Clone, Args)]
pub(super) struct ListArgs {
    /// Lists the specs alone.
    #[arg(long, conflicts_with_all = ["changes", "archived"])]
    specs: bool,
    /// Lists the active changes alone.
    #[arg(long, conflicts_with = "archived")]
    changes: bool,
    /// Lists the archived changes instead.
    #[arg(long)]
    archived: bool,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// For programs.
#[derive(Debug, Serialize)]
struct Listed {
    #[serde(skip_serializing_if = "Option::is_none")]
    specs: Option<Vec<ListedSpec>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<ChangeSummary>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ListedSpec {
    id: String,
    title: String,
    purpose: String,
    requirements: usize,
}

impl ListArgs {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let specs = (!self.changes && !self.archived).then(|| project.specs());
        let changes = (!self.specs).then(|| project.changes_in(self.archived));
        let (specs, changes) = (specs.transpose()?, changes.transpose()?);
        if self.json {
            output.json(&Listed::new(specs.as_ref(), changes.as_ref()))?;
            return Ok(0);
        }
        if let Some(hidden) = project.hidden() {
            output.line(format_args!("{} {hidden}", output.paint(Ink::Yellow, "!")))?;
        }
        if let Some(specs) = &specs {
            write_specs(specs, output)?;
        }
        if specs.is_some() && changes.is_some() {
            output.line("")?;
        }
        if let Some(changes) = &changes {
            let what = if self.archived { "archived" } else { "active" };
            write_changes(changes, what, output)?;
        }
        Ok(0)
    }
}

fn write_specs(specs: &Listing<Spec>, output: &mut Output<'_>) -> Result<(), CliError> {
    if specs.items.is_empty() && specs.unreadable.is_empty() {
        output.line("No specs found.")?;
        return Ok(());
    }
    let width = width(specs.items.iter().map(|spec| spec.id.as_str()));
    output.line(output.paint(Ink::Bold, "Specs:"))?;
    for spec in &specs.items {
        let id = padded(output, &spec.id, width);
        let count = counted(spec.requirements.len(), "requirement");
        output.line(format_args!("- {id}  {count}"))?;
    }
    write_unreadable(&specs.unreadable, output)
}

fn write_changes(
    changes: &Listing<Change>,
    what: &str,
    output: &mut Output<'_>,
) -> Result<(), CliError> {
    if changes.items.is_empty() && changes.unreadable.is_empty() {
        output.line(format_args!("No {what} changes."))?;
        return Ok(());
    }
    let width = width(changes.items.iter().map(|change| change.id.as_str()));
    output.line(output.paint(Ink::Bold, "Changes:"))?;
    for change in &changes.items {
        let TaskProgress { completed, total } = TaskProgress::of(change);
        let id = padded(output, &change.id, width);
        let bar = output.bar(completed, total);
        output.line(format_args!("- {id}  {bar}{completed}/{total} tasks"))?;
    }
    write_unreadable(&changes.unreadable, output)
}

fn write_unreadable(unreadable: &[Unreadable], output: &mut Output<'_>) -> Result<(), CliError> {
    for unreadable in unreadable {
        let problem = output.safe(&unreadable.problem);
        output.line(format_args!("{} {problem}", output.paint(Ink::Red, "!")))?;
    }
    Ok(())
}

/// The width of the column of ids, in characters. A very long id does not widen the column.
fn width<'i>(ids: impl Iterator<Item = &'i str>) -> usize {
    const MOST: usize = 40;
    ids.map(|id| id.chars().count()).max().unwrap_or(0).min(MOST)
}

fn padded(output: &Output<'_>, id: &str, width: usize) -> String {
    let blanks = width.saturating_sub(id.chars().count());
    format!("{}{}", output.paint(Ink::Cyan, id), " ".repeat(blanks))
}

impl Listed {
    fn new(specs: Option<&Listing<Spec>>, changes: Option<&Listing<Change>>) -> Self {
        let unreadable = specs.iter().flat_map(|specs| &specs.unreadable);
        let of_changes = changes.iter().flat_map(|changes| &changes.unreadable);
        let unreadable = unreadable.chain(of_changes);
        Self {
            specs: specs.map(|specs| specs.items.iter().map(|spec| ListedSpec::of(spec)).collect()),
            changes: changes.map(|changes| {
                let items = changes.items.iter();
                items.map(|change| ChangeSummary::of(change)).collect()
            }),
            unreadable: unreadable.map(|file| file.problem.clone()).collect(),
        }
    }
}

impl ListedSpec {
    fn of(spec: &Spec) -> Self {
        Self {
            id: spec.id.clone(),
            title: spec.title.clone(),
            purpose: spec.purpose.as_ref().map_or_else(String::new, |purpose| purpose.text.clone()),
            requirements: spec.requirements.len(),
        }
    }
}
