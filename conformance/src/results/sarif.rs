//! SARIF 2.1.0: one run, a result for each case that did not hold.

use std::collections::BTreeMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::{Case, Location, Outcome, Results, Subject};
use crate::check::Level;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The characters of a path that a URI reference cannot have.
const RESERVED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The log.
pub(super) fn log(results: &Results) -> Value {
    let mut rules = BTreeMap::new();
    for (_, case) in results.cases() {
        rules.entry(case.name.as_str()).or_insert(case);
    }
    let index = |case: &Case| rules.keys().position(|name| *name == case.name);
    let shown = results.cases().filter(|(_, case)| {
        matches!(case.verdict, Outcome::Finding | Outcome::Known | Outcome::Fixed)
    });
    let found: Vec<_> = shown.map(|(target, case)| result(target, case, index(case))).collect();
    let notes: Vec<_> = results
        .targets
        .iter()
        .filter_map(|target| target.unreachable.as_ref())
        .map(|why| json!({"level": "error", "message": {"text": why}}))
        .collect();
    let is_reached = notes.is_empty();
    let calls = results.targets.iter().filter_map(|target| {
        let text = format!("{}: {}", target.name, target.calls.as_ref()?);
        Some(json!({"level": "note", "message": {"text": text}}))
    });
    let notes: Vec<_> = notes.into_iter().chain(calls).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "mcp-conformance",
                "version": results.version,
                "rules": rules.values().map(|case| rule(case)).collect::<Vec<_>>(),
            }},
            "invocations": [{
                "executionSuccessful": is_reached,
                "endTimeUtc": results.at,
                "toolExecutionNotifications": notes,
            }],
            "results": found,
        }],
    })
}

fn level(case: &Case) -> &'static str {
    match case.level {
        None | Some(Level::Must) => "error",
        Some(Level::Should) => "warning",
        Some(Level::Practice) => "note",
    }
}

fn rule(case: &Case) -> Value {
    let mut rule = members([
        ("id", json!(case.name)),
        ("shortDescription", json!({"text": case.title})),
        ("defaultConfiguration", json!({"level": level(case)})),
    ]);
    if let (Some(section), Some(level)) = (&case.section, case.level) {
        let properties = json!({"section": section, "binds": level.to_string()});
        rule.insert("properties".to_owned(), properties);
    }
    rule.into()
}

fn result(target: &Subject, case: &Case, index: Option<usize>) -> Value {
    let mut text = format!("{}: {}", target.name, case.title);
    if let Some(seen) = &case.seen {
        text += &format!(". Seen: {seen}");
    }
    if let Some(fix) = &case.fix {
        text += &format!(". Change: {fix}");
    }
    let fingerprint = format!("{}/{}/{}", target.name, case.name, case.revision);
    let properties = json!({"revision": case.revision, "exchange": case.exchange});
    let mut result = members([
        ("ruleId", json!(case.name)),
        ("level", json!(level(case))),
        ("message", json!({"text": text})),
        ("locations", json!([location(target, case)])),
        ("partialFingerprints", json!({"case/v1": fingerprint})),
        ("properties", properties),
    ]);
    if let Some(index) = index {
        result.insert("ruleIndex".to_owned(), index.into());
    }
    let accepted = json!([{"kind": "external", "status": "accepted"}]);
    match case.verdict {
        Outcome::Known => result.insert("suppressions".to_owned(), accepted),
        Outcome::Fixed => result.insert("baselineState".to_owned(), "absent".into()),
        _ => None,
    };
    result.into()
}

/// A transcript is a file. A server has a name alone, which stands for one: GitHub takes no result without a file.
fn location(target: &Subject, case: &Case) -> Value {
    let (uri, line) = match &case.place {
        Some(Location { file, line }) => (reference(file), *line),
        None if target.name.is_empty() => ("server".to_owned(), 1),
        None => (target.name.replace(|it: char| !it.is_ascii_alphanumeric() && it != '.', "-"), 1),
    };
    json!({
        "logicalLocations": [{"name": target.name, "kind": "module"}],
        "physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}},
    })
}

fn members<const COUNT: usize>(members: [(&str, Value); COUNT]) -> Map<String, Value> {
    let owned = members.map(|(name, value)| (name.to_owned(), value));
    owned.into_iter().collect()
}

/// A path as a URI reference.
fn reference(path: &str) -> String {
    utf8_percent_encode(&path.replace('\\', "/"), RESERVED).to_string()
}
