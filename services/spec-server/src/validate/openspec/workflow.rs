//! The workflow of a change, as far as validation needs it: which files contain its tasks.

use super::schema::tracked;
use crate::model::{Change, Metadata};
use crate::parse::yaml;
use crate::project::Project;
use crate::words::{SPEC_DRIVEN, config, schema_file, schema_name, within};

/// The workflow of a change.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Workflow {
    /// OpenSpec's own workflow.
    SpecDriven,
    /// The project's own workflow, `openspec/schemas/<name>/schema.yaml`, with the files that it names for the tasks,
    /// if any.
    Own(Option<String>),
    /// The change names a schema that does not exist. Schemas in a user's home folder are not searched, because a
    /// verdict should not depend on the user.
    Unknown,
}

/// Whether a change declares that it has no deltas.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SkipSpecs {
    No,
    Yes,
    /// The declaration is in an invalid file. The reason is in the text.
    Broken(String),
}

/// The workflow of a change: the one in its metadata, else the one of the project.
pub(super) fn workflow(project: &Project, change: &Change) -> Workflow {
    match &change.metadata {
        Some(metadata) if !metadata.problems.is_empty() => Workflow::Unknown,
        Some(metadata) => named(project, metadata.schema.as_deref().unwrap_or_default()),
        None => {
            let name = configured(project).unwrap_or_else(|| SPEC_DRIVEN.to_owned());
            named(project, &name)
        }
    }
}

/// What the metadata declare about deltas. The declaration counts only if all metadata are valid and their workflow
/// exists.
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
    let Some(path) = schema_file(project, name) else {
        return Workflow::Unknown;
    };
    match within(project, &path) {
        Ok(Some(source)) => match yaml(&source.text).ok().as_ref().and_then(tracked) {
            Some(files) => Workflow::Own(files),
            None => Workflow::Unknown,
        },
        Ok(None) if name == SPEC_DRIVEN => Workflow::SpecDriven,
        Ok(None) | Err(_) => Workflow::Unknown,
    }
}

/// The workflow in the configuration. A configuration that cannot be read has none.
fn configured(project: &Project) -> Option<String> {
    let source = config(project).ok()??;
    schema_name(&yaml(&source.text).ok()?)
}
