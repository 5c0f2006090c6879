//! A project's own workflow: `openspec/schemas/<name>/schema.yaml`.

use std::collections::HashSet;
use std::path::PathBuf;

use super::yaml::{Value, yaml};
use crate::model::{Artifact, Origin, Schema};

/// Reads a `schema.yaml` in `folder`.
///
/// # Errors
/// Why it is not valid, as OpenSpec judges it.
pub(crate) fn schema(text: &str, folder: PathBuf) -> Result<Schema, String> {
    let value = yaml(text).map_err(|problem| format!("line {}: {}", problem.line, problem.text))?;
    let name = value.get("name").and_then(Value::filled).ok_or("`name` is missing")?;
    let version = match value.get("version") {
        Some(Value::Number(version)) => version.parse::<u32>().ok().filter(|number| *number > 0),
        _ => None,
    };
    version.ok_or("`version` must be a whole number above 0")?;
    let Some(Value::List(list)) =
        value.get("artifacts").filter(|list| **list != Value::List(Vec::new()))
    else {
        return Err("`artifacts` must be a list with at least one artifact".to_owned());
    };
    let artifacts = list.iter().map(artifact).collect::<Result<Vec<_>, _>>()?;
    let known = |id: &String| artifacts.iter().any(|artifact| artifact.id == *id);
    let mut schema = Schema {
        name: name.to_owned(),
        apply_instruction: None,
        tracked: artifacts.iter().find(|one| one.id == "tasks").map(|one| one.files.clone()),
        origin: Origin::Own(folder),
        notes: Vec::new(),
        artifacts: in_order(artifacts.clone())?,
    };
    if let Some(apply) = value.get("apply") {
        let required = apply.get("requires").and_then(ids).filter(|ids| !ids.is_empty());
        let required = required.ok_or("`apply.requires` must be a list of artifacts")?;
        if let Some(other) = required.iter().find(|id| !known(id)) {
            return Err(format!(
                "`apply.requires` names {other:?}, which is not an artifact of it"
            ));
        }
        schema.apply_instruction = text_of(apply, "instruction");
        if let Some(tracks) = apply.get("tracks").filter(|tracks| **tracks != Value::Null) {
            let tracks = below(tracks).ok_or("`apply.tracks` must be a path below the change")?;
            schema.tracked =
                artifacts.iter().find(|one| one.files == tracks).map(|one| one.files.clone());
            if schema.tracked.is_none() {
                schema.notes.push(format!(
                    "`apply.tracks: {tracks}` is not the `generates` of any artifact, so the tasks are read from tasks.md"
                ));
            }
        }
    }
    Ok(schema)
}

fn artifact(value: &Value) -> Result<Artifact, String> {
    let id = value.get("id").and_then(Value::filled).ok_or("an artifact has no `id`")?;
    let missing = |name: &str| format!("the artifact {id:?} has no usable `{name}`");
    let Some(Value::Text(description)) = value.get("description") else {
        return Err(missing("description"));
    };
    let path = |name: &str| value.get(name).and_then(below).ok_or_else(|| missing(name));
    Ok(Artifact {
        id: id.to_owned(),
        files: path("generates")?.to_owned(),
        description: description.clone(),
        instruction: text_of(value, "instruction"),
        template: path("template")?.to_owned(),
        requires: value
            .get("requires")
            .map_or(Some(Vec::new()), ids)
            .ok_or_else(|| missing("requires"))?,
    })
}

fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name)?.filled().map(|text| text.trim().to_owned())
}

fn ids(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::List(ids) => ids.iter().map(|id| id.filled().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// The artifacts, each after those that it requires, otherwise in their order.
fn in_order(mut left: Vec<Artifact>) -> Result<Vec<Artifact>, String> {
    let mut made: HashSet<String> = HashSet::new();
    let mut ordered = Vec::new();
    let possible =
        |one: &Artifact, made: &HashSet<String>| one.requires.iter().all(|id| made.contains(id));
    while let Some(at) = left.iter().position(|one| possible(one, &made)) {
        let next = left.remove(at);
        if !made.insert(next.id.clone()) {
            return Err(format!("two artifacts have the id {:?}", next.id));
        }
        ordered.push(next);
    }
    match left.first() {
        None => Ok(ordered),
        Some(stuck) => Err(format!(
            "the artifact {:?} requires one that does not exist, or that requires it in turn",
            stuck.id
        )),
    }
}

/// A path that stays below its folder.
fn below(value: &Value) -> Option<&str> {
    let path = value.filled()?;
    let leaves = path.split(['/', '\\']).any(|part| part == "..");
    let drive =
        path.chars().nth(1) == Some(':') && path.starts_with(|c: char| c.is_ascii_alphabetic());
    (!leaves && !drive && !path.starts_with(['/', '\\']) && !path.contains('\0')).then_some(path)
}
