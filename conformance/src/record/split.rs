//! One behaviour per file: a request, the steps that wait for its effects, and the steps whose values it uses.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::as_json;
use crate::json::put;
use crate::transcript::format::Line;

/// Steps that belong together: a request, and what follows it up to the next.
struct Group {
    steps: Vec<Value>,
    /// The names it uses, and those that it introduces.
    uses: BTreeSet<String>,
    introduces: BTreeSet<String>,
}

/// The transcripts of the requests in `lines`, each with the name of its file.
pub(super) fn behaviours(lines: &[Line], name: &str) -> Vec<(String, Vec<Value>)> {
    let mut lines = lines.iter().map(as_json);
    let header = lines.next().unwrap_or_default();
    let (mut opening, mut groups): (Vec<Value>, Vec<Group>) = Default::default();
    for step in lines {
        let begins = step.pointer("/mcp/method").is_some() || step.get("stream").is_some();
        if step.get("open").is_some() || groups.is_empty() && !begins {
            opening.push(step);
            continue;
        }
        if begins {
            groups.push(Group {
                steps: Vec::new(),
                uses: BTreeSet::new(),
                introduces: BTreeSet::new(),
            });
        }
        if let Some(group) = groups.last_mut() {
            names(&step, "", group);
            group.steps.push(step);
        }
    }
    let mut makers: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, group) in groups.iter().enumerate() {
        for name in &group.introduces {
            makers.entry(name).or_default().push(index);
        }
    }
    let mut files = Vec::with_capacity(groups.len());
    for (index, group) in groups.iter().enumerate() {
        let called = called(group);
        let mut header = header.clone();
        put(&mut header, "name", format!("{name}/{:02}-{called}", index + 1));
        let mut lines = vec![header];
        lines.extend(opening.iter().cloned());
        for needed in needed(&groups, &makers, index) {
            lines.extend(
                groups.get(needed).into_iter().flat_map(|group| group.steps.iter().cloned()),
            );
        }
        files.push((format!("{:02}-{called}.jsonl", index + 1), lines));
    }
    files
}

/// The groups before this one that it cannot do without, and itself, in order.
fn needed(groups: &[Group], makers: &BTreeMap<&str, Vec<usize>>, index: usize) -> BTreeSet<usize> {
    let mut needed = BTreeSet::new();
    let mut open = vec![index];
    while let Some(index) = open.pop() {
        if !needed.insert(index) {
            continue;
        }
        let uses = groups.get(index).map(|group| &group.uses);
        for name in uses.into_iter().flatten() {
            let before = makers.get(name.as_str()).into_iter().flatten();
            open.extend(before.filter(|maker| **maker < index));
        }
    }
    needed
}

/// What a step says of names: a stream is made by what opens it, and by each who waited on it before.
fn names(value: &Value, key: &str, group: &mut Group) {
    match value {
        Value::String(text) => {
            match key {
                "$capture" => drop(group.introduces.insert(text.clone())),
                "$var" => drop(group.uses.insert(text.clone())),
                "stream" => drop(group.introduces.insert(format!("stream {text}"))),
                "await" | "end" | "close" => {
                    group.uses.insert(format!("stream {text}"));
                    group.introduces.insert(format!("stream {text}"));
                }
                _ => {}
            }
            for part in text.split("${").skip(1) {
                group.uses.extend(part.split_once('}').map(|(name, _)| name.to_owned()));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, "", group)),
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| names(value, name, group))
        }
        _ => {}
    }
}

/// A few letters for the file.
fn called(group: &Group) -> String {
    let first = group.steps.first();
    let text = |pointer: &str| first.and_then(|step| step.pointer(pointer)).and_then(Value::as_str);
    let method = text("/mcp/method").unwrap_or("listen");
    let name = text("/mcp/params/name").or_else(|| text("/mcp/params/uri")).unwrap_or_default();
    let words = format!("{method}-{name}");
    let safe =
        words.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    let safe: String = safe.take(80).collect();
    safe.trim_end_matches('-').to_owned()
}
