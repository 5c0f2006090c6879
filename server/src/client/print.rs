//! Writes answers: tables for people, JSON for programs. Names come from others and cannot control the terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;
use service_host::visible;

/// Prints lines on stdout.
pub(super) fn lines(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", visible(text))?;
    out.flush()
}

/// Prints a value on stdout as one line of JSON.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    json_text(&serde_json::to_string(value)?)
}

/// Prints JSON text as a line on stdout. Control characters can only be in strings, where they can be written as
/// escapes.
pub(super) fn json_text(text: &str) -> io::Result<()> {
    let mut escaped = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(escaped.as_bytes())?;
    out.flush()
}

/// A table with a header row, each column as wide as its widest cell.
pub(super) fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.clone().map(|cell| one_line(&cell))).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let cells = cells.map(String::as_str).chain(heads.get(column).copied());
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells = cells.zip(&widths);
        let cells: Vec<_> = cells.map(|(cell, &width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(&mut heads.into_iter())];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}

/// A name in a form that fits into one line.
pub(super) fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], "\u{fffd}")
}
