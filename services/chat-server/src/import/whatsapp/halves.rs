//! The halves of the day, in the languages whose telephones tell twelve hours.

use super::header::is_mark;

/// A part of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    /// Before noon.
    Before,
    /// After noon.
    After,
    /// Around noon: 11 is before it, 12 and 1 are not.
    Noon,
}

/// Words for them, in lower case, without blanks and full stops.
const HALVES: [(&str, Half); 43] = [
    ("am", Half::Before),
    ("pm", Half::After),
    ("vorm", Half::Before),
    ("nachm", Half::After),
    ("ap", Half::Before),
    ("ip", Half::After),
    ("de", Half::Before),
    ("du", Half::After),
    ("dop", Half::Before),
    ("odp", Half::After),
    ("fm", Half::Before),
    ("em", Half::After),
    ("öö", Half::Before),
    ("ös", Half::After),
    ("sa", Half::Before),
    ("ch", Half::After),
    ("pg", Half::Before),
    ("ptg", Half::After),
    ("πμ", Half::Before),
    ("μμ", Half::After),
    ("дп", Half::Before),
    ("пп", Half::After),
    ("проб", Half::Before),
    ("слоб", Half::After),
    ("上午", Half::Before),
    ("下午", Half::After),
    ("凌晨", Half::Before),
    ("清晨", Half::Before),
    ("早上", Half::Before),
    ("中午", Half::Noon),
    ("晚上", Half::After),
    ("午前", Half::Before),
    ("午後", Half::After),
    ("오전", Half::Before),
    ("오후", Half::After),
    ("ص", Half::Before),
    ("م", Half::After),
    ("قظ", Half::Before),
    ("بظ", Half::After),
    ("पूर्वाह्न", Half::Before),
    ("अपराह्न", Half::After),
    ("לפנה״צ", Half::Before),
    ("אחה״צ", Half::After),
];

/// A word for a part of the day at the beginning of a text (`pm`, `p.m.`, `p. m.`, with blanks of any width), and what
/// follows it.
pub(super) fn half_of(text: &str) -> Option<(Half, &str)> {
    // Most headers have none, and there are many words.
    if !text.starts_with(char::is_alphabetic) {
        return None;
    }
    HALVES
        .iter()
        .find_map(|(word, half)| Some((*half, after(text, word)?)))
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
