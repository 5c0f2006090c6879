//! `spec-server list`

use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value, json};

use super::CliError;
use super::output::{Ink, Output};
use crate::model::{Change, Spec};
use crate::plural::counted;
use crate::project::{Listing, Project, Unreadable};
use crate::view::{ChangeSummary, TaskProgress};
use crate::words::Words;

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

impl ListArgs {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let specs = (!self.changes && !self.archived).then(|| project.specs());
        let changes = (!self.specs).then(|| project.changes_in(self.archived));
        let (specs, changes) = (specs.transpose()?, changes.transpose()?);
        if self.json {
            output.json(&json(specs.as_ref(), changes.as_ref()))?;
            return Ok(0);
        }
        for note in project.hidden().into_iter().chain(Words::of(project).problem()) {
            let note = output.safe(&note);
            output.line(format_args!("{} {note}", output.paint(Ink::Yellow, "!")))?;
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
        output.line(format_args!("- {id}  {completed}/{total} tasks"))?;
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

/// For programs.
fn json(specs: Option<&Listing<Spec>>, changes: Option<&Listing<Change>>) -> Value {
    let unreadable = specs.iter().flat_map(|specs| &specs.unreadable);
    let unreadable = unreadable.chain(changes.iter().flat_map(|changes| &changes.unreadable));
    let unreadable: Vec<&str> = unreadable.map(|file| file.problem.as_str()).collect();
    let mut listed = Map::new();
    if let Some(specs) = specs {
        let spec = |spec: &Arc<Spec>| {
            let purpose = spec.purpose.as_ref().map_or("", |purpose| &purpose.text);
            let requirements = spec.requirements.len();
            json!({"id": spec.id, "title": spec.title, "purpose": purpose, "requirements": requirements})
        };
        listed.insert("specs".to_owned(), specs.items.iter().map(spec).collect());
    }
    if let Some(changes) = changes {
        let changes = changes.items.iter().map(|change| json!(ChangeSummary::of(change)));
        listed.insert("changes".to_owned(), changes.collect());
    }
    if !unreadable.is_empty() {
        listed.insert("unreadable".to_owned(), json!(unreadable));
    }
    Value::Object(listed)
}
