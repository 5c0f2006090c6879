//! Answers on stdout: lines, tables and JSON for people. Names come from others and cannot control the terminal.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use crate::log::visible;

/// Prints a text and the end of its line on stdout. Characters that a terminal obeys are [replaced](visible).
///
/// # Errors
/// The error of the operating system: [`io::ErrorKind::BrokenPipe`] if the reader of stdout has closed it.
pub fn print(text: &str) -> io::Result<()> {
    write(&visible(text))
}

/// Prints JSON text as a line on stdout. Control characters can only be in strings, where they are written as escapes.
///
/// # Errors
/// As for [`print()`].
pub fn print_json(text: &str) -> io::Result<()> {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    write(&escaped)
}

/// A table with a header row, each column as wide as its widest cell.
pub fn table<R: AsRef<[String]>>(heads: &[&str], rows: &[R]) -> String {
    let heads = heads.iter().map(|&head| head.to_owned()).collect();
    let cells = rows.iter().map(|row| row.as_ref().iter().map(|cell| one_line(cell)).collect());
    let rows: Vec<Vec<String>> = std::iter::once(heads).chain(cells).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<_> = cells.map(|(cell, &width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A name in a form that fits into one line.
pub fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], "\u{fffd}")
}

fn write(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
