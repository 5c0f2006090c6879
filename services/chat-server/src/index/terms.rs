//! The text of a search, parsed: words, phrases, alternatives, and excluded words.

use super::fold::{is_blankless, words};
use crate::query::Invalid;

/// The most words of one search.
const MAX_WORDS: usize = 64;

/// The fewest letters of a word's beginning by which the word is found.
const BEGINNING: usize = 3;

const FORMS: &str = "give words (each is found inside longer words, too), \"phrases in quotes\", OR between alternatives, \
                     -word for what must not be there, or an emoji";

/// Holds if the text contains any of the terms; with `is_not`, if it contains none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) terms: Vec<Term>,
    pub(super) is_not: bool,
}

/// Consecutive words, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    /// At least one word.
    pub(super) words: Vec<String>,
    /// Whether the last word is only the beginning of a word.
    pub(super) prefix: bool,
    /// Whether it is also looked for inside words.
    pub(super) loose: bool,
}

/// Parses a text. A quote that is not closed extends to the end; characters outside words only separate words.
///
/// # Errors
/// [`Invalid`] if it has no word to find, or more than [`MAX_WORDS`].
pub(super) fn parse(parameter: &'static str, text: &str) -> Result<Vec<Clause>, Invalid> {
    let mut clauses: Vec<Clause> = Vec::new();
    let mut is_other = false;
    let mut is_next_not = false;
    for Piece { text, quoted, is_not, starred } in pieces(text) {
        // Each word is required anyway. Models write AND and NOT, since they may write OR. In front they are words.
        let is_plain = !quoted && !is_not;
        if is_plain && (text == "OR" || matches!(text, "AND" | "NOT") && !clauses.is_empty()) {
            is_other |= text == "OR";
            is_next_not |= text == "NOT";
            continue;
        }
        let is_not = std::mem::take(&mut is_next_not) || is_not;
        let Some(term) = term(text, quoted, starred) else {
            continue;
        };
        match clauses.last_mut().filter(|last| is_other && !last.is_not && !is_not) {
            Some(last) => last.terms.push(term),
            None => clauses.push(Clause { terms: vec![term], is_not }),
        }
        is_other = false;
    }
    let terms = clauses.iter().flat_map(|clause| &clause.terms);
    let count: usize = terms.map(|term| term.words.len()).sum();
    if clauses.iter().all(|clause| clause.is_not) {
        return Err(Invalid::new(parameter, format!("it has no word to look for: {FORMS}")));
    }
    match count {
        0..=MAX_WORDS => Ok(clauses),
        _ => Err(Invalid::new(
            parameter,
            format!("it has {count} words, but at most {MAX_WORDS} can be looked for: {FORMS}"),
        )),
    }
}

impl Term {
    pub(super) fn is_in(&self, words: &[String]) -> bool {
        words.windows(self.words.len()).any(|window| self.is_at(window))
    }

    /// Whether the term is exactly these words.
    pub(super) fn is_at(&self, window: &[String]) -> bool {
        let Some((last, before)) = self.words.split_last() else {
            return false;
        };
        let Some((found, found_before)) = window.split_last() else {
            return false;
        };
        before == found_before
            && if self.prefix { found.starts_with(last.as_str()) } else { found == last }
    }

    /// Whether a text with these words contains the term, perhaps inside a word.
    pub(super) fn is_inside(&self, words: &[String]) -> bool {
        self.loose && words.windows(self.words.len()).any(|window| self.is_inside_at(window))
    }

    /// Whether the first of these words ends with that of the term, and the last begins with that of the term.
    pub(super) fn is_inside_at(&self, window: &[String]) -> bool {
        let pairs = self.words.iter().zip(window).enumerate();
        let last = self.words.len() - 1;
        let fits = |(n, (word, found)): (usize, (&String, &String))| match (n == 0, n == last) {
            (true, true) => found.contains(word.as_str()),
            (true, false) => found.ends_with(word.as_str()),
            (false, true) => found.starts_with(word.as_str()),
            (false, false) => found == word,
        };
        self.loose && window.len() == self.words.len() && pairs.into_iter().all(fits)
    }

    pub(super) fn expression(&self) -> String {
        let star = if self.prefix { " *" } else { "" };
        format!("{}{star}", quote(&self.words.join(" ")))
    }
}

/// A string of FTS5: its contents are never operators (SQLite, "FTS5 Strings").
pub(super) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// A word or a phrase as written.
struct Piece<'t> {
    text: &'t str,
    quoted: bool,
    is_not: bool,
    starred: bool,
}

fn pieces(mut rest: &str) -> impl Iterator<Item = Piece<'_>> {
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let is_not = rest.starts_with('-') && !rest.starts_with("- ") && rest.len() > 1;
        let text = if is_not { rest.strip_prefix('-')? } else { rest };
        if let Some(phrase) = text.strip_prefix('"') {
            let (text, after) = phrase.split_once('"').unwrap_or((phrase, ""));
            let starred = after.starts_with('*');
            rest = after.strip_prefix('*').unwrap_or(after);
            return Some(Piece { text, quoted: true, is_not, starred });
        }
        let end = text.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(text.len());
        let (word, after) = text.split_at_checked(end)?;
        rest = after;
        let starred = word.ends_with('*');
        (!word.is_empty()).then_some(Piece { text: word, quoted: false, is_not, starred })
    })
}

fn term(text: &str, quoted: bool, starred: bool) -> Option<Term> {
    let mut words = words(text);
    // Pairs of letters stand for scripts without blanks: the last letter alone may be followed by others.
    if words.len() > 1 && words.last().is_some_and(|last| is_blankless_letter(last)) {
        words.pop();
    }
    let last = words.last()?;
    // One Korean letter stands for two or three Latin ones, and endings follow without a blank.
    let is_long = last.chars().count() >= BEGINNING
        || last.contains(|c| matches!(c, '\u{AC00}'..='\u{D7A3}'));
    let prefix = starred
        || is_blankless_letter(last)
        || !quoted && is_long && !last.starts_with(is_blankless);
    let letters: usize = words.iter().map(|word| word.chars().count()).sum();
    let loose = !quoted
        && !starred
        && (letters >= BEGINNING || is_long)
        && !words.iter().any(|word| word.starts_with(is_blankless));
    Some(Term { words, prefix, loose })
}

fn is_blankless_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(is_blankless) && letters.next().is_none()
}
