//! A change's `.openspec.yaml`: a flat mapping of a few known keys.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::text::number;
use crate::model::{Line, Metadata, MetadataProblem, Source};

/// Reads the metadata of a change. What is wrong with it is told in [`Metadata::problems`]; unknown keys are let be.
#[must_use]
pub fn metadata(source: Source) -> Metadata {
    let text = source.text.clone();
    let mut metadata = Metadata {
        source,
        schema: None,
        created: None,
        skip_specs: false,
        retire_capabilities: false,
        problems: Vec::new(),
    };
    let tell = |line, text: &str| MetadataProblem {
        line,
        text: text.to_owned(),
    };
    match entries(&text) {
        Ok(entries) => {
            for entry in entries {
                if let Err(text) = metadata.take(&entry) {
                    let problem = tell(entry.line, &format!("{}: {text}", entry.key));
                    metadata.problems.push(problem);
                }
            }
        }
        Err((line, text)) => metadata.problems.push(tell(line, &text)),
    }
    if metadata.schema.is_none() && metadata.problems.is_empty() {
        let problem = tell(1, "schema is missing; write `schema: spec-driven`");
        metadata.problems.push(problem);
    }
    metadata
}

/// One key of the mapping.
struct Entry {
    key: String,
    line: Line,
    value: Value,
}

/// What stands behind a key.
enum Value {
    Null,
    Bool(bool),
    Text(String),
    /// A number, a list or a mapping.
    Other,
}

impl Metadata {
    fn take(&mut self, entry: &Entry) -> Result<(), &'static str> {
        match entry.key.as_str() {
            "schema" => self.schema = Some(filled(&entry.value)?),
            "goal" => filled(&entry.value).map(drop)?,
            "created" => self.created = Some(day(&entry.value)?),
            "skip_specs" => self.skip_specs = switch(&entry.value)?,
            "retire_capabilities" => self.retire_capabilities = switch(&entry.value)?,
            _ => {}
        }
        Ok(())
    }
}

fn filled(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::Text(text) if !text.is_empty() => Ok(text.clone()),
        _ => Err("must be a string that is not empty"),
    }
}

fn switch(value: &Value) -> Result<bool, &'static str> {
    match value {
        Value::Bool(on) => Ok(*on),
        _ => Err("must be true or false"),
    }
}

fn day(value: &Value) -> Result<String, &'static str> {
    match value {
        Value::Text(text) if is_day(text) => Ok(text.clone()),
        _ => Err("must be a day, YYYY-MM-DD"),
    }
}

/// Whether `text` is written like a day, `YYYY-MM-DD`.
pub(crate) fn is_day(text: &str) -> bool {
    text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// The keys of the mapping that `text` is; what lies deeper is passed over, however deep it is.
fn entries(text: &str) -> Result<Vec<Entry>, (Line, String)> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut key: Option<(String, Line)> = None;
    let mut depth = 0_usize;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            (
                number(error.marker().line().saturating_sub(1)),
                error.info().to_owned(),
            )
        })?;
        let line = number(span.start.line().saturating_sub(1));
        let value = match event {
            Event::MappingStart(..) if depth == 0 => {
                depth = 1;
                continue;
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                depth += 1;
                match depth {
                    2 => Value::Other,
                    _ => continue,
                }
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                continue;
            }
            Event::Scalar(text, style, ..) if depth == 1 => match key {
                None => {
                    if entries.iter().any(|entry| *entry.key == *text) {
                        return Err((line, format!("{text} is there twice")));
                    }
                    key = Some((text.into_owned(), line));
                    continue;
                }
                Some(_) => scalar(&text, style),
            },
            Event::Alias(_) if depth == 1 => Value::Other,
            Event::Scalar(..) if depth == 0 => {
                return Err((
                    line,
                    "must be a mapping, such as `schema: spec-driven`".to_owned(),
                ));
            }
            _ => continue,
        };
        // A list or a mapping as a key is passed over with its value.
        if let Some((key, line)) = key.take() {
            entries.push(Entry { key, line, value });
        } else {
            key = Some((String::new(), line));
        }
        if entries.len() > MAX_KEYS {
            return Err((line, format!("more than {MAX_KEYS} keys")));
        }
    }
    Ok(entries)
}

/// The most keys that are read: the format knows some ten.
const MAX_KEYS: usize = 1_000;

fn scalar(text: &str, style: ScalarStyle) -> Value {
    match (style, text) {
        (ScalarStyle::Plain, "" | "~" | "null" | "Null" | "NULL") => Value::Null,
        (ScalarStyle::Plain, "true" | "True" | "TRUE") => Value::Bool(true),
        (ScalarStyle::Plain, "false" | "False" | "FALSE") => Value::Bool(false),
        (ScalarStyle::Plain, number) if number.parse::<f64>().is_ok() => Value::Other,
        (_, text) => Value::Text(text.to_owned()),
    }
}
