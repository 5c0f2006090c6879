//! Texts of servers in reports: long ones are cut, and control characters are replaced.

use std::io::{self, Write};

use serde_json::Value;

/// The most characters of one value that a report shows.
const VALUE: usize = 200;

/// Writes control characters of servers as U+FFFD, so that a terminal does not obey them.
pub(crate) struct Printable<W>(pub(crate) W);

impl<W: Write> Write for Printable<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let is_obeyed = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
        let text = String::from_utf8_lossy(bytes).replace(is_obeyed, "\u{fffd}");
        self.0.write_all(text.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The first `most` characters of a text, with a mark and the length of the whole if there are more.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", known_range::text(text, ..end), text.len()),
    }
}

/// The first `most` of several texts, and how many more there are.
pub(crate) fn few(texts: &[String], most: usize) -> String {
    let shown: Vec<_> = texts.iter().take(most).map(String::as_str).collect();
    match texts.len().saturating_sub(most) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Lines of messages, cut to `most` characters, in which each text is cut before. A line that is not JSON is one text.
pub(crate) fn excerpt(text: &str, most: usize) -> String {
    let lines: Vec<_> = text.lines().map(line).collect();
    shorten(&lines.join("\n"), most)
}

fn line(line: &str) -> String {
    let (start, json) = match line.strip_prefix("data:") {
        Some(json) => ("data:", json),
        None => ("", line),
    };
    let Ok(mut value) = serde_json::from_str::<Value>(json) else {
        return shorten(line, VALUE);
    };
    // A line without a long text stays as it was, byte for byte.
    if cut(&mut value) { format!("{start}{value}") } else { line.to_owned() }
}

/// Cuts the texts in a value, whose depth is limited by the parser; whether one of them is long.
fn cut(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let short = shorten(text, VALUE);
            let is_long = short != *text;
            *text = short;
            is_long
        }
        Value::Array(items) => items.iter_mut().map(cut).filter(|it| *it).count() > 0,
        Value::Object(members) => members.values_mut().map(cut).filter(|it| *it).count() > 0,
        _ => false,
    }
}
