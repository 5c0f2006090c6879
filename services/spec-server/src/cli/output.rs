//! Writing answers: plain text for programs and agents, colour for people.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};

use serde::Serialize;

use crate::validate::Finding;

/// The reader of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A program, a file or an agent: no colour, and the texts of files exactly as they are.
    Plain,
    /// A person at a terminal.
    Terminal,
    /// The same, but without colour.
    Colourless,
}

/// The destination of an answer.
#[expect(missing_debug_implementations, reason = "a writer has none")]
pub struct Output<'w> {
    writer: BufWriter<Box<dyn Write + 'w>>,
    style: Style,
}

/// Text styles, as SGR codes of terminals (ECMA-48).
#[derive(Debug, Clone, Copy)]
pub(super) enum Ink {
    Bold = 1,
    Dim = 2,
    Red = 31,
    Green = 32,
    Yellow = 33,
    Cyan = 36,
}

impl Style {
    /// The style for a stream. `NO_COLOR` (no-color.org) turns colours off, and a terminal that is `dumb` has none.
    pub fn of(stream: &impl IsTerminal) -> Self {
        let value = |name| std::env::var_os(name).unwrap_or_default();
        if !stream.is_terminal() {
            Self::Plain
        } else if !value("NO_COLOR").is_empty() || value("TERM") == "dumb" {
            Self::Colourless
        } else {
            Self::Terminal
        }
    }
}

impl<'w> Output<'w> {
    /// Writes to `writer`.
    pub fn new(writer: impl Write + 'w, style: Style) -> Self {
        Self { writer: BufWriter::new(Box::new(writer)), style }
    }

    /// One line.
    pub(super) fn line(&mut self, line: impl Display) -> io::Result<()> {
        writeln!(self.writer, "{line}")
    }

    /// A value as JSON for programs.
    pub(super) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut self.writer, value)?;
        writeln!(self.writer)
    }

    /// Text from a file, with a line end at its end. At a terminal, control characters are made visible, because the
    /// terminal would execute them.
    pub(super) fn text(&mut self, text: &str) -> io::Result<()> {
        let text = self.safe(text);
        self.writer.write_all(text.as_bytes())?;
        if text.is_empty() || text.ends_with('\n') { Ok(()) } else { writeln!(self.writer) }
    }

    /// Findings, one on each line: location, severity, message.
    pub(super) fn findings<'f>(
        &mut self,
        findings: impl IntoIterator<Item = &'f Finding>,
        severity: &str,
        ink: Ink,
    ) -> io::Result<()> {
        for finding in findings {
            let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
            let (file, message) = (self.safe(&finding.file), self.safe(&finding.message));
            let severity = self.paint(ink, severity);
            self.line(format_args!("{file}{line}: {severity}: {message}"))?;
        }
        Ok(())
    }

    /// Text from a file as part of a line.
    pub(super) fn safe(&self, text: &str) -> String {
        match self.style {
            Style::Plain => text.to_owned(),
            Style::Terminal | Style::Colourless => service_host::visible(text),
        }
    }

    /// Text in a style, if there is colour.
    pub(super) fn paint(&self, ink: Ink, text: &str) -> String {
        let text = self.safe(text);
        match self.style {
            Style::Terminal => format!("\u{1b}[{}m{text}\u{1b}[0m", ink as u8),
            Style::Plain | Style::Colourless => text,
        }
    }

    /// Writes the remaining buffered output.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
