//! The contract in transcripts: what they expect of the lists and of the greeting.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::values::VARIES;
use super::{Contract, ItemKind};
use crate::template::sole_member;
use crate::transcript::{Transcript, files};

/// Reads the transcripts at a path.
pub(super) fn read(path: &Path) -> Result<Contract, String> {
    let mut paths: Vec<PathBuf> = Vec::new();
    files::find(path, &mut paths).map_err(|error| error.problem.to_string())?;
    let mut contract = Contract { source: path.display().to_string(), ..Contract::default() };
    for file in paths {
        let name = file.display().to_string();
        let text = files::read(&file).map_err(|error| error.problem.to_string())?;
        // It is invalid in the same way as for a replay.
        Transcript::parse(&name, &text).map_err(|error| error.to_string())?;
        for (line, number) in text.lines().zip(1..) {
            if let Ok(step) = serde_json::from_str::<Value>(line) {
                contract.learn(&step, &format!("{name}:{number}"));
            }
        }
    }
    if contract.lists.is_empty() {
        return Err("no step of these transcripts expects a list of tools, prompts or resources; \
                    `snapshot` reads a server"
            .to_owned());
    }
    Ok(contract)
}

impl Contract {
    /// Learns what a step expects.
    fn learn(&mut self, step: &Value, place: &str) {
        let Some(result) = step.pointer("/expect/result").map(plain) else {
            return;
        };
        let method = step.pointer("/mcp/method").and_then(Value::as_str);
        if step.get("open").is_some() || method == Some("server/discover") {
            self.greet(&result);
            let version = result.get("protocolVersion").and_then(Value::as_str);
            self.revision = version.map(str::to_owned).or_else(|| self.revision.take());
        }
        let kind = ItemKind::ALL.into_iter().find(|kind| method == Some(kind.method()));
        let Some(kind) = kind else {
            return;
        };
        match result.get(kind.member()).and_then(Value::as_array) {
            Some(items) => self.add(kind, items),
            None => {
                self.notes.push(format!("{place} does not expect a whole list of {}s", kind.word()))
            }
        }
    }
}

/// The value that a pattern stands for; what may vary is marked.
fn plain(pattern: &Value) -> Value {
    match pattern {
        Value::String(text) => text.replace("$${", "${").into(),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => match sole_member(members) {
            Some(("$literal", value)) => value.clone(),
            Some(("$unordered", Value::Array(items))) => items.iter().map(plain).collect(),
            Some((name, _)) if name.starts_with('$') => json!({ VARIES: true }),
            _ => {
                let members = members.iter().map(|(name, value)| (name.clone(), plain(value)));
                Value::Object(members.collect::<Map<_, _>>())
            }
        },
        scalar => scalar.clone(),
    }
}
