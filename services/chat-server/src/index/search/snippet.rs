//! The part of a text where something was found, with the matches marked.

use crate::index::fold::{is_blankless, runs, words_at};
use crate::index::terms::Term;

/// Stands before and after each match.
const MARK: &str = "**";
/// How many words are shown before the first match, and how many at most.
const BEFORE: usize = 10;
const MOST: usize = 40;
/// The most characters of one piece: some scripts have no blanks between words.
const PIECE: usize = 300;

/// A part of a text that is being gathered.
#[derive(Default)]
struct Snippet {
    text: String,
    /// Whether its end is in a match.
    in_match: bool,
}

/// The part of a text where the terms were found; `…` stands for what was left out.
pub(super) fn snippet(text: &str, terms: &[Term]) -> String {
    let marks = marks(text, terms);
    let first = marks.iter().position(|marked| *marked).unwrap_or(0);
    let skipped = first.saturating_sub(BEFORE);
    let mut snippet = Snippet::default();
    let mut at = 0;
    for (n, ((start, run), marked)) in runs(text).zip(&marks).enumerate() {
        if n == skipped + MOST {
            return snippet.end("…");
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
    snippet.end(known_range::text(text, at..))
}

impl Snippet {
    fn push(&mut self, text: &str, found: bool) {
        if text.is_empty() {
            return;
        }
        if found != self.in_match {
            self.text.push_str(MARK);
            self.in_match = found;
        }
        let mut chars = text.chars();
        self.text.extend(chars.by_ref().take(PIECE));
        if chars.next().is_some() {
            self.text.push('…');
        }
    }

    fn end(mut self, text: &str) -> String {
        self.push(text, false);
        if self.in_match {
            self.text.push_str(MARK);
        }
        self.text
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
