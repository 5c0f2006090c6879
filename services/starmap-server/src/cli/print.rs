//! Writing tables and JSON to the terminal. Control characters in names from files cannot affect it.

use std::io::{self, ErrorKind, Write as _};

use serde::Serialize;

use super::Failure;

/// A table of texts. Each column is as wide as its widest cell.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without fixed columns.
    pub(super) fn of(rows: Vec<Vec<String>>) -> Self {
        Self { rows }
    }

    /// The lines of the table.
    pub(super) fn text(&self) -> String {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                let width = cell.chars().count();
                match widths.get_mut(at) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(&format!("{cell:<width$}  "));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Writes the whole text to stdout.
pub(super) fn out(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written =
        stdout.write_all(service_host::visible(text).as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Other(format!("cannot write the answer: {error}")),
    })
}

/// Writes a value to stdout as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::Other(format!("cannot write the answer: {error}")))?;
    out(&format!("{text}\n"))
}

/// Writes a message to stderr, if stderr is open.
pub(super) fn report(program: &str, text: &str) {
    service_host::complain(&format!("{program}: {text}"));
}
