//! From text to terms: what two spellings of one thing have in common.
//!
//! A *word* is a run of letters and digits. Words joined by single signs (`retry-after`, `api/v1`, `a::b`) are an
//! identifier, and so is a word with capitals or digits inside (`retryAfter`, `OAuth2`). An identifier gives its parts
//! and, put together without the signs, itself: `retry-after`, `retry_after` and `retryAfter` meet in `retryafter`.
//! Chinese and Japanese, which write no blanks, give pairs of neighbouring characters.
//!
//! Terms are folded: compatibility forms are resolved (NFKD), accents fall away, case is folded, and what looks English
//! is [stemmed](super::stem).

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use unicode_normalization::UnicodeNormalization;

use super::stem::stem;

/// The most characters of a term; what is behind them is not looked at.
pub const TERM_CHARS: usize = 64;

/// The most parts of an identifier that is kept whole.
const WHOLE_PARTS: usize = 8;

/// One term of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Where it stands, in bytes of the text.
    pub range: Range<usize>,
    /// The word, folded but not stemmed.
    pub word: String,
    /// Whether this is an identifier kept whole, beside its parts.
    pub whole: bool,
}

impl Token {
    /// What is looked up.
    #[must_use]
    pub fn term(&self) -> String {
        stem(&self.word)
    }
}

/// The terms of `text` in their order; the whole of an identifier follows its parts. Linear in the length of the text.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> {
    Identifiers {
        characters: text.char_indices().peekable(),
    }
    .flat_map(|words| split(&words))
}

/// The words of one identifier, each a run of characters with their places.
type Words = Vec<Vec<(usize, char)>>;

struct Identifiers<'t> {
    characters: Peekable<CharIndices<'t>>,
}

impl Iterator for Identifiers<'_> {
    type Item = Words;

    fn next(&mut self) -> Option<Words> {
        while self.characters.next_if(|(_, c)| !is_of_word(*c)).is_some() {}
        let mut words = Vec::new();
        loop {
            let word = self.word();
            if word.is_empty() {
                break;
            }
            words.push(word);
            // One sign joins, or a path's `::`; a sign that no word follows has ended the identifier.
            let Some((_, sign)) = self.characters.next_if(|(_, c)| joins(*c)) else {
                break;
            };
            if sign == ':' {
                let _ = self.characters.next_if(|(_, c)| *c == ':');
            }
        }
        (!words.is_empty()).then_some(words)
    }
}

impl Identifiers<'_> {
    fn word(&mut self) -> Vec<(usize, char)> {
        let mut word = Vec::new();
        while let Some((at, c)) = self.characters.next_if(|(_, c)| is_of_word(*c)) {
            word.push((at, c));
            // An apostrophe between letters belongs to the word and is not part of what is looked up.
            if let Some((_, '\'' | '’')) = self.characters.peek() {
                let mut ahead = self.characters.clone();
                ahead.next();
                if ahead.peek().is_some_and(|(_, c)| c.is_alphabetic()) {
                    self.characters = ahead;
                }
            }
        }
        word
    }
}

/// Letters, digits, and the accents that are written as characters of their own.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || is_accent(c)
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn joins(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '#')
}

/// The parts of an identifier, and the whole if there are several.
fn split(words: &Words) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut unspaced = false;
    for word in words {
        for part in parts(word) {
            if part.iter().all(|(_, c)| is_unspaced(*c)) {
                unspaced = true;
                tokens.extend(pairs(part).filter_map(|pair| token([pair])));
            } else {
                tokens.extend(token([part]));
            }
        }
    }
    let count = tokens.len();
    if (2..=WHOLE_PARTS).contains(&count) && !unspaced {
        let whole = token(words.iter().map(Vec::as_slice));
        tokens.extend(whole.map(|token| Token {
            whole: true,
            ..token
        }));
    }
    tokens
}

/// Cuts a word at a change of case, between letters and digits, and around scripts without blanks.
fn parts(word: &[(usize, char)]) -> impl Iterator<Item = &[(usize, char)]> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let (part, behind) = rest.split_at(part_length(rest));
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

fn part_length(word: &[(usize, char)]) -> usize {
    let at = |place: usize| word.get(place).map(|(_, c)| *c);
    let upper = |place| at(place).is_some_and(char::is_uppercase);
    (1..word.len())
        .find(|&place| {
            let (Some(before), Some(here)) = (at(place - 1), at(place)) else {
                return false;
            };
            if is_accent(here) {
                return false;
            }
            if before.is_numeric() != here.is_numeric() || is_unspaced(before) != is_unspaced(here)
            {
                return true;
            }
            // `HTTPServer`: the last capital of a run begins the next part, unless all that follows is a plural's `s`.
            let begins_next = upper(place)
                && at(place + 1).is_some_and(char::is_lowercase)
                && !(at(place + 1) == Some('s') && at(place + 2).is_none_or(|c| !c.is_lowercase()));
            here.is_uppercase() && (!before.is_uppercase() || begins_next)
        })
        .unwrap_or(word.len())
}

/// Scripts that write no blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

fn pairs(part: &[(usize, char)]) -> impl Iterator<Item = &[(usize, char)]> {
    part.windows(part.len().clamp(1, 2))
}

/// One token out of neighbouring runs of characters; `None` if nothing of them is left when they are folded.
fn token<'w>(runs: impl IntoIterator<Item = &'w [(usize, char)]>) -> Option<Token> {
    let mut range: Option<Range<usize>> = None;
    let mut word = String::new();
    let mut length = 0;
    for (at, c) in runs.into_iter().flatten() {
        let start = range.map_or(*at, |range| range.start);
        range = Some(start..at + c.len_utf8());
        for folded in fold(*c) {
            if length < TERM_CHARS {
                word.push(folded);
                length += 1;
            }
        }
    }
    let range = range?;
    (!word.is_empty()).then_some(Token {
        range,
        word,
        whole: false,
    })
}

/// Compatibility forms are resolved, accents fall away, and case is folded by way of the capital: `ß` becomes `ss`, and
/// both sigmas one.
fn fold(c: char) -> impl Iterator<Item = char> {
    std::iter::once(c)
        .nfkd()
        .filter(|c| !is_accent(*c))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

/// Words that a question has for its grammar alone. A query is searched without them, unless it has no others.
#[must_use]
pub fn is_grammar(word: &str) -> bool {
    const WORDS: [&str; 98] = [
        "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
        "because", "been", "being", "but", "by", "can", "cannot", "cant", "could", "did", "do",
        "does", "doesnt", "doing", "dont", "for", "from", "had", "happen", "happens", "has",
        "have", "he", "how", "i", "if", "im", "in", "into", "is", "isnt", "it", "its", "ive",
        "just", "like", "may", "me", "might", "must", "my", "need", "no", "not", "of", "on", "or",
        "our", "own", "shall", "she", "should", "so", "some", "still", "than", "that", "the",
        "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "us",
        "want", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why",
        "will", "with", "would", "you", "your",
    ];
    WORDS.binary_search(&word).is_ok()
}
