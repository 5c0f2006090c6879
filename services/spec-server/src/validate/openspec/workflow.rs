//! Which workflow a change follows, as far as validation has to know: which files hold its tasks.

use std::path::Path;

use super::schema::tracked;
use crate::model::{Change, Metadata, Source};
use crate::parse::yaml;
use crate::project::{Project, ReadError};

/// The workflow everybody has.
const SPEC_DRIVEN: &str = "spec-driven";

/// Of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Workflow {
    /// OpenSpec's own.
    SpecDriven,
    /// One of the project's own, `openspec/schemas/<name>/schema.yaml`, and the files it says the tasks are in, if it does.
    Own(Option<String>),
    /// The change names none that is there. Those in a user's home are not looked for: a verdict should not depend on who
    /// asks.
    Unknown,
}

/// Whether a change says that it is to have no deltas.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SkipSpecs {
    No,
    Yes,
    /// It says so in a file that cannot be believed, and why.
    Broken(String),
}

/// The workflow of a change: what its metadata say, else what the project says.
pub(super) fn workflow(project: &Project, change: &Change) -> Workflow {
    match &change.metadata {
        Some(metadata) if !metadata.problems.is_empty() => Workflow::Unknown,
        Some(metadata) => named(project, metadata.schema.as_deref().unwrap_or_default()),
        None => {
            let name = configured(project).unwrap_or_else(|| SPEC_DRIVEN.to_owned());
            let bare = [".yaml", ".yml"]
                .iter()
                .find_map(|end| name.strip_suffix(end));
            named(project, bare.unwrap_or(&name))
        }
    }
}

/// What the metadata say of deltas. They are believed if all of them is right and the workflow they name is there.
pub(super) fn skip_specs(project: &Project, metadata: Option<&Metadata>) -> SkipSpecs {
    let Some(metadata) = metadata else {
        return SkipSpecs::No;
    };
    match metadata.problems.first() {
        Some(problem) if metadata.names_skip_specs => {
            SkipSpecs::Broken(format!("line {}: {}", problem.line, problem.text))
        }
        Some(_) => SkipSpecs::No,
        None if !metadata.skip_specs => SkipSpecs::No,
        None => {
            let schema = metadata.schema.as_deref().unwrap_or_default();
            match named(project, schema) {
                Workflow::Unknown => SkipSpecs::Broken(format!(
                    "the schema {schema:?} is neither {SPEC_DRIVEN} nor a sound one below openspec/schemas"
                )),
                _ => SkipSpecs::Yes,
            }
        }
    }
}

fn named(project: &Project, name: &str) -> Workflow {
    let is_name = !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':']);
    let Some(folder) = openspec(project).filter(|_| is_name) else {
        return Workflow::Unknown;
    };
    let path = folder.join("schemas").join(name).join("schema.yaml");
    match within(project, &path) {
        Ok(Some(source)) => match yaml(&source.text).ok().as_ref().and_then(tracked) {
            Some(files) => Workflow::Own(files),
            None => Workflow::Unknown,
        },
        Ok(None) if name == SPEC_DRIVEN => Workflow::SpecDriven,
        Ok(None) | Err(_) => Workflow::Unknown,
    }
}

/// `openspec/config.yaml`, or `.yml`; one that cannot be read says nothing.
fn configured(project: &Project) -> Option<String> {
    let folder = openspec(project)?;
    let mut files = ["config.yaml", "config.yml"]
        .iter()
        .map(|name| folder.join(name));
    let source = files.find_map(|path| within(project, &path).ok().flatten())?;
    let config = yaml(&source.text).ok()?;
    Some(config.get("schema")?.filled()?.to_owned())
}

/// A file whose folder may be a link; one that leads out of the project is not followed.
fn within(project: &Project, path: &Path) -> Result<Option<Source>, ReadError> {
    project.holds(path)?;
    project.source(path)
}

fn openspec(project: &Project) -> Option<&Path> {
    project.layout().changes.parent()
}
