//! The part of a text where something was found, with the matches marked.

use std::fmt::Write as _;

use crate::index::fold::{is_blankless, runs, words_at};
use crate::index::terms::Term;

/// How many words are shown before the first match, and how many at most.
const BEFORE: usize = 10;
const MOST: usize = 40;
/// The most characters of one piece: some scripts have no blanks between words.
const PIECE: usize = 300;

/// A part of a text, in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The pieces, in order.
    pub pieces: Vec<Piece>,
}

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The text, as it is written; `…` for what was left out.
    pub text: String,
    /// Whether it is a match.
    pub found: bool,
}

impl Snippet {
    /// As one text, with `open` and `close` around each match.
    pub fn marked(&self, open: &str, close: &str) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            // Writing into a text does not fail.
            let _ = if piece.found {
                write!(text, "{open}{}{close}", piece.text)
            } else {
                write!(text, "{}", piece.text)
            };
        }
        text
    }

    pub(super) fn of(text: &str, terms: &[Term]) -> Self {
        let marks = marks(text, terms);
        let first = marks.iter().position(|marked| *marked).unwrap_or(0);
        let skipped = first.saturating_sub(BEFORE);
        let mut snippet = Self::default();
        let mut at = 0;
        for (n, ((start, run), marked)) in runs(text).zip(&marks).enumerate() {
            if n == skipped + MOST {
                snippet.push("…", false);
                return snippet;
            }
            if n == skipped && skipped > 0 {
                snippet.push("…", false);
            } else if n >= skipped {
                snippet.push(known_range::text(text, at..start), false);
            }
            if n >= skipped {
                snippet.push(run, *marked);
            }
            at = start + run.len();
        }
        snippet.push(known_range::text(text, at..), false);
        snippet
    }

    fn push(&mut self, text: &str, found: bool) {
        if text.is_empty() {
            return;
        }
        let mut chars = text.chars();
        let mut cut: String = chars.by_ref().take(PIECE).collect();
        if chars.next().is_some() {
            cut.push('…');
        }
        match self.pieces.last_mut() {
            Some(last) if last.found == found => last.text.push_str(&cut),
            _ => self.pieces.push(Piece { text: cut, found }),
        }
    }
}

/// For each run of the text, whether it belongs to a match.
fn marks(text: &str, terms: &[Term]) -> Vec<bool> {
    let mut marks = vec![false; runs(text).count()];
    let (owners, all): (Vec<usize>, Vec<String>) = words_at(text).into_iter().unzip();
    for term in terms {
        let length = term.words.len();
        for (start, window) in all.windows(length).enumerate() {
            if !term.is_at(window) && !term.is_inside_at(window) {
                continue;
            }
            for (owner, word) in owners.iter().zip(&all).skip(start).take(length) {
                // A pair of letters begins in one run and ends in the next.
                let is_pair = word.starts_with(is_blankless) && word.chars().nth(1).is_some();
                let pair = is_pair
                    && !(term.prefix
                        && term.words.last().is_some_and(|last| last.chars().count() == 1));
                for owner in *owner..=*owner + usize::from(pair) {
                    if let Some(mark) = marks.get_mut(owner) {
                        *mark = true;
                    }
                }
            }
        }
    }
    marks
}
