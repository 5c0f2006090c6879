//! A change's `.openspec.yaml`: a flat mapping of a few known keys.

use super::text::trim_start;
use super::yaml::{Value, YamlEntry, yaml};
use crate::model::{Metadata, MetadataProblem, Source};

/// Reads the metadata of a change. Errors are in [`Metadata::problems`]; unknown keys are ignored.
pub fn metadata(source: Source) -> Metadata {
    let text = source.text.clone();
    let mut metadata = Metadata {
        source,
        schema: None,
        created: None,
        skip_specs: false,
        names_skip_specs: false,
        retire_capabilities: false,
        problems: Vec::new(),
    };
    match yaml(&text) {
        Ok(Value::Map(entries)) => {
            for entry in &entries {
                if let Err(text) = metadata.take(entry) {
                    let text = format!("{}: {text}", entry.key);
                    metadata.report(entry.line, text);
                }
            }
            if !entries.iter().any(|entry| entry.key == "schema") {
                metadata.report(1, "schema is missing; write `schema: spec-driven`".to_owned());
            }
        }
        Ok(_) => metadata.report(1, "must be a mapping, such as `schema: spec-driven`".to_owned()),
        Err(problem) => {
            metadata.names_skip_specs = text.split('\n').any(is_marker);
            metadata.report(problem.line, problem.text);
        }
    }
    metadata
}

impl Metadata {
    fn report(&mut self, line: u32, text: String) {
        self.problems.push(MetadataProblem { line, text });
    }

    fn take(&mut self, entry: &YamlEntry) -> Result<(), &'static str> {
        let value = &entry.value;
        match entry.key.as_str() {
            "schema" => self.schema = Some(filled(value)?.to_owned()),
            "goal" => filled(value).map(drop)?,
            "created" => self.created = Some(day(value)?.to_owned()),
            "affected_areas" => areas(value)?,
            "initiative" => initiative(value)?,
            "skip_specs" => {
                self.names_skip_specs = *value != Value::Bool(false);
                self.skip_specs = switch(value)?;
            }
            "retire_capabilities" => self.retire_capabilities = switch(value)?,
            _ => {}
        }
        Ok(())
    }
}

fn filled(value: &Value) -> Result<&str, &'static str> {
    value.filled().ok_or("must be a string that is not empty")
}

fn switch(value: &Value) -> Result<bool, &'static str> {
    match value {
        Value::Bool(on) => Ok(*on),
        _ => Err("must be true or false"),
    }
}

fn day(value: &Value) -> Result<&str, &'static str> {
    match value {
        Value::Text(text) if is_day(text) => Ok(text),
        _ => Err("must be a day, YYYY-MM-DD"),
    }
}

fn areas(value: &Value) -> Result<(), &'static str> {
    match value {
        Value::List(areas) if areas.iter().all(|area| area.filled().is_some()) => Ok(()),
        _ => Err("must be a list of strings that are not empty"),
    }
}

fn initiative(value: &Value) -> Result<(), &'static str> {
    let named = |key| value.get(key).and_then(Value::filled).is_some_and(is_kebab);
    match value {
        Value::Map(entries) if entries.len() == 2 && named("store") && named("id") => Ok(()),
        _ => Err("must have a `store` and an `id`, both in kebab-case, and nothing else"),
    }
}

/// Whether `text` has the form of `add-login-2`.
pub(crate) fn is_kebab(text: &str) -> bool {
    let is_lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.split('-').all(|part| !part.is_empty() && part.bytes().all(is_lower))
}

/// Whether a line of a text that is not YAML was meant to set `skip_specs`.
fn is_marker(line: &str) -> bool {
    let line = trim_start(line);
    let quote = ['"', '\''].into_iter().find(|quote| line.starts_with(*quote));
    let unquoted = line.trim_start_matches(['"', '\'']);
    let behind = unquoted.strip_prefix("skip_specs").map(|rest| match quote {
        Some(quote) => rest.strip_prefix(quote).unwrap_or_default(),
        None => rest,
    });
    behind.is_some_and(|behind| trim_start(behind).starts_with(':'))
}

/// Whether `text` has the form of a date, `YYYY-MM-DD`.
pub(crate) fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
