//! Writing answers: text for people, JSON and CSV for programs.

use std::io::{self, BufWriter, StdoutLock, Write as _};
use std::process::ExitCode;

use clap::ValueEnum;
use csv::{IntoInnerError, Terminator, WriterBuilder};
use serde::Serialize;
use serde_json::{Value, json};

use super::error::CliError;
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

    /// One line. A terminal would obey control characters.
    pub(super) fn line(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.writer, "{}", service_host::visible(line))
    }

    /// A whole answer: the same as JSON, as a table of its rows, or as a line for each of them.
    pub(super) fn answer<R: Serialize>(
        mut self,
        format: Format,
        all: &impl Serialize,
        columns: &[&str],
        rows: &[R],
        line: impl Fn(&R) -> String,
    ) -> Result<ExitCode, CliError> {
        match format {
            Format::Json => self.line(&format!("{:#}", compact::answer(json!(all))))?,
            Format::Csv => self.table(columns, rows)?,
            Format::Text => {
                for row in rows {
                    self.line(&line(row))?;
                }
            }
        }
        self.finish()?;
        Ok(ExitCode::SUCCESS)
    }

    /// A table: a line of names, and for each row the values that its JSON has under these names. Lines end in CR and
    /// LF.
    fn table(&mut self, columns: &[&str], rows: &[impl Serialize]) -> io::Result<()> {
        let mut csv = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
        csv.write_record(columns)?;
        for row in rows {
            let row = serde_json::to_value(row)?;
            csv.write_record(columns.iter().map(|name| match row.get(name) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => cell(text),
                Some(other) => cell(&other.to_string()),
            }))?;
        }
        // Written at once: as an error of the table, a closed pipe could not be told from others.
        self.writer.write_all(&csv.into_inner().map_err(IntoInnerError::into_error)?)
    }

    /// Flushes the buffer.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A text that a spreadsheet would read as a formula gets an apostrophe before it.
fn cell(value: &str) -> String {
    let is_formula = value.starts_with(['=', '@', '\t', '\r'])
        || value.starts_with(['+', '-']) && value.parse::<f64>().is_err();
    service_host::visible(&if is_formula { format!("'{value}") } else { value.to_owned() })
}
