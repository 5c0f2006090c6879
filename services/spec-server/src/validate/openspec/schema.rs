//! A project's own workflow: `openspec/schemas/<name>/schema.yaml`.

use std::collections::HashSet;

use crate::parse::Value;

/// One artifact of a change.
struct Artifact<'v> {
    id: &'v str,
    /// Its files.
    files: &'v str,
    requires: Vec<&'v str>,
}

/// The task files that a schema names, if any; `None` if the schema is invalid.
pub(super) fn tracked(schema: &Value) -> Option<Option<String>> {
    schema.get("name")?.filled()?;
    let Some(Value::Number(version)) = schema.get("version") else {
        return None;
    };
    version.parse::<u32>().ok().filter(|version| *version > 0)?;
    let Some(Value::List(list)) = schema.get("artifacts") else {
        return None;
    };
    let artifacts: Vec<Artifact<'_>> = list.iter().map(artifact).collect::<Option<_>>()?;
    if artifacts.is_empty() || !is_order(&artifacts) {
        return None;
    }
    let tracks = match schema.get("apply") {
        None => None,
        Some(apply) => {
            let known = |id: &&str| artifacts.iter().any(|artifact| artifact.id == *id);
            let required = ids(apply.get("requires")?)?;
            if required.is_empty() || !required.iter().all(known) {
                return None;
            }
            match apply.get("tracks") {
                None | Some(Value::Null) => None,
                Some(tracks) => Some(below(tracks)?),
            }
        }
    };
    let is_tasks = |artifact: &&Artifact<'_>| match tracks {
        Some(tracks) => artifact.files == tracks,
        None => artifact.id == "tasks",
    };
    let found = artifacts.iter().find(is_tasks);
    Some(found.map(|artifact| artifact.files.to_owned()))
}

fn artifact(value: &Value) -> Option<Artifact<'_>> {
    let Some(Value::Text(_)) = value.get("description") else {
        return None;
    };
    value.get("template").and_then(below)?;
    Some(Artifact {
        id: value.get("id")?.filled()?,
        files: value.get("generates").and_then(below)?,
        requires: value.get("requires").map_or(Some(Vec::new()), ids)?,
    })
}

fn ids(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::List(ids) => ids.iter().map(Value::filled).collect(),
        _ => None,
    }
}

/// Whether each artifact can be made after those it requires: all ids are distinct, all required artifacts exist, and
/// none requires itself through others.
fn is_order(artifacts: &[Artifact<'_>]) -> bool {
    let mut made: HashSet<&str> = HashSet::new();
    loop {
        let possible = artifacts.iter().filter(|artifact| {
            !made.contains(artifact.id) && artifact.requires.iter().all(|id| made.contains(id))
        });
        let possible: Vec<&str> = possible.map(|artifact| artifact.id).collect();
        if possible.is_empty() {
            return made.len() == artifacts.len();
        }
        made.extend(possible);
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
