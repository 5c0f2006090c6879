//! Folding, for all code that compares words: case, diacritics and compatibility forms do not
//! count. `Ö`, `ö` and `o` are the same, as are `ß` and `ss`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

/// The text in lower case, without diacritics, in compatibility form (NFKC), and with blanks for control
/// characters.
///
/// Marks that make another letter of it stay: the vowels of Indic scripts, the voicing of Japanese.
pub(super) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Whether a text contains this; neither case nor diacritics count.
pub fn contains(text: &str, part: &str) -> bool {
    fold(text).contains(&fold(part))
}

/// [`fold`] into a buffer, which is emptied first.
pub(super) fn fold_into(text: &str, folded: &mut String) {
    folded.clear();
    for c in text.chars() {
        match c {
            '\0'..='\x7F' => folded.push(plain(c.to_ascii_lowercase())),
            // Emoji stay unchanged.
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

/// The full Unicode algorithm, which is slow.
fn exact(text: &str) -> impl Iterator<Item = char> {
    text.nfkd()
        .filter(|&c| !is_diacritic(c))
        // By way of upper case, so that letters with several lower-case forms become one: ß and ss, ς and σ.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .filter(|&c| !is_diacritic(c))
        .flat_map(|c| {
            let other = bare(c);
            other.chars().chain(other.is_empty().then(|| plain(c)))
        })
        .nfc()
}

/// The folded form of characters that do not depend on their neighbours: those of Latin, Greek and Cyrillic scripts, of
/// punctuation and symbols. Made once.
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
    chars.map(|c| exact(c.encode_utf8(&mut [0; 4])).collect()).collect()
}

/// The words of a text, folded: runs of letters, digits and their marks; of scripts without blanks between words each
/// pair of letters and the last one; each emoji.
pub(super) fn words(text: &str) -> Vec<String> {
    words_at(text).into_iter().map(|(_, word)| word).collect()
}

/// The same, each with the number of the run in which it begins.
pub(super) fn words_at(text: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    each_word(text, |n, word| words.push((n, word.to_owned())));
    words
}

/// The same, one by one.
pub(super) fn each_word(text: &str, mut take: impl FnMut(usize, &str)) {
    let mut folded = String::new();
    let mut runs = runs(text).enumerate().peekable();
    while let Some((n, (at, run))) = runs.next() {
        fold_into(run, &mut folded);
        let end = at + run.len();
        if run.starts_with(is_blankless)
            && let Some((_, (next, other))) = runs.peek()
            && *next == end
            && other.starts_with(is_blankless)
        {
            folded.push_str(&fold(other));
        }
        folded
            .split(|c| !in_word(c))
            // Marks alone are not a word, neither here nor in the index.
            .filter(|part| part.contains(is_token))
            .for_each(|part| take(n, part));
    }
}

/// The words of a text, as written, each with the byte where it begins. A letter of a script without blanks is one, and
/// an emoji.
pub(super) fn runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    let mut at = 0;
    std::iter::from_fn(move || {
        let skip = rest.find(in_word)?;
        let (_, tail) = rest.split_at_checked(skip)?;
        let first = tail.chars().next()?;
        let end = if is_blankless(first) || is_emoji(first) {
            first.len_utf8()
        } else {
            tail.find(|c: char| !in_word(c) || !c.is_ascii() && (is_blankless(c) || is_emoji(c)))
                .unwrap_or(tail.len())
        };
        let (run, after) = tail.split_at_checked(end)?;
        let start = at + skip;
        at = start + end;
        rest = after;
        Some((start, run))
    })
}

fn in_word(c: char) -> bool {
    is_token(c) || !c.is_ascii() && unicode_normalization::char::is_combining_mark(c)
}

fn is_token(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    is_letter(c) || is_emoji(c)
}

/// A letter or a digit. Letters in black circles and squares, which do not fold to another letter, are symbols for the
/// index.
fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !matches!(c, '\u{1F150}'..='\u{1F189}')
}

/// Symbols that can be searched like words, except skin tones.
const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2600}'..='\u{27BF}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1F12F}' | '\u{1F18A}'..='\u{1F3FA}' | '\u{1F400}'..='\u{1FAFF}')
}

/// Letters of scripts that have no blanks between words: Chinese, Japanese, Thai, Lao, Burmese, Khmer.
pub(super) const fn is_blankless(c: char) -> bool {
    matches!(c, '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9D}' | '\u{20000}'..='\u{323AF}')
}

/// Letters that are often replaced by others, but have no mark that could be left out.
fn bare(c: char) -> &'static str {
    match c {
        'ł' => "l",
        'ø' => "o",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ŧ' => "t",
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        _ => "",
    }
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
