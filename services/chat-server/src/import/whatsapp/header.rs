//! What stands before each message: a date and a time in one of the ways of the world.
//!
//! iOS writes `[31.12.23, 23:59:58] Anna: …`, Android `31/12/2023, 11:59 pm - Anna: …`, some old versions of iOS
//! `31/12/2023 23:59:58: Anna: …`.

use super::words::{Half, half_of};

/// How a file writes its headers. What is written otherwise in it is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Shape {
    frame: Frame,
    separator: char,
    seconds: bool,
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
    /// Its three numbers as they stand.
    pub(super) date: [u16; 3],
    /// Hour, minute, second, by the clock of 24 hours.
    pub(super) clock: [i8; 3],
    /// What follows it.
    pub(super) rest: &'l str,
}

/// The head of a line, if it has one.
pub(super) fn parse(line: &str) -> Option<Header<'_>> {
    let mut at = Cursor(line);
    at.skip_marks();
    let brackets = at.eat('[');
    let (date, separator) = date(&mut at)?;
    // A comma, a full stop, or a word such as the Finnish "klo"; and in some languages the part of the day.
    let mut half = between(&mut at)?;
    let hour = at.number(2)?;
    at.eat_any(&[':', '.'])?;
    let minute = at.number_of(2)?;
    let mut ahead = at;
    let second = ahead.eat_any(&[':', '.']).and_then(|_| ahead.number_of(2));
    if second.is_some() {
        at = ahead;
    }
    at.skip_blanks();
    if let Some((word, rest)) = half_of(at.0) {
        half = Some(word);
        at = Cursor(rest);
    }
    at.skip_blanks();
    let frame = match brackets {
        true => at.eat(']').then_some(Frame::Brackets)?,
        false if at.eat_any(&['-', '–']).is_some() => Frame::Dash,
        false => at.eat(':').then_some(Frame::Colon)?,
    };
    // Blanks follow, but the text may be empty.
    if !at.0.is_empty() && !at.skip_blanks() {
        return None;
    }
    Some(Header {
        shape: Shape {
            frame,
            separator,
            seconds: second.is_some(),
        },
        date,
        clock: [
            hour_of(hour, half)?,
            clock(minute, 59)?,
            clock(second.unwrap_or(0), 59)?,
        ],
        rest: at.0,
    })
}

fn date(at: &mut Cursor<'_>) -> Option<([u16; 3], char)> {
    let first = at.number(4)?;
    let separator = at.eat_any(&['/', '.', '-', '年'])?;
    at.skip_blanks();
    let second = at.number(2)?;
    at.eat_any(&[separator, '月'])?;
    at.skip_blanks();
    let third = at.number(4)?;
    at.eat_any(&['日']);
    Some(([first, second, third], separator))
}

/// Goes to the clock; tells the part of the day if that stands before it.
fn between(at: &mut Cursor<'_>) -> Option<Option<Half>> {
    let before = at.0;
    at.eat_any(&[',', '.', '،']);
    at.skip_blanks();
    if let Some((half, rest)) = half_of(at.0) {
        *at = Cursor(rest);
        at.skip_blanks();
        return Some(Some(half));
    }
    // One short word without digits.
    let word = at.0.trim_start_matches(|c: char| c.is_alphabetic());
    if at.0.len() - word.len() <= 12 {
        *at = Cursor(word);
        at.eat('.');
        at.skip_blanks();
    }
    (before.len() != at.0.len()).then_some(None)
}

fn hour_of(hour: u16, half: Option<Half>) -> Option<i8> {
    let hour = clock(hour, 23)?;
    match half {
        None => Some(hour),
        // Some telephones write 13:05 PM.
        Some(Half::After) if hour < 12 => Some(hour + 12),
        Some(Half::Before) if hour == 12 => Some(0),
        Some(_) => Some(hour),
    }
}

fn clock(number: u16, most: i8) -> Option<i8> {
    i8::try_from(number).ok().filter(|number| *number <= most)
}

/// Where the reading of a line stands.
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

    /// A number of at most so many digits, of any script.
    fn number(&mut self, most: usize) -> Option<u16> {
        self.skip_marks();
        let mut value = 0;
        let mut count = 0;
        let mut rest = self.0.chars();
        while let Some(digit) = rest.clone().next().and_then(digit) {
            value = value * 10 + digit;
            count += 1;
            rest.next();
            if count > most {
                return None;
            }
        }
        self.0 = rest.as_str();
        (count > 0).then_some(value)
    }

    /// A number of exactly so many digits.
    fn number_of(&mut self, digits: usize) -> Option<u16> {
        let before = self.0;
        let value = self.number(digits)?;
        let count = before.chars().filter(|c| digit(*c).is_some()).count();
        let left = self.0.chars().filter(|c| digit(*c).is_some()).count();
        (count - left == digits).then_some(value)
    }

    /// Blanks of any width, and marks of direction. Whether there were any.
    fn skip_blanks(&mut self) -> bool {
        let before = self.0.len();
        self.0 = self
            .0
            .trim_start_matches(|c: char| c.is_whitespace() || is_mark(c));
        self.0.len() < before
    }

    fn skip_marks(&mut self) {
        self.0 = self.0.trim_start_matches(is_mark);
    }
}

/// Marks of direction that nobody sees.
pub(super) fn is_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Digits of the scripts in which telephones write numbers: Latin, Arabic, Persian, Devanagari, Bengali.
fn digit(c: char) -> Option<u16> {
    let zeros = ['0', '\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}'];
    let digit = zeros.iter().find_map(|zero| {
        (c as u32)
            .checked_sub(*zero as u32)
            .filter(|digit| *digit < 10)
    })?;
    u16::try_from(digit).ok()
}
