//! One way of making words alike for everything that compares them: case, diacritics and compatibility forms do not
//! count. `Ö`, `ö` and `o` are the same, as are `ß` and `ss`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

/// The text with small letters, without diacritics, in compatibility form (NFKC), and with blanks for control
/// characters.
///
/// Marks that make another letter of it stay: the vowels of Indic scripts, the voicing of Japanese.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Whether a text has this in it; neither case nor diacritics count.
#[must_use]
pub fn contains(text: &str, part: &str) -> bool {
    fold(text).contains(&fold(part))
}

/// [`fold`] into a buffer, which is emptied first.
pub(super) fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    for c in text.chars() {
        match c {
            '\0'..='\x7F' => folded.push(plain(c.to_ascii_lowercase())),
            // Emoji are as they are.
            '\u{1F300}'..='\u{1FAFF}' => folded.push(c),
            _ => match simple(c) {
                Some(known) => folded.push_str(known),
                None => {
                    folded.clear();
                    folded.extend(exact(text));
                    return;
                }
            },
        }
    }
}

/// By the book, which is slow.
fn exact(text: &str) -> impl Iterator<Item = char> {
    text.nfkd()
        .filter(|&c| !is_diacritic(c))
        // By way of capitals, so that letters with several small forms become one: ß and ss, ς and σ.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .filter(|&c| !is_diacritic(c))
        .map(plain)
        .nfc()
}

/// What becomes of characters that stand for themselves, whatever is beside them: those of Latin, Greek and Cyrillic
/// scripts, of punctuation and symbols. Made once.
fn simple(c: char) -> Option<&'static str> {
    static LETTERS: LazyLock<Vec<String>> = LazyLock::new(|| table(FIRST_LETTER..=LAST_LETTER));
    static SYMBOLS: LazyLock<Vec<String>> = LazyLock::new(|| table(FIRST_SYMBOL..=LAST_SYMBOL));
    let (table, first) = match c {
        FIRST_LETTER..=LAST_LETTER => (&LETTERS, FIRST_LETTER),
        FIRST_SYMBOL..=LAST_SYMBOL => (&SYMBOLS, FIRST_SYMBOL),
        _ => return None,
    };
    let place = usize::try_from(u32::from(c) - u32::from(first)).ok()?;
    table.get(place).map(String::as_str)
}

const FIRST_LETTER: char = '\u{80}';
const LAST_LETTER: char = '\u{52F}';
const FIRST_SYMBOL: char = '\u{2000}';
const LAST_SYMBOL: char = '\u{2BFF}';

fn table(chars: RangeInclusive<char>) -> Vec<String> {
    chars
        .map(|c| exact(c.encode_utf8(&mut [0; 4])).collect())
        .collect()
}

/// The words of a text, folded: runs of letters, digits and their marks.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut folded = String::new();
    for (_, run) in runs(text) {
        fold_into(run, &mut folded);
        let parts = folded
            .split(|c| !in_word(c))
            // Marks alone are no word, neither here nor to the index.
            .filter(|part| part.contains(is_letter));
        words.extend(parts.map(str::to_owned));
    }
    words
}

/// The runs of a text that are words, as they are written, each with the byte where it begins.
pub(super) fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let mut at = 0;
    std::iter::from_fn(move || {
        let skip = rest.find(in_word)?;
        let (_, tail) = rest.split_at_checked(skip)?;
        let end = tail.find(|c| !in_word(c)).unwrap_or(tail.len());
        let (run, after) = tail.split_at_checked(end)?;
        let start = at + skip;
        at = start + end;
        rest = after;
        Some((start, run))
    })
}

fn in_word(c: char) -> bool {
    is_letter(c) || !c.is_ascii() && unicode_normalization::char::is_combining_mark(c)
}

/// A letter or a digit. Letters in black circles and squares, which stand for no other letter, are symbols to the index.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !matches!(c, '\u{1F150}'..='\u{1F189}')
}

fn plain(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

/// Marks that a reader may leave out: those of Latin, Greek and Cyrillic, Hebrew points, Arabic vowels, and the
/// selectors of how an emoji looks.
fn is_diacritic(c: char) -> bool {
    matches!(
        u32::from(c),
        0x0300..=0x036F
            | 0x0591..=0x05BD
            | 0x05BF
            | 0x05C1..=0x05C2
            | 0x05C4..=0x05C5
            | 0x05C7
            | 0x0610..=0x061A
            | 0x064B..=0x065F
            | 0x0670
            | 0x1AB0..=0x1AFF
            | 0x1DC0..=0x1DFF
            | 0x20D0..=0x20FF
            | 0xFE00..=0xFE0F
            | 0xFE20..=0xFE2F
    )
}
