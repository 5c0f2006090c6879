//! `replay --update`: what a server answers now takes the place of what a transcript expects.
//!
//! Matchers that still accept the answer stay, and so do variables. What is new is written as a recording writes it:
//! identifiers and times by their form, secrets not at all.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::pattern::{Pattern, name};
use crate::record::recorded;
use crate::replay::report::{Event, Failure};
use crate::template::{Vars, sole_member};
use crate::transcript::{Era, Transcript, files};

/// Members of results of 2026-07-28 that a transcript leaves out.
const ENVELOPE: [&str; 4] = ["resultType", "_meta", "ttlMs", "cacheScope"];

/// The failures of a replay, from which transcripts are updated.
#[derive(Debug, Default)]
pub struct Update {
    failed: Vec<(PathBuf, Era, Vec<Failure>)>,
}

/// What became of one transcript.
#[derive(Debug)]
pub struct UpdatedFile {
    /// The file.
    pub path: PathBuf,
    /// The lines that were changed.
    pub lines: Vec<usize>,
    /// What was not, and why.
    pub left: Vec<String>,
}

impl Update {
    /// Keeps what a replay says.
    pub fn add(&mut self, event: &Event<'_>) {
        if let Event::Failed { transcript, era, failures, .. } = event {
            self.failed.push((transcript.source_name().into(), *era, failures.to_vec()));
        }
    }

    /// Writes the transcripts.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn write(&self) -> Result<Vec<UpdatedFile>, String> {
        let mut updated: Vec<UpdatedFile> = Vec::new();
        for (path, era, failures) in &self.failed {
            let one = one(path, *era, failures)?;
            match updated.iter_mut().find(|it| it.path == one.path) {
                Some(known) => {
                    known.lines.extend(one.lines);
                    known.left.extend(one.left);
                }
                None => updated.push(one),
            }
        }
        for file in &mut updated {
            file.lines.sort_unstable();
            file.lines.dedup();
        }
        Ok(updated)
    }
}

fn one(path: &Path, era: Era, failures: &[Failure]) -> Result<UpdatedFile, String> {
    let text = files::read(path).map_err(|error| error.to_string())?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut file = UpdatedFile { path: path.to_owned(), lines: Vec::new(), left: Vec::new() };
    for failure in failures {
        let line = failure.line.checked_sub(1).and_then(|index| lines.get_mut(index));
        let changed = line.as_ref().and_then(|line| changed(line, era, failure));
        match (line, changed) {
            (Some(line), Some(changed)) => {
                *line = changed;
                file.lines.push(failure.line);
            }
            _ => file
                .left
                .push(format!("line {}: {}: {}", failure.line, failure.step, failure.problem)),
        }
    }
    if file.lines.is_empty() {
        return Ok(file);
    }
    let text = lines.join("\n") + "\n";
    if let Err(error) = Transcript::parse(&path.display().to_string(), &text) {
        // Such as a later step that needs what the answer no longer has.
        file.left
            .push(format!("nothing was written, since the transcript would be invalid: {error}"));
        file.lines.clear();
        return Ok(file);
    }
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(file)
}

/// The line with what was answered; `None` if the answer alone does not explain the failure.
fn changed(line: &str, era: Era, failure: &Failure) -> Option<String> {
    let (member, answer) = failure.answer.as_ref()?;
    let mut step: Value = serde_json::from_str(line).ok()?;
    let expected = step.get_mut("expect")?.get_mut(*member)?;
    let mut answer = answer.clone();
    if let (Era::Modern, Some(members)) = (era, answer.as_object_mut()) {
        members
            .retain(|name, _| !ENVELOPE.contains(&name.as_str()) || expected.get(name).is_some());
    }
    let before = expected.clone();
    *expected = merged(&before, &answer, &format!("/{member}"));
    // A status, a header or a notification differs instead.
    (before != *expected).then(|| step.to_string())
}

/// What is expected from now on of the value at `at`, a JSON Pointer.
fn merged(expected: &Value, answer: &Value, at: &str) -> Value {
    let accepts = |answer: Option<&Value>| {
        let pattern = Pattern::parse(expected).ok();
        pattern.is_some_and(|it| it.compare(answer, &mut Vars::default()).is_empty())
    };
    match (expected, answer) {
        (Value::Object(members), _)
            if sole_member(members).is_some_and(|it| it.0.starts_with('$')) =>
        {
            match sole_member(members) {
                Some(("$capture" | "$var", _)) => expected.clone(),
                _ if accepts(Some(answer)) => expected.clone(),
                _ => recorded(at, answer),
            }
        }
        (Value::Object(members), Value::Object(answers)) => {
            let both = answers.iter().map(|(name, answer)| {
                let at = format!("{at}/{name}");
                let known = members.get(name);
                let value =
                    known.map_or_else(|| recorded(&at, answer), |it| merged(it, answer, &at));
                (name.clone(), value)
            });
            let mut both: Map<_, _> = both.collect();
            // What may be absent stays so.
            let is_optional = |value: &&Value| {
                let pattern = Pattern::parse(value).ok();
                pattern.is_some_and(|it| it.compare(None, &mut Vars::default()).is_empty())
            };
            let absent = members
                .iter()
                .filter(|(name, value)| !answers.contains_key(*name) && is_optional(value));
            both.extend(absent.map(|(name, value)| (name.clone(), value.clone())));
            both.into()
        }
        (Value::Array(items), Value::Array(answers)) => {
            let twin = |index: usize, answer: &Value| match name(answer) {
                Some(own) => items.iter().find(|it| name(it) == Some(own)),
                None => items.get(index),
            };
            let both = answers.iter().enumerate().map(|(index, answer)| {
                let at = format!("{at}/{index}");
                let twin = twin(index, answer);
                twin.map_or_else(|| recorded(&at, answer), |it| merged(it, answer, &at))
            });
            both.collect()
        }
        (Value::String(text), _) if text.contains("${") && !text.contains("$${") => {
            expected.clone()
        }
        _ if accepts(Some(answer)) => expected.clone(),
        _ => recorded(at, answer),
    }
}
