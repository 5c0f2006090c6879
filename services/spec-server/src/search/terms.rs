//! From text to terms: different spellings of the same thing give the same term.
//!
//! A *word* is a run of letters and digits. Words joined by single signs (`retry-after`, `api/v1`, `a::b`) form an
//! identifier, and so does a word with capitals or digits inside (`retryAfter`, `OAuth2`). An identifier gives a term
//! for each of its parts and one for the whole without the signs: `retry-after`, `retry_after` and `retryAfter` all
//! give `retryafter`. Chinese and Japanese are written without blanks and give pairs of neighbouring characters.
//!
//! Terms are folded: compatibility forms are resolved (NFKD), accents are removed, case is folded, and words that look
//! English are [stemmed](super::stem).

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

use super::stem::stem;

/// The most characters of a term. Further characters are ignored.
pub const TERM_CHARS: usize = 64;

/// The most parts of an identifier that also gives a term for the whole.
const WHOLE_PARTS: usize = 8;

/// One term of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its position in the text, in bytes.
    pub range: Range<usize>,
    /// The word, folded but not stemmed.
    pub word: String,
    /// Whether this is a whole identifier, in addition to its parts.
    pub whole: bool,
}

impl Token {
    /// The term to look up.
    pub fn term(&self) -> String {
        stem(&self.word)
    }
}

/// The terms of `text` in their order. A whole identifier follows its parts. Linear in the length of the text.
pub fn tokens(text: &str) -> impl Iterator<Item = Token> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let identifier = identifier(text, at)?;
        at = identifier.last()?.end;
        Some(split(text, &identifier))
    })
    .flatten()
}

/// The words of the first identifier from `at` on.
fn identifier(text: &str, at: usize) -> Option<Vec<Range<usize>>> {
    let rest = text.get(at..)?;
    let mut start = at + rest.find(is_of_word)?;
    let mut words = Vec::with_capacity(1);
    loop {
        let end = start + word_length(text.get(start..)?);
        if end == start {
            break;
        }
        words.push(start..end);
        // One sign joins words, or the `::` of a path. A sign without a word after it ends the identifier.
        let behind = text.get(end..)?;
        start = match behind.strip_prefix("::").or_else(|| behind.strip_prefix(JOINING)) {
            Some(next) => text.len() - next.len(),
            None => break,
        };
    }
    Some(words)
}

/// The length in bytes of the word at the beginning of `text`. An apostrophe between letters belongs to the word, but
/// not to its term.
fn word_length(text: &str) -> usize {
    let mut characters = text.char_indices().peekable();
    let mut end = 0;
    while let Some((at, c)) = characters.next() {
        let inside = |next: Option<&(usize, char)>| next.is_some_and(|(_, c)| c.is_alphabetic());
        if !(is_of_word(c) || is_apostrophe(c) && end > 0 && inside(characters.peek())) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}

/// Letters, digits, and accents that are separate characters.
fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() && (c.is_alphanumeric() || is_accent(c))
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’')
}

/// Signs that join words into an identifier.
const JOINING: [char; 7] = ['_', '-', '.', '/', ':', '@', '#'];

/// The parts of an identifier, and the whole if there are several parts.
fn split(text: &str, words: &[Range<usize>]) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(1);
    let mut unspaced = false;
    for word in words {
        let mut start = word.start;
        while start < word.end {
            let rest = known_range::text(text, start..word.end);
            let part = start..start + part_length(rest);
            start = part.end;
            if rest.starts_with(is_unspaced) {
                unspaced = true;
                tokens.extend(pairs(text, part).filter_map(|pair| token(text, &[pair])));
            } else {
                tokens.extend(token(text, &[part]));
            }
        }
    }
    if (2..=WHOLE_PARTS).contains(&tokens.len()) && !unspaced {
        let whole = token(text, words);
        tokens.extend(whole.map(|token| Token { whole: true, ..token }));
    }
    tokens
}

