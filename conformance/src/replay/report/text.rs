//! The report for people: a line for each replay, and what differed below those that failed.

use std::io::{self, Write};
use std::time::Duration;

use serde_json::Value;
use similar::TextDiff;

use super::{Event, Failure, Summary};
use crate::pattern::{Mismatch, Wanted};
use crate::shorten::shorten;
use crate::transcript::{Era, Transcript};

/// Values longer than this many characters are shortened in a report.
const MOST_SHOWN: usize = 400;
/// The most failed steps shown of one replay.
const MOST_FAILURES: usize = 12;
/// The most differences shown for one failure.
const MOST_MISMATCHES: usize = 12;
/// The most lines of one text difference.
const MOST_DIFF_LINES: usize = 60;

/// Writes events as text.
#[derive(Debug)]
pub struct TextReporter<W> {
    writer: W,
    color: bool,
}

#[derive(Clone, Copy)]
enum Color {
    Red = 31,
    Green = 32,
    Yellow = 33,
}

impl<W: Write> TextReporter<W> {
    /// Reports to `writer`, with ANSI colours if `color`.
    pub fn new(writer: W, color: bool) -> Self {
        Self { writer, color }
    }

    /// Writes one event.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn report(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Started { .. } => Ok(()),
            Event::Passed { transcript, era, elapsed } => {
                self.line(Color::Green, "PASS", *elapsed, transcript, *era)
            }
            Event::Failed { transcript, era, elapsed, failures, not_run } => {
                self.line(Color::Red, "FAIL", *elapsed, transcript, *era)?;
                for failure in failures.iter().take(MOST_FAILURES) {
                    self.failure(transcript, failure)?;
                }
                match failures.len().saturating_sub(MOST_FAILURES) {
                    0 => {}
                    more => writeln!(self.writer, "     … and {more} more steps failed")?,
                }
                match not_run {
                    0 => Ok(()),
                    1 => writeln!(
                        self.writer,
                        "     1 step was not run: it depends on a failed step"
                    ),
                    many => writeln!(
                        self.writer,
                        "     {many} steps were not run: they depend on a failed step"
                    ),
                }
            }
            Event::Skipped { transcript, reason } => {
                let mark = self.paint(Color::Yellow, "SKIP");
                writeln!(self.writer, "{mark} {} ({reason})", transcript.name())
            }
            Event::Finished(summary) => self.summary(summary),
        }
    }

    fn line(
        &mut self,
        color: Color,
        mark: &str,
        elapsed: Duration,
        transcript: &Transcript,
        era: Era,
    ) -> io::Result<()> {
        let mark = self.paint(color, mark);
        let (name, title) = (transcript.name(), transcript.title());
        writeln!(self.writer, "{mark} {elapsed:>7.1?} {era:<6} {name} {title}")
    }

    fn failure(&mut self, transcript: &Transcript, failure: &Failure) -> io::Result<()> {
        let Failure { line, step, note, problem, mismatches, .. } = failure;
        writeln!(self.writer, "     at {}:{line}: {step}", transcript.source_name())?;
        if let Some(note) = note {
            writeln!(self.writer, "     note: {note}")?;
        }
        writeln!(self.writer, "     {problem}")?;
        for mismatch in mismatches.iter().take(MOST_MISMATCHES) {
            self.mismatch(mismatch)?;
        }
        if let Some(more) = mismatches.len().checked_sub(MOST_MISMATCHES).filter(|more| *more > 0) {
            writeln!(self.writer, "     … and {more} more differences")?;
        }
        Ok(())
    }

    fn mismatch(&mut self, mismatch: &Mismatch) -> io::Result<()> {
        let Mismatch { path, expected, actual, reason } = mismatch;
        let place = if path.is_empty() { "the whole value" } else { path.as_str() };
        let wanted = Wanted::of(expected);
        if let (Wanted::Value(wanted), Some(actual)) = (&wanted, actual)
            && let Some(diff) = text_diff(wanted, actual)
        {
            let because = reason.as_deref().map(|reason| format!(" {reason}"));
            writeln!(self.writer, "     {place}:{}", because.unwrap_or_default())?;
            for line in diff.lines().take(MOST_DIFF_LINES) {
                let line = match line.as_bytes().first() {
                    Some(b'-') => self.paint(Color::Red, line),
                    Some(b'+') => self.paint(Color::Green, line),
                    _ => line.to_owned(),
                };
                writeln!(self.writer, "       {line}")?;
            }
            return Ok(());
        }
        let wanted = match wanted {
            Wanted::Value(value) => shorten(&value.to_string(), MOST_SHOWN),
            Wanted::Words(words) => words,
        };
        let found = actual.as_ref().map_or_else(
            || "nothing".to_owned(),
            |actual| shorten(&actual.to_string(), MOST_SHOWN),
        );
        let (wanted, found) = (self.paint(Color::Red, &wanted), self.paint(Color::Green, &found));
        let because = reason.as_deref().map(|reason| format!(" ({reason})"));
        let because = because.unwrap_or_default();
        writeln!(self.writer, "     {place}: expected {wanted}, found {found}{because}")
    }

    fn summary(&mut self, summary: &Summary) -> io::Result<()> {
        let Summary { passed, failed, skipped, unreachable } = summary;
        let (color, verdict) = if summary.is_success() {
            (Color::Green, "passed")
        } else {
            (Color::Red, "not passed")
        };
        let verdict = self.paint(color, verdict);
        writeln!(self.writer, "{verdict}: {passed} passed, {failed} failed, {skipped} skipped")?;
        if *unreachable {
            writeln!(
                self.writer,
                "the server cannot be reached; the remaining transcripts were not tried"
            )?;
        }
        self.writer.flush()
    }

    fn paint(&self, color: Color, text: &str) -> String {
        if self.color { format!("\u{1b}[{}m{text}\u{1b}[0m", color as u8) } else { text.to_owned() }
    }
}

/// A unified diff of two texts of several lines, or of two values that are long when written in one line.
fn text_diff(expected: &Value, actual: &Value) -> Option<String> {
    let (expected, actual) = match (expected, actual) {
        (Value::String(expected), Value::String(actual))
            if expected.contains('\n') || actual.contains('\n') =>
        {
            (format!("{expected}\n"), format!("{actual}\n"))
        }
        (Value::Object(_) | Value::Array(_), Value::Object(_) | Value::Array(_))
            if expected.to_string().len() + actual.to_string().len() > 120 =>
        {
            (format!("{expected:#}\n"), format!("{actual:#}\n"))
        }
        _ => return None,
    };
    Some(TextDiff::from_lines(&expected, &actual).unified_diff().context_radius(2).to_string())
}
