//! The header of each message: a date and a time in one of many formats.
//!
//! iOS writes `[31.12.23, 23:59:58] Anna: …`, Android `31/12/2023, 11:59 pm - Anna: …`, some old versions of iOS
//! `31/12/2023 23:59:58: Anna: …`.

use super::halves::{half_of, hour_of};
use super::order::WrittenDate;
use super::text::is_mark;
use super::words::Half;

/// The format of a file's headers. A line in another format is quoted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Shape {
    frame: Frame,
    separator: char,
    /// What follows the date: a comma, the first letter of a word.
    after: Option<char>,
    seconds: bool,
    /// Whether the part of the day is given.
    halves: bool,
    /// Whether years have all their digits.
    long_years: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Frame {
    /// `[…] `
    Brackets,
    /// `… - `
    Dash,
    /// `…: `
    Colon,
}

/// The head of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header<'l> {
    pub(super) shape: Shape,
    /// The date as written.
    pub(super) date: WrittenDate,
    /// Hour, minute, second, on a 24-hour clock.
    pub(super) clock: [i8; 3],
    /// The text after the head.
    pub(super) rest: &'l str,
}

impl Shape {
    /// Whether an iPhone writes this format.
    pub(super) fn is_ios(self) -> bool {
        self.frame != Frame::Dash
    }
}

/// Words that some languages write after the time.
const CLOCKS: [&str; 3] = ["uhr", "ч", "h"];

/// The head of a line, if it has one.
pub(super) fn parse(line: &str) -> Option<Header<'_>> {
    let mut at = Cursor(line);
    at.skip_blanks();
    let brackets = at.eat('[');
    let mut date = date(&mut at)?;
    let (after, before_noon) = between(&mut at)?;
    let (hour, _) = at.number(2)?;
    // 18:05, 18.05, 18 h 05
    at.skip_blanks();
    at.eat_any(&[':', '.', 'h'])?;
    at.skip_blanks();
    let minute = at.pair()?;
    let mut ahead = at;
    let second = ahead.eat_any(&[':', '.']).and_then(|_| ahead.pair());
    if second.is_some() {
        at = ahead;
    }
    at.skip_blanks();
    let half = match half_of(at.0) {
        Some((half, rest)) => {
            date.halves = Some(at.0.starts_with(['A', 'P']));
            at = Cursor(rest);
            Some(half)
        }
        None => before_noon,
    };
    at.skip_word(&CLOCKS);
    at.skip_blanks();
    let frame = if brackets {
        at.eat(']').then_some(Frame::Brackets)?
    } else if at.eat_any(&['-', '–', '—']).is_some() {
        Frame::Dash
    } else {
        at.eat(':').then_some(Frame::Colon)?
    };
    // Blanks follow, but the text may be empty.
    if !at.0.is_empty() && !at.skip_blanks() {
        return None;
    }
    Some(Header {
        shape: Shape {
            frame,
            separator: date.separator,
            after,
            seconds: second.is_some(),
            halves: half.is_some(),
            long_years: date.numbers.iter().any(|number| *number > 99),
        },
        date,
        clock: [
            hour_of(clock(hour, 23)?, half),
            clock(minute, 59)?,
            clock(second.unwrap_or(0), 59)?,
        ],
        rest: at.0,
    })
}

fn date(at: &mut Cursor<'_>) -> Option<WrittenDate> {
    let (first, first_digits) = at.number(4)?;
    let separator = at.eat_any(&['/', '.', '-', '年'])?;
    at.skip_blanks();
    let (second, second_digits) = at.number(2)?;
    at.eat_any(&[separator, '月'])?;
    at.skip_blanks();
    let (third, third_digits) = at.number(4)?;
    at.eat_any(&['日']);
    Some(WrittenDate {
        numbers: [first, second, third],
        digits: [first_digits, second_digits, third_digits],
        separator,
        halves: None,
    })
}

/// Advances to the clock: past commas, full stops, a word such as the Finnish "klo" or the Bulgarian "г.", and in some
/// languages the part of the day. Returns the first mark, and the part of the day.
fn between(at: &mut Cursor<'_>) -> Option<(Option<char>, Option<Half>)> {
    let before = at.0.len();
    let mut first = None;
    let mut half = None;
    // At most a full stop, a word, its full stop, a comma, a part of the day.
    for _ in 0..6 {
        at.skip_blanks();
        if let Some((found, rest)) = half_of(at.0) {
            half = Some(found);
            *at = Cursor(rest);
        } else if let Some(mark) = at.eat_any(&[',', '.', '،']) {
            first = first.or(Some(mark));
        } else {
            let word = at.0.trim_start_matches(char::is_alphabetic);
            let length = at.0.len() - word.len();
            if length == 0 || length > 12 {
                break;
            }
            first = first.or(at.0.chars().next());
            *at = Cursor(word);
        }
    }
    (at.0.len() < before).then_some((first, half))
}

fn clock(number: u16, most: i8) -> Option<i8> {
    i8::try_from(number).ok().filter(|number| *number <= most)
}

/// The position of the reader in a line.
#[derive(Clone, Copy)]
struct Cursor<'l>(&'l str);

impl Cursor<'_> {
    fn eat(&mut self, expected: char) -> bool {
        self.eat_any(&[expected]).is_some()
    }

    fn eat_any(&mut self, expected: &[char]) -> Option<char> {
        self.skip_marks();
        let found = self.0.chars().next().filter(|c| expected.contains(c))?;
        self.0 = self.0.strip_prefix(found)?;
        Some(found)
    }

    /// A number of at most `most` digits, of any script, and how many it has.
    fn number(&mut self, most: usize) -> Option<(u16, usize)> {
        self.skip_marks();
        let mut value = 0;
        let mut count = 0;
        let mut rest = self.0.chars();
        while let Some(digit) = rest.clone().next().and_then(digit) {
            count += 1;
            if count > most {
                return None;
            }
            value = value * 10 + digit;
            rest.next();
        }
        self.0 = rest.as_str();
        (count > 0).then_some((value, count))
    }

    /// A number of two digits.
    fn pair(&mut self) -> Option<u16> {
        let (value, count) = self.number(2)?;
        (count == 2).then_some(value)
    }

    /// One of these words, and the full stop behind it.
    fn skip_word(&mut self, words: &[&str]) {
        self.skip_blanks();
        let rest = self.0.trim_start_matches(char::is_alphabetic);
        let word = self.0.strip_suffix(rest).unwrap_or_default();
        if words.iter().any(|known| word.to_lowercase() == *known) {
            self.0 = rest.strip_prefix('.').unwrap_or(rest);
        }
    }

    /// Blanks of any width, and marks of direction. Whether there were any.
    fn skip_blanks(&mut self) -> bool {
        let before = self.0.len();
        self.0 = self.0.trim_start_matches(|c: char| c.is_whitespace() || is_mark(c));
        self.0.len() < before
    }

    fn skip_marks(&mut self) {
        self.0 = self.0.trim_start_matches(is_mark);
    }
}

/// Digits of the scripts in which telephones write numbers: Latin, Arabic, Persian, Devanagari, Bengali.
fn digit(c: char) -> Option<u16> {
    let zeros = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}'];
    let digit = zeros
        .iter()
        .find_map(|zero| (c as u32).checked_sub(*zero as u32).filter(|digit| *digit < 10))?;
    u16::try_from(digit).ok()
}
