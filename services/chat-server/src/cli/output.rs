//! Writing answers: text for people, JSON and CSV for programs.

use std::io::{self, BufWriter, StdoutLock, Write as _};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::Value;

use crate::view::compact;

/// The output format.
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
        Self { writer: BufWriter::new(io::stdout().lock()) }
    }

    /// One line.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        self.write(line)?;
        writeln!(self.writer)
    }

    /// A value as JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        self.line(&serde_json::to_string_pretty(&compact::answer(value))?)
    }

    /// A table: a line of names, and for each row the values that its JSON has under these names. Lines end in CR and
    /// LF.
    pub(super) fn table(&mut self, columns: &[&str], rows: &[impl Serialize]) -> io::Result<()> {
        self.row(columns.iter().map(|name| (*name).to_owned()))?;
        for row in rows {
            let row = serde_json::to_value(row)?;
            let value = |name: &&str| match row.get(name) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other) => other.to_string(),
            };
            self.row(columns.iter().map(value))?;
        }
        Ok(())
    }

    fn row(&mut self, values: impl Iterator<Item = String>) -> io::Result<()> {
        let quoted: Vec<String> = values.map(|value| quoted(&value)).collect();
        self.write(&quoted.join(","))?;
        write!(self.writer, "\r\n")
    }

    /// A terminal would obey control characters, and a file may be shown on a terminal later.
    fn write(&mut self, text: &str) -> io::Result<()> {
        self.writer.write_all(service_host::visible(text).as_bytes())
    }

    /// Flushes the buffer.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Quoted where it must be. A text that a spreadsheet would read as a formula gets an apostrophe before it.
fn quoted(value: &str) -> String {
    let is_formula = value.starts_with(['=', '@', '\t', '\r'])
        || value.starts_with(['+', '-']) && value.parse::<f64>().is_err();
    let value = if is_formula { format!("'{value}") } else { value.to_owned() };
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value
    }
}
