//! WordPiece, as BERT's uncased models were trained with (Devlin et al., 2019). Text is cleaned, lower-cased and
//! stripped of accents. It is split at blanks and punctuation, and each word is split into the longest pieces of the
//! vocabulary.
//!
//! Names of special tokens in a text, such as `[SEP]`, are treated as text. Of all characters, 618 are split
//! differently from the library that the models were published with. Its tables are from an older Unicode version,
//! which lacked these characters or classified them differently.

use std::collections::HashMap;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

/// A word with more characters becomes the unknown token.
const WORD_CHARS: usize = 100;

/// Splits text into the pieces of a vocabulary.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    pieces: HashMap<String, u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl Tokenizer {
    /// A tokenizer for a vocabulary with numbered pieces. `None` if `[CLS]`, `[SEP]` or `[UNK]` is missing.
    pub fn new(pieces: HashMap<String, u32>) -> Option<Self> {
        let special = |name: &str| pieces.get(name).copied();
        Some(Self {
            unknown: special("[UNK]")?,
            begin: special("[CLS]")?,
            end: special("[SEP]")?,
            pieces,
        })
    }

    /// The highest number of a piece.
    pub fn highest(&self) -> u32 {
        self.pieces.values().copied().max().unwrap_or_default()
    }

    /// The pieces of `text` between `[CLS]` and `[SEP]`, cut off so that there are at most `most` in total.
    pub fn encode(&self, text: &str, most: usize) -> Vec<u32> {
        let mut pieces = vec![self.begin];
        for word in words(text) {
            if pieces.len() + 1 >= most {
                break;
            }
            self.cut(&word, &mut pieces);
        }
        pieces.truncate(most.saturating_sub(1));
        pieces.push(self.end);
        pieces
    }

    /// The number of pieces in `text`, without `[CLS]` and `[SEP]`.
    pub fn count(&self, text: &str) -> usize {
        let mut pieces = Vec::new();
        for word in words(text) {
            self.cut(&word, &mut pieces);
        }
        pieces.len()
    }

    /// Appends the pieces of a word, the longest first. If a part of it is unknown, the whole word is.
    fn cut(&self, word: &str, pieces: &mut Vec<u32>) {
        let whole = pieces.len();
        if word.chars().count() > WORD_CHARS {
            pieces.push(self.unknown);
            return;
        }
        let mut rest = word;
        let mut candidate = String::new();
        while !rest.is_empty() {
            let prefix = if pieces.len() > whole { "##" } else { "" };
            let ends = rest.char_indices().rev().map(|(at, c)| at + c.len_utf8());
            let found =
                ends.filter_map(|end| rest.split_at_checked(end)).find_map(|(piece, behind)| {
                    candidate.clear();
                    candidate.push_str(prefix);
                    candidate.push_str(piece);
                    Some((*self.pieces.get(&candidate)?, behind))
                });
            let Some((piece, behind)) = found else {
                pieces.truncate(whole);
                pieces.push(self.unknown);
                return;
            };
            pieces.push(piece);
            rest = behind;
        }
    }
}

/// Words and single punctuation characters, cleaned.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut characters = text
        .chars()
        .filter(|c| !is_control(*c))
        .flat_map(apart)
        .nfd()
        .filter(|c| get_general_category(*c) != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
        .peekable();
    std::iter::from_fn(move || {
        while characters.next_if(|c| c.is_whitespace()).is_some() {}
        let first = characters.next()?;
        let mut word = String::from(first);
        if !is_punctuation(first) {
            while let Some(c) = characters.next_if(|c| !c.is_whitespace() && !is_punctuation(*c)) {
                word.push(c);
            }
        }
        Some(word)
    })
}

/// A Chinese character is a separate word.
fn apart(c: char) -> impl Iterator<Item = char> {
    let around = is_chinese(c).then_some(' ');
    around.into_iter().chain([c]).chain(around)
}

fn is_control(c: char) -> bool {
    use GeneralCategory as Category;
    if matches!(c, '\t' | '\n' | '\r') {
        return false;
    }
    c == char::REPLACEMENT_CHARACTER
        || matches!(
            get_general_category(c),
            Category::Control | Category::Format | Category::PrivateUse
        )
}

fn is_punctuation(c: char) -> bool {
    use GeneralCategory as Category;
    c.is_ascii_punctuation()
        || matches!(
            get_general_category(c),
            Category::ConnectorPunctuation
                | Category::DashPunctuation
                | Category::OpenPunctuation
                | Category::ClosePunctuation
                | Category::InitialPunctuation
                | Category::FinalPunctuation
                | Category::OtherPunctuation
        )
}

fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b920}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}
