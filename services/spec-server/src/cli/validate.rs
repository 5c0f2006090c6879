//! `spec-server validate`

use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::output::{Ink, Output};
use super::{CliError, find};
use crate::archive;
use crate::project::{Dialect, Project, ReadError};
use crate::validate::{self, Finding, Item, Report, Severity};
use crate::view::FindingView;
use crate::words::Words;

#[derive(Debug, Clone, Args)]
pub(super) struct ValidateArgs {
    /// Ids of specs and changes; by default all specs and all active changes. If a spec and a change have the same id,
    /// both are checked.
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// Checks instead that no archived change has open tasks.
    #[arg(long, conflicts_with = "ids")]
    archived: bool,

    /// Takes warnings for errors.
    #[arg(long)]
    strict: bool,

    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Issue {
    level: &'static str,
    #[serde(flatten)]
    finding: FindingView,
}

impl ValidateArgs {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let items = self.items(project)?;
        let report = Report::of(&items, self.strict);
        if self.json {
            output.json(&self.validated(&items, &report))?;
        } else {
            for finding in items.iter().flat_map(|item| &item.findings) {
                let ink = match finding.severity {
                    _ if finding.fails(self.strict) => Ink::Red,
                    Severity::Error | Severity::Warning => Ink::Yellow,
                    Severity::Info => Ink::Dim,
                };
                output.findings([finding], finding.severity.name(), ink)?;
            }
            if let Some(note) = Words::of(project).problem() {
                let note = output.safe(&note);
                output.line(format_args!("{} {note}", output.paint(Ink::Yellow, "!")))?;
            }
            let ink = if report.valid { Ink::Green } else { Ink::Red };
            output.line(output.paint(ink, &report.summary))?;
        }
        Ok(u8::from(!report.valid))
    }

    fn items(&self, project: &Project) -> Result<Vec<Item>, CliError> {
        let layout = project.layout();
        if layout.kind == Dialect::OpenSpec && !layout.specs.is_dir() && !layout.changes.is_dir() {
            let problem = "openspec/ has neither specs/ nor changes/, so there is nothing to check";
            return Err(CliError::Usage(problem.to_owned()));
        }
        if self.ids.is_empty() {
            if self.archived {
                return Ok(validate::archived(project)?);
            }
            let mut items = archive::judge(project, None)?;
            items.extend(validate::specs(project, None)?);
            return Ok(items);
        }
        let found = |read: Result<String, ReadError>| match read {
            Ok(id) => Ok(Some(id)),
            Err(error) if error.is_absent() => Ok(None),
            Err(error) => Err(error),
        };
        let mut items = Vec::new();
        for id in &self.ids {
            let change = found(project.change(id).map(|change| change.id.clone()))?;
            let spec = found(project.spec(id).map(|spec| spec.id.clone()))?;
            if change.is_none() && spec.is_none() {
                return Err(find::missing(project, id)?);
            }
            if let Some(id) = change {
                items.extend(archive::judge(project, Some(&id))?);
            }
            if let Some(id) = spec {
                items.extend(validate::specs(project, Some(&id))?);
            }
        }
        Ok(items)
    }

    /// For programs.
    fn validated(&self, items: &[Item], report: &Report) -> Value {
        let issue = |finding: &Finding| Issue {
            level: finding.severity.name(),
            finding: FindingView::of(finding),
        };
        let item = |item: &Item| {
            let mut validated = json!({
                "id": item.id,
                "type": item.kind.name(),
                "valid": item.is_valid(self.strict),
                "issues": item.findings.iter().map(issue).collect::<Vec<_>>(),
            });
            if let (Some(archivable), Some(members)) = (item.archivable, validated.as_object_mut())
            {
                members.insert("archivable".to_owned(), archivable.into());
            }
            validated
        };
        let items: Vec<Value> = items.iter().map(item).collect();
        json!({ "valid": report.valid, "summary": report.summary, "items": items })
    }
}
