//! Writing answers: text for people, JSON and CSV for programs.

use std::io::{self, BufWriter, StdoutLock, Write as _};

use clap::ValueEnum;
use serde::Serialize;

/// For whom it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON document, as the tool of MCP answers.
    Json,
    /// Comma-separated values with a line of names (RFC 4180).
    Csv,
}

/// Where an answer goes: stdout, locked.
#[derive(Debug)]
pub(super) struct Output {
    writer: BufWriter<StdoutLock<'static>>,
}

impl Output {
    pub(super) fn new() -> Self {
        Self {
            writer: BufWriter::new(io::stdout().lock()),
        }
    }

    /// One line.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        self.write(line)?;
        writeln!(self.writer)
    }

    /// A value as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.line(&serde_json::to_string_pretty(value)?)
    }

    /// One line of values, which end in CR and LF.
    pub(super) fn row(&mut self, values: &[&str]) -> io::Result<()> {
        let quoted: Vec<String> = values.iter().map(|value| quoted(value)).collect();
        self.write(&quoted.join(","))?;
        write!(self.writer, "\r\n")
    }

    /// A terminal would obey control characters, and what is in a file today is shown on one tomorrow.
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(visible(text).as_bytes())
    }

    /// Writes what is still held back.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// One line on stderr.
pub(super) fn complain(line: &str) {
    // Who has closed stderr does not want to know.
    let _written = writeln!(io::stderr(), "{}", visible(line));
}

/// A text without characters that a terminal obeys: names of chats and of files are others' words.
fn visible(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => '\u{FFFD}',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// Quoted where it must be. What a spreadsheet would take for a formula gets an apostrophe before it.
fn quoted(value: &str) -> String {
    let is_formula = value.starts_with(['=', '@', '\t', '\r'])
        || value.starts_with(['+', '-']) && value.parse::<f64>().is_err();
    let value = match is_formula {
        true => format!("'{value}"),
        false => value.to_owned(),
    };
    match value.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", value.replace('"', "\"\"")),
        false => value,
    }
}
