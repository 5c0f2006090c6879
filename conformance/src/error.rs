//! What can be wrong with a transcript, and where: the member inside a line, the line, the file.

use std::fmt;

use serde_json::{Map, Value};

/// Something invalid in a transcript, with the member that has it.
///
/// The member is a dotted path inside its line, such as `expect.result.tools[0].name`; empty for the line as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    member: String,
    text: String,
}

impl Problem {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { member: String::new(), text: text.into() }
    }

    /// The same problem, one member further in.
    pub(crate) fn within(self, member: &str) -> Self {
        let dot = !self.member.is_empty() && !self.member.starts_with('[');
        Self {
            member: format!("{member}{}{}", if dot { "." } else { "" }, self.member),
            text: self.text,
        }
    }

    /// The member at fault, empty for the whole.
    pub fn member(&self) -> &str {
        &self.member
    }
}

/// Parses each element, and puts its index before the problems inside it.
///
/// # Errors
/// The first problem.
pub(crate) fn each_element<T>(
    items: &[Value],
    parse: impl Fn(&Value) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    let parsed = items
        .iter()
        .enumerate()
        .map(|(index, item)| parse(item).map_err(|problem| problem.within(&format!("[{index}]"))));
    parsed.collect()
}

/// Parses each member with its name, and puts the name before the problems inside it.
///
/// # Errors
/// The first problem.
pub(crate) fn each_member<T, C: FromIterator<T>>(
    members: &Map<String, Value>,
    parse: impl Fn(&str, &Value) -> Result<T, Problem>,
) -> Result<C, Problem> {
    let parsed = members
        .iter()
        .map(|(name, value)| parse(name, value).map_err(|problem| problem.within(name)));
    parsed.collect()
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.member.is_empty() {
            write!(f, "{}: ", self.member)?;
        }
        f.write_str(&self.text)
    }
}

impl std::error::Error for Problem {}

/// A transcript that cannot be replayed. Displays as `file:line: member: what is wrong`.
#[derive(Debug)]
pub struct TranscriptError {
    pub(crate) source: String,
    pub(crate) line: Option<usize>,
    pub(crate) problem: Problem,
}

impl TranscriptError {
    pub(crate) fn file(source: impl Into<String>, text: impl Into<String>) -> Self {
        Self { source: source.into(), line: None, problem: Problem::new(text) }
    }

    pub(crate) fn line(source: &str, line: usize, problem: Problem) -> Self {
        Self { source: source.to_owned(), line: Some(line), problem }
    }

    /// The file, or the name given to [`Transcript::parse`](crate::Transcript::parse).
    pub fn source_name(&self) -> &str {
        &self.source
    }

    /// The line at fault, counted from 1; `None` for the file as a whole.
    pub fn line_number(&self) -> Option<usize> {
        self.line
    }

    /// The member at fault, a dotted path; empty for the whole line.
    pub fn member(&self) -> &str {
        self.problem.member()
    }
}

impl fmt::Display for TranscriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for TranscriptError {}
