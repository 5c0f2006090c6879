//! What somebody looks for, taken apart: words, phrases, beginnings.

use crate::index::fold::words;
use crate::index::matcher::Term;
use crate::query::Invalid;

/// The most words of one search.
const MAX_WORDS: usize = 64;

const FORMS: &str = "give words, \"phrases in quotes\", or beginnings of words followed by '*'";

/// Takes a text apart. A quote that is not closed goes to the end; characters of no word only part words.
///
/// # Errors
/// [`Invalid`] if there is no word, or more than [`MAX_WORDS`].
pub(super) fn parse(parameter: &'static str, text: &str) -> Result<Vec<Term>, Invalid> {
    let mut terms = Vec::new();
    // Every second part is in quotes.
    let mut parts = text.split('"').peekable();
    let mut in_quotes = false;
    while let Some(part) = parts.next() {
        if in_quotes {
            let starred = parts.peek().is_some_and(|next| next.starts_with('*'));
            terms.extend(term(part, starred));
        } else {
            let chunks = part.split_whitespace();
            terms.extend(chunks.filter_map(|chunk| term(chunk, chunk.ends_with('*'))));
        }
        in_quotes = !in_quotes;
    }
    let count: usize = terms.iter().map(|term: &Term| term.words.len()).sum();
    match count {
        0 => Err(Invalid::new(
            parameter,
            format!("it has no word to look for: {FORMS}"),
        )),
        1..=MAX_WORDS => Ok(terms),
        _ => Err(Invalid::new(
            parameter,
            format!("it has {count} words, but at most {MAX_WORDS} can be looked for: {FORMS}"),
        )),
    }
}

fn term(text: &str, prefix: bool) -> Option<Term> {
    let words = words(text);
    (!words.is_empty()).then_some(Term { words, prefix })
}
