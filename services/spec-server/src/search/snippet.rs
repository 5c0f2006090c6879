//! The snippet of a hit: whole words around the terms of the query.

use super::document::{Document, Field};
use super::terms::tokens;

/// The most characters of a snippet, not counting the marks for left-out text.
pub const SNIPPET_CHARS: usize = 160;

/// The mark for text that was left out.
pub(super) const OMITTED: char = '…';

/// The words of a text, each with the query terms in it.
struct Passage<'t> {
    words: Vec<Word<'t>>,
}

struct Word<'t> {
    text: &'t str,
    chars: usize,
    terms: Vec<(String, f64)>,
}

/// The best passage of a document, by the total `weight` of the different terms in it (`None`: not in the query). Among
/// equals the description comes before the scenarios, and an earlier passage before a later one. If only the name has
/// terms, the snippet is the beginning of the description.
pub fn snippet(document: &Document, weight: impl Fn(&str) -> Option<f64>) -> String {
    let mut best: Option<(f64, String)> = None;
    for part in &document.parts {
        if matches!(part.field, Field::Name | Field::Context) {
            continue;
        }
        let passage = Passage::new(&part.text, &weight);
        let Some((score, text)) = passage.best() else {
            continue;
        };
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, text));
        }
    }
    if let Some((_, text)) = best {
        return text;
    }
    beginning(document.first(Field::Name))
}

/// The first words of a text.
pub(super) fn beginning(text: &str) -> String {
    let passage = Passage::new(text, &|_| None);
    passage.show(0, passage.reach(0))
}

impl<'t> Passage<'t> {
    fn new(text: &'t str, weight: &impl Fn(&str) -> Option<f64>) -> Self {
        let words = text.split_whitespace().map(|word| Word {
            text: word,
            chars: word.chars().count(),
            terms: tokens(word)
                .map(|token| token.term())
                .filter_map(|term| weight(&term).map(|weight| (term, weight)))
                .collect(),
        });
        Self { words: words.collect() }
    }

    /// The window with the highest weight, and its weight; `None` without words.
    fn best(&self) -> Option<(f64, String)> {
        let mut best: Option<(f64, usize)> = None;
        for (start, word) in self.words.iter().enumerate() {
            // Windows begin with a term. The first window stands for all windows without terms.
            if start > 0 && word.terms.is_empty() {
                continue;
            }
            let score = self.weight(start, self.reach(start));
            if best.is_none_or(|(most, _)| score > most) {
                best = Some((score, start));
            }
        }
        let (score, start) = best?;
        let start = self.lead_in(start);
        Some((score, self.show(start, self.reach(start))))
    }

    /// The index after the last word of the window that begins at `start`. It has at least one word, however long.
    fn reach(&self, start: usize) -> usize {
        let mut chars = 0;
        let words = self.words.iter().skip(start);
        let fitting = words.take_while(|word| {
            chars += word.chars + 1;
            chars <= SNIPPET_CHARS + 1
        });
        start + fitting.count().max(1)
    }

    fn weight(&self, start: usize, end: usize) -> f64 {
        let mut seen: Vec<&str> = Vec::new();
        let mut sum = 0.0;
        let words = self.words.iter().take(end).skip(start);
        for (term, weight) in words.flat_map(|word| &word.terms) {
            if !seen.contains(&term.as_str()) {
                seen.push(term);
                sum += weight;
            }
        }
        sum
    }

    /// Moves the start of a window to the left as far as its last term stays inside. Up to half of the remaining space
    /// is kept for the text after the terms.
    fn lead_in(&self, start: usize) -> usize {
        let end = self.reach(start);
        let window = self.words.iter().enumerate().take(end).skip(start);
        let last = window
            .filter(|(_, word)| !word.terms.is_empty())
            .map(|(place, _)| place)
            .next_back()
            .unwrap_or(start);
        let chars: usize =
            self.words.iter().take(last + 1).skip(start).map(|word| word.chars + 1).sum();
        let mut room = SNIPPET_CHARS.saturating_sub(chars);
        // The text after the terms is shown too, unless all remaining text fits before them.
        let behind: usize = self.words.iter().skip(last + 1).map(|word| word.chars + 1).sum();
        room -= behind.min(room / 2);
        let before = self.words.iter().take(start).rev().take_while(|word| {
            let fits = word.chars < room;
            room = room.saturating_sub(word.chars + 1);
            fits
        });
        start - before.count()
    }

    fn show(&self, start: usize, end: usize) -> String {
        let mut shown = String::new();
        if start > 0 {
            shown.push(OMITTED);
        }
        for (place, word) in self.words.iter().enumerate().take(end).skip(start) {
            if place > start {
                shown.push(' ');
            }
            shown.extend(word.text.chars().take(SNIPPET_CHARS));
            if word.chars > SNIPPET_CHARS {
                shown.push(OMITTED);
            }
        }
        if end < self.words.len() && !shown.ends_with(OMITTED) {
            shown.push(OMITTED);
        }
        shown
    }
}
