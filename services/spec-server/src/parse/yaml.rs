//! A YAML subset for the files next to the Markdown: one document of scalars, lists and mappings.

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::text::number;
use crate::model::Line;

/// The most values in a document, and the deepest nesting.
const MAX_VALUES: usize = 10_000;
const MAX_DEPTH: usize = 32;

/// A value. Plain scalars are interpreted by the core schema of YAML 1.2.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Nothing, `~`, `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number in its written form.
    Number(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Self>),
    /// A mapping in the order of the file, without duplicate keys.
    Map(Vec<YamlEntry>),
    /// A value that is not supported: a reference to another value.
    Other,
}

/// One key of a mapping.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YamlEntry {
    pub(crate) key: String,
    pub(crate) line: Line,
    pub(crate) value: Value,
}

/// Where and why a text is not valid in this YAML subset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) line: Line,
    pub(crate) text: String,
}

/// Reads one document; an empty text is null.
pub(crate) fn yaml(text: &str) -> Result<Value, Problem> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| Problem {
            line: number(error.marker().line().saturating_sub(1)),
            text: error.info().to_owned(),
        })?;
        let line = number(span.start.line().saturating_sub(1));
        reader.take(event, line).map_err(|text| Problem { line, text })?;
    }
    Ok(reader.document.unwrap_or(Value::Null))
}

/// A list or a mapping that is not yet complete.
enum Open {
    List(Vec<Value>),
    Map(Vec<YamlEntry>, Option<(String, Line)>),
}

#[derive(Default)]
struct Reader {
    open: Vec<Open>,
    document: Option<Value>,
    documents: usize,
    values: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, line: Line) -> Result<(), String> {
        match event {
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err("a second document begins here; there must be one".to_owned());
                }
            }
            Event::SequenceStart(..) => self.open.push(Open::List(Vec::new())),
            Event::MappingStart(..) => self.open.push(Open::Map(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.complete(Value::List(items), line)?,
                Some(Open::Map(entries, _)) => self.complete(Value::Map(entries), line)?,
                None => {}
            },
            Event::Scalar(text, style, ..) => self.complete(scalar(&text, style), line)?,
            Event::Alias(_) => self.complete(Value::Other, line)?,
            _ => {}
        }
        if self.open.len() > MAX_DEPTH {
            Err(format!("more than {MAX_DEPTH} lists and mappings, one in the other"))
        } else {
            Ok(())
        }
    }

    fn complete(&mut self, value: Value, line: Line) -> Result<(), String> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(format!("more than {MAX_VALUES} values"));
        }
        match self.open.last_mut() {
            None => self.document = Some(value),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(entries, key)) => match key.take() {
                Some((key, line)) => entries.push(YamlEntry { key, line, value }),
                None => {
                    let name = value.into_key();
                    if entries.iter().any(|entry| entry.key == name) {
                        return Err(format!("the key {name} is there twice"));
                    }
                    *key = Some((name, line));
                }
            },
        }
        Ok(())
    }
}

impl Value {
    /// The value of a key, if this is a mapping with this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key == key);
        entry.map(|entry| &entry.value)
    }

    /// The string, if this is a string that is not empty.
    pub(crate) fn filled(&self) -> Option<&str> {
        match self {
            Self::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    fn into_key(self) -> String {
        match self {
            Self::Text(text) | Self::Number(text) => text,
            Self::Bool(value) => value.to_string(),
            _ => String::new(),
        }
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        text if is_number(text) => Value::Number(text.to_owned()),
        text => Value::Text(text.to_owned()),
    }
}

/// Whether a plain scalar is a number. No file here has an octal, hexadecimal or infinite one.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    // Other forms that Rust accepts begin with a letter.
    digits.starts_with(|c: char| c == '.' || c.is_ascii_digit()) && digits.parse::<f64>().is_ok()
}
