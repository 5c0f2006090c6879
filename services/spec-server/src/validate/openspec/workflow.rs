//! Which workflow a change follows, as far as validation has to know: which files hold its tasks.

use super::folder::Folder;
use crate::model::{Change, Metadata};
use crate::parse::{Value, yaml};
use crate::project::Project;

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
    match project.source(&path) {
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
    let source = files.find_map(|path| project.source(&path).ok().flatten())?;
    let config = yaml(&source.text).ok()?;
    Some(config.get("schema")?.filled()?.to_owned())
}

fn openspec(project: &Project) -> Option<&std::path::Path> {
    project.layout().changes.parent()
}

/// The files of the tasks in a schema; `None` if the schema itself is not sound.
fn tracked(schema: &Value) -> Option<Option<String>> {
    schema.get("name")?.filled()?;
    let Some(Value::Number(version)) = schema.get("version") else {
        return None;
    };
    version.parse::<u32>().ok().filter(|version| *version > 0)?;
    let Some(Value::List(artifacts)) = schema
        .get("artifacts")
        .filter(|list| **list != Value::List(Vec::new()))
    else {
        return None;
    };
    let mut outputs: Vec<(&str, &str)> = Vec::new();
    for artifact in artifacts {
        let output = (
            artifact.get("id")?.filled()?,
            artifact.get("generates").and_then(below)?,
        );
        let described = matches!(artifact.get("description"), Some(Value::Text(_)));
        let known = outputs.iter().any(|(id, _)| *id == output.0);
        if !described || known || artifact.get("template").and_then(below).is_none() {
            return None;
        }
        outputs.push(output);
    }
    let ids = |value: Option<&Value>| match value {
        None => true,
        Some(Value::List(ids)) => ids.iter().all(|id| {
            let id = id.filled();
            outputs.iter().any(|(known, _)| id == Some(*known))
        }),
        Some(_) => false,
    };
    let apply = schema.get("apply");
    let required = apply.and_then(|apply| apply.get("requires"));
    let sound = artifacts
        .iter()
        .all(|artifact| ids(artifact.get("requires")))
        && ids(required)
        && (apply.is_none() || matches!(required, Some(Value::List(ids)) if !ids.is_empty()));
    let files = match apply.and_then(|apply| apply.get("tracks")) {
        None | Some(Value::Null) => outputs.iter().find(|(id, _)| *id == "tasks"),
        Some(tracks) => {
            let tracks = below(tracks)?;
            outputs.iter().find(|(_, files)| *files == tracks)
        }
    };
    sound.then(|| files.map(|(_, files)| (*files).to_owned()))
}

/// A path that leads nowhere else.
fn below(value: &Value) -> Option<&str> {
    let path = value.filled()?;
    let leaves = path.split(['/', '\\']).any(|part| part == "..");
    (!leaves && !path.starts_with(['/', '\\']) && !path.contains([':', '\0'])).then_some(path)
}

/// The files of a change that a schema's pattern names, sorted: `*`, `?` and `**` are known; a pattern with brackets or
/// braces names nothing here.
pub(super) fn matching(folder: &Folder, pattern: &str) -> Vec<String> {
    if !pattern.contains(['*', '?', '[', '{']) {
        let literal = pattern.strip_prefix("./").unwrap_or(pattern);
        return folder
            .has(literal)
            .then(|| literal.to_owned())
            .into_iter()
            .collect();
    }
    if pattern.contains(['[', '{']) {
        return Vec::new();
    }
    let wanted: Vec<&str> = pattern.split('/').collect();
    let fits = |path: &&str| {
        let parts: Vec<&str> = path.split('/').collect();
        parts_match(&wanted, &parts)
    };
    let paths = folder.below("").map(|file| &*file.path);
    paths.filter(fits).map(str::to_owned).collect()
}

/// Whether a path fits a pattern, part by part: one row of a table for each part of the pattern.
fn parts_match(pattern: &[&str], path: &[&str]) -> bool {
    let mut reached: Vec<bool> = vec![false; path.len() + 1];
    if let Some(start) = reached.first_mut() {
        *start = true;
    }
    for wanted in pattern {
        let mut next = vec![false; path.len() + 1];
        let mut any = false;
        for (index, place) in next.iter_mut().enumerate() {
            let here = reached.get(index).copied().unwrap_or(false);
            if *wanted == "**" {
                any |= here;
                *place = any;
            } else if let Some(before) = index.checked_sub(1) {
                let part = path.get(before).copied().unwrap_or_default();
                *place =
                    reached.get(before).copied().unwrap_or(false) && part_matches(wanted, part);
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

/// Whether one part fits, with `*` for any text and `?` for one character.
fn part_matches(pattern: &str, part: &str) -> bool {
    let mut left = pattern.chars().peekable();
    let mut rest = part.chars();
    // Where to go on with one character more taken by the last `*`.
    let mut again: Option<(
        std::iter::Peekable<std::str::Chars<'_>>,
        std::str::Chars<'_>,
    )> = None;
    loop {
        if left.peek() == Some(&'*') {
            left.next();
            again = Some((left.clone(), rest.clone()));
            continue;
        }
        let fits = match (left.next(), rest.next()) {
            (None, None) => return true,
            (Some('?'), Some(_)) => true,
            (Some(wanted), Some(found)) => wanted == found,
            _ => false,
        };
        if !fits {
            let Some((pattern, mut text)) = again.take() else {
                return false;
            };
            if text.next().is_none() {
                return false;
            }
            left = pattern.clone();
            rest = text.clone();
            again = Some((pattern, text));
        }
    }
}
