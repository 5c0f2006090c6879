//! A file as lines with their own line ends, so that unchanged lines stay identical in every byte.

/// One line: its text and its line end, which is `\n`, `\r\n`, `\r` or, at the end of the file, nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawLine {
    pub(super) text: String,
    pub(super) end: &'static str,
}

/// The lines of `raw`: as many as the outline of its normalised text has.
pub(super) fn split(raw: &str) -> Vec<RawLine> {
    let mut lines = Vec::new();
    let mut rest = raw;
    while let Some((text, after)) = rest.split_once(['\n', '\r']) {
        let lf = rest.strip_prefix(text).is_some_and(|end| end.starts_with('\n'));
        let (end, after) = match after.strip_prefix('\n') {
            _ if lf => ("\n", after),
            Some(after) => ("\r\n", after),
            None => ("\r", after),
        };
        lines.push(RawLine { text: text.to_owned(), end });
        rest = after;
    }
    lines.push(RawLine { text: rest.to_owned(), end: "" });
    lines
}

/// The most frequent line end: LF if there are no line ends.
pub(super) fn usual_end(lines: &[RawLine]) -> &'static str {
    let count = |end: &str| lines.iter().filter(|line| line.end == end).count();
    // Of equally frequent ones, `max_by_key` takes the last in this list.
    ["\r", "\n", "\r\n"]
        .into_iter()
        .max_by_key(|end| count(end))
        .filter(|end| count(end) > 0)
        .unwrap_or("\n")
}

/// Writes lines one after the other.
#[derive(Debug)]
pub(super) struct Writer {
    out: String,
    newline: &'static str,
    /// The last line does not have a line end yet.
    open: bool,
}

impl Writer {
    pub(super) fn new(newline: &'static str) -> Self {
        Self { out: String::new(), newline, open: false }
    }

    /// Writes a line unchanged.
    pub(super) fn raw(&mut self, line: &RawLine) {
        if self.open {
            self.out.push_str(self.newline);
        }
        self.out.push_str(&line.text);
        self.out.push_str(line.end);
        self.open = line.end.is_empty() && !line.text.is_empty();
    }

    pub(super) fn all(&mut self, lines: &[RawLine]) {
        for line in lines {
            self.raw(line);
        }
    }

    /// Writes one new line.
    pub(super) fn line(&mut self, text: &str) {
        let end = self.newline;
        self.raw(&RawLine { text: text.to_owned(), end });
    }

    pub(super) fn finish(self) -> String {
        self.out
    }
}
