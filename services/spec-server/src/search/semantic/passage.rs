//! The passages of a document that are embedded: its description and each of its scenarios, after the title of its spec
//! and its name. A text that is too long for the model is split into several overlapping passages.

use std::ops::Range;

use super::tokenizer::Tokenizer;
use crate::search::document::{Document, Field};

/// The most tokens of the heading before a passage, out of those that fit.
const HEADING_PIECES: usize = 64;

/// The overlap of a cut passage with the next one, as a fraction: one part in `OVERLAP`.
const OVERLAP: usize = 4;

/// A passage: its text and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::search) struct Passage {
    /// The text that is embedded.
    pub(super) text: String,
    /// Its part of the document.
    pub(super) part: usize,
    /// Its position in the part.
    pub(super) range: Range<usize>,
}

/// The passages of a document. None has more than `room` tokens unless a single word has more.
pub(super) fn passages(document: &Document, tokenizer: &Tokenizer, room: usize) -> Vec<Passage> {
    let heading = match document.first(Field::Context) {
        "" => document.first(Field::Name).to_owned(),
        title => format!("{title}: {}", document.first(Field::Name)),
    };
    let pieces = tokenizer.count(&heading);
    let (heading, room) = if pieces <= HEADING_PIECES.min(room / 2) {
        (format!("{heading}. "), room - pieces - 1)
    } else {
        (String::new(), room)
    };
    let described =
        document.parts.iter().any(|part| is_prose(part.field) && !part.text.trim().is_empty());
    let mut passages = Vec::new();
    for (number, part) in document.parts.iter().enumerate() {
        // A document that only has a name is found by its name.
        let is_included = is_prose(part.field) || !described && part.field == Field::Name;
        if !is_included {
            continue;
        }
        for range in windows(&part.text, tokenizer, room) {
            let text = known_range::text(&part.text, range.clone());
            passages.push(Passage {
                text: match part.field {
                    Field::Name => text.to_owned(),
                    _ => format!("{heading}{text}"),
                },
                part: number,
                range,
            });
        }
    }
    passages
}

fn is_prose(field: Field) -> bool {
    matches!(field, Field::Description | Field::Scenario)
}

/// Splits a text between words into ranges of at most `room` tokens.
fn windows(text: &str, tokenizer: &Tokenizer, room: usize) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let end = at + word.len();
        if !word.trim().is_empty() {
            words.push((at..at + word.trim_end().len(), tokenizer.count(word)));
        }
        at = end;
    }
    let mut windows = Vec::new();
    let mut rest = words.as_slice();
    while let Some((first, _)) = rest.first() {
        let mut pieces = 0;
        let fitting = rest.iter().take_while(|(_, count)| {
            pieces += count;
            pieces <= room
        });
        let length = fitting.count().max(1);
        let last = rest.get(length - 1).map_or(first.end, |(range, _)| range.end);
        windows.push(first.start..last);
        if length == rest.len() {
            break;
        }
        let step = (length - length / OVERLAP).max(1);
        rest = known_range::items(rest, step..);
    }
    windows
}
