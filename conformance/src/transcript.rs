//! The transcript: a header line and one step per line, read strictly.

mod expect;
mod fields;
pub(crate) mod files;
pub(crate) mod format;
mod names;
mod opening;
mod step;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde_json::Value;

pub(crate) use self::expect::{BodyExpectation, Expect};
use self::fields::Fields;
pub(crate) use self::opening::{Opening, Scripted};
pub(crate) use self::step::{Action, RpcKind, Send, SendBody, Step, StreamSource, Wanted};
use crate::error::{Problem, TranscriptError};

/// The largest transcript file, in bytes.
pub const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;
/// The most steps in one transcript, nested ones included.
pub const MAX_STEPS: usize = 10_000;

/// The two families of protocol revisions, which differ in how a conversation is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Era {
    /// 2024-11-05 to 2025-11-25: an `initialize` handshake, then a session.
    Legacy,
    /// 2026-07-28 on: every request stands alone.
    Modern,
}

impl Era {
    /// Both, in the order of their age.
    pub const ALL: [Self; 2] = [Self::Legacy, Self::Modern];

    /// Its newest revision.
    pub(crate) fn newest(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }

    /// `legacy` or `modern`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Era {
    type Err = Problem;

    fn from_str(name: &str) -> Result<Self, Problem> {
        Self::ALL.into_iter().find(|era| era.name() == name).ok_or_else(|| {
            Problem::new(format!("{name:?} is not an era; the eras are legacy and modern"))
        })
    }
}

/// A recorded or written behaviour that servers can be held against.
#[derive(Debug)]
pub struct Transcript {
    source: String,
    name: String,
    title: String,
    requirements: Vec<String>,
    eras: Vec<Era>,
    fixture: Option<String>,
    endpoint: String,
    pub(crate) steps: Vec<Step>,
}

impl Transcript {
    /// Reads the transcripts in files and, for a directory, in all `*.jsonl` files below it, in the order of their
    /// paths. Symbolic links below a directory are not followed.
    ///
    /// # Errors
    ///
    /// A path that cannot be read, a directory without a transcript, or the first error in a transcript.
    pub fn read_all<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Vec<Self>, TranscriptError> {
        let mut files: Vec<PathBuf> = Vec::new();
        for path in paths {
            files::find(path.as_ref(), &mut files)?;
        }
        files
            .iter()
            .map(|file| Self::parse(&file.display().to_string(), &files::read(file)?))
            .collect()
    }

    /// Reads one transcript from text; `source` names it in errors.
    ///
    /// # Errors
    ///
    /// The first error in the text, with its line and member if known.
    pub fn parse(source: &str, text: &str) -> Result<Self, TranscriptError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim().is_empty());
        let Some((number, header)) = lines.next() else {
            return Err(TranscriptError::file(
                source,
                "the transcript is empty; its first line must be a header such as {\"transcript\":1,\"name\":\"…\"}",
            ));
        };
        let at = |line: usize| move |problem| TranscriptError::line(source, line, problem);
        let mut transcript =
            Self::header(source, &json(header).map_err(at(number))?).map_err(at(number))?;
        for (number, line) in lines {
            let step = Step::parse(number, &json(line).map_err(at(number))?).map_err(at(number))?;
            transcript.steps.push(step);
        }
        if transcript.steps.is_empty() {
            return Err(TranscriptError::file(
                source,
                "the transcript has no steps after its header",
            ));
        }
        let count = step::count(&transcript.steps);
        if count > MAX_STEPS {
            return Err(TranscriptError::file(
                source,
                format!("the transcript has {count} steps; at most {MAX_STEPS} are allowed"),
            ));
        }
        for &era in &transcript.eras {
            names::check(&transcript.steps, era)
                .map_err(|(line, problem)| TranscriptError::line(source, line, problem))?;
        }
        Ok(transcript)
    }

    fn header(source: &str, line: &Value) -> Result<Self, Problem> {
        let mut fields = Fields::of(line)?;
        match fields.required("transcript")? {
            Value::Number(version) if version.as_u64() == Some(1) => {}
            other => {
                return Err(Problem::new(format!(
                    "version {other} is not supported; this program reads version 1"
                ))
                .within("transcript"));
            }
        }
        let eras =
            fields.strings("eras")?.unwrap_or_else(|| vec!["legacy".into(), "modern".into()]);
        let mut eras: Vec<Era> = eras
            .iter()
            .map(|era| era.parse())
            .collect::<Result<_, Problem>>()
            .map_err(|problem| problem.within("eras"))?;
        eras.sort_unstable();
        eras.dedup();
        if eras.is_empty() {
            return Err(Problem::new("lists no era").within("eras"));
        }
        let transcript = Self {
            source: source.to_owned(),
            name: fields.string("name")?,
            title: fields.optional_string("title")?.unwrap_or_default(),
            requirements: fields.strings("requirements")?.unwrap_or_default(),
            eras,
            fixture: fields.optional_string("fixture")?,
            endpoint: fields.optional_string("endpoint")?.unwrap_or_else(|| "/mcp".to_owned()),
            steps: Vec::new(),
        };
        fields.finish()?;
        Ok(transcript)
    }

    /// The names of the variables that its steps capture in an era.
    pub(crate) fn variables(&self, era: Era) -> BTreeSet<String> {
        // That none is used before it is captured was checked when it was read.
        names::check(&self.steps, era).unwrap_or_default()
    }

    /// Where it was read from.
    pub fn source_name(&self) -> &str {
        &self.source
    }

    /// Its name, such as `REQ-MCP-06`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it shows, in a few words; may be empty.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The requirements it covers, such as `REQ-MCP-6`.
    pub fn requirements(&self) -> &[String] {
        &self.requirements
    }

    /// The eras it can be replayed in, oldest first; never empty.
    pub fn eras(&self) -> &[Era] {
        &self.eras
    }

    /// The special server it needs, if not any server will do.
    pub fn fixture(&self) -> Option<&str> {
        self.fixture.as_deref()
    }

    /// The path of the MCP endpoint; `/mcp` unless the header says otherwise.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }
}

fn json(line: &str) -> Result<Value, Problem> {
    serde_json::from_str(line).map_err(|error| Problem::new(format!("not JSON: {error}")))
}