/// The length in bytes of the first part of a word. A part ends at a change of case, between letters and digits, and
/// around scripts without blanks.
fn part_length(word: &str) -> usize {
    let plain = word.bytes().skip(1).all(|byte| byte.is_ascii_lowercase());
    if plain && word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return word.len();
    }
    let mut characters =
        word.char_indices().filter(|(_, c)| !is_accent(*c) && !is_apostrophe(*c)).peekable();
    let mut before = characters.next().map_or(' ', |(_, c)| c);
    while let Some((at, here)) = characters.next() {
        let next = characters.peek().map(|(_, c)| *c);
        let other =
            before.is_numeric() != here.is_numeric() || is_unspaced(before) != is_unspaced(here);
        // `HTTPServer`: the last capital of a run begins the next part, unless only a plural `s` follows.
        let plural = || {
            let behind = word.get(at + here.len_utf8()..).and_then(|rest| rest.strip_prefix('s'));
            behind.is_some_and(|behind| !behind.starts_with(char::is_lowercase))
        };
        let begins_next = || next.is_some_and(char::is_lowercase) && !plural();
        if other || here.is_uppercase() && (!before.is_uppercase() || begins_next()) {
            return at;
        }
        before = here;
    }
    word.len()
}

/// Scripts without blanks between words.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// Each character of a part with the next one. A single character stands alone.
fn pairs(text: &str, part: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let characters = known_range::text(text, part.clone()).char_indices();
    let second = part.start + characters.clone().nth(1).map_or(0, |(at, _)| at);
    let starts = characters.map(move |(at, _)| part.start + at);
    let ends = known_range::text(text, second..part.end).char_indices();
    let ends = ends.map(move |(at, c)| second + at + c.len_utf8());
    starts.zip(ends).map(|(start, end)| start..end)
}

/// One token from neighbouring parts of a text; `None` if folding leaves nothing of them.
fn token(text: &str, parts: &[Range<usize>]) -> Option<Token> {
    let range = parts.first()?.start..parts.last()?.end;
    let mut word = String::new();
    let mut length = 0;
    for part in parts.iter().filter_map(|part| text.get(part.clone())) {
        if part.is_ascii() {
            let kept = part.bytes().filter(|byte| *byte != b'\'').take(TERM_CHARS - length);
            word.extend(kept.map(|byte| char::from(byte.to_ascii_lowercase())));
        } else {
            word.extend(
                part.chars()
                    .filter(|c| !is_apostrophe(*c))
                    .flat_map(fold)
                    .take(TERM_CHARS - length),
            );
        }
        length = word.chars().count();
    }
    (!word.is_empty()).then_some(Token { range, word, whole: false })
}

/// Resolves compatibility forms, removes accents, and folds case by way of the capital: `ß` becomes `ss`, and both
/// sigmas become the same letter.
fn fold(c: char) -> impl Iterator<Item = char> {
    std::iter::once(c)
        .nfkd()
        .filter(|c| !is_accent(*c))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
}

/// Words that only serve the grammar or politeness of a question, and that do not stand for other words. They are left
/// out of a query, unless it has no other words.
pub fn is_grammar(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| GRAMMAR.split_whitespace().collect());
    WORDS.contains(word)
}

const GRAMMAR: &str = "\
        a about above across actually after again all almost already also although always am an and another any \
        anybody anyone anything are arent around as at away back be became because become been before being both but \
        by came can cannot cant come could couldnt did didnt do does doesnt doing dont each either else enough even \
        ever every everyone everything exactly few for from gave get give go goes going gone got had hadnt happen happens \
        has hasnt have havent having he hello her here hers him his how however i if im in instead into is isnt it \
        its itself ive just know let lets like likely little look lot made many may maybe me mean might mine more \
        most much must my myself need needs never no nobody nor not now of off often ok okay on once one only onto or \
        other others our ours out over own per perhaps please possible put quite rather really said same saw say says \
        see seem seems seen shall she should shouldnt since so some somebody someone something somewhere soon still \
        such take takes tell tells than thank that thats the their theirs them themselves then there theres these \
        they thing things this those though through thus to together too took try trying under until up upon us use \
        used using usually very via want wants was wasnt way we well went were werent what whatever whats when \
        whenever where whether which while who whole whom whose why will with within without wont would wouldnt yes \
        yet you your yours yourself";
