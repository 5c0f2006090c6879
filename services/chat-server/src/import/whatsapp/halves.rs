//! The halves of the day, in the languages whose telephones use twelve hours.

use super::text::is_mark;
use super::words::{Half, words};

/// A word for a part of the day at the beginning of a text (`pm`, `p.m.`, `p. m.`, with blanks of any width), and what
/// follows it.
pub(super) fn half_of(text: &str) -> Option<(Half, &str)> {
    // Most headers have none, and there are many words.
    if !text.starts_with(char::is_alphabetic) {
        return None;
    }
    words().halves.iter().find_map(|(word, half)| Some((*half, after(text, word)?)))
}

fn after<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let mut rest = text;
    for (number, letter) in word.chars().enumerate() {
        if number > 0 {
            rest = rest.trim_start_matches(|c: char| c == '.' || c.is_whitespace() || is_mark(c));
        }
        let found = rest.chars().next()?;
        if !found.to_lowercase().eq(letter.to_lowercase()) {
            return None;
        }
        rest = rest.strip_prefix(found)?;
    }
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    (!rest.starts_with(char::is_alphabetic)).then_some(rest)
}

/// The hour of 24.
pub(super) fn hour_of(hour: i8, half: Option<Half>) -> i8 {
    match half {
        // Some telephones write 13:05 PM.
        Some(Half::After) if hour < 12 => hour + 12,
        Some(Half::Noon) if hour < 6 => hour + 12,
        Some(Half::Before) if hour == 12 => 0,
        _ => hour,
    }
}
