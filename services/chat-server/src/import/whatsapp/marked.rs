//! Locations and polls, which are texts of a special form.

use super::text::{folded, is_blank};
use super::words::words;
use crate::model::Body;

/// The beginning of the link to a location.
const MAP: &str = "https://maps.google.com/?q=";

/// `location: https://maps.google.com/?q=47.3,8.5`, in any language; a name may be on a separate line before it.
pub(super) fn place(text: &str) -> Option<Body> {
    let (before, after) = text.split_once(MAP)?;
    let (latitude, longitude) = after.split_once(',')?;
    let degrees = |text: &str, most: f64| {
        let degrees: f64 = text.trim_matches(is_blank).parse().ok()?;
        (-most..=most).contains(&degrees).then_some(degrees)
    };
    let (latitude, longitude) = (degrees(latitude, 90.0)?, degrees(longitude, 180.0)?);
    let (name, word) = before.rsplit_once('\n').unwrap_or(("", before));
    let word = word.trim_matches(is_blank);
    let word = if word.is_empty() { "" } else { word.strip_suffix(':')? };
    let known = word.is_empty() || words().places.contains(&folded(word));
    // More than a word is the sender's own text, and stays text.
    if !known && word.contains(char::is_whitespace) {
        return None;
    }
    let name = match (name.trim_matches(is_blank), known) {
        ("", true) => None,
        ("", false) => Some(word.to_owned()),
        (name, true) => Some(name.to_owned()),
        (_, false) => return None,
    };
    Some(Body::Location { latitude, longitude, name })
}

/// `POLL:`, the question, and lines `OPTION: words (2 votes)`, in any language that has capital letters.
pub(super) fn poll(text: &str) -> Option<Body> {
    let mut lines = text.lines().map(|line| line.trim_matches(is_blank));
    // French sets a blank before the colon.
    capitals(lines.next()?.strip_suffix(':')?.trim_end_matches(is_blank))?;
    let mut question = Vec::new();
    let mut answers = Vec::new();
    let mut option = None;
    for line in lines {
        if let Some((word, answer, votes)) = counted(line) {
            if *option.get_or_insert(word) != word {
                return None;
            }
            answers.push((answer.to_owned(), Some(votes)));
        } else if answers.is_empty() {
            question.push(line);
        } else if !line.is_empty() {
            return None;
        }
    }
    (!answers.is_empty() && !question.is_empty())
        .then(|| Body::Poll { question: question.join("\n").trim().to_owned(), answers })
}

/// `OPTION: words (2 votes)`
fn counted(line: &str) -> Option<(&str, &str, u32)> {
    let (word, answer) = line.split_once(": ")?;
    let (answer, votes) = answer.strip_suffix(')')?.rsplit_once(" (")?;
    let (votes, _) = votes.trim_matches(is_blank).split_once(' ')?;
    Some((
        capitals(word.trim_end_matches(is_blank))?,
        answer,
        votes.trim_matches(is_blank).parse().ok()?,
    ))
}

fn capitals(word: &str) -> Option<&str> {
    (!word.is_empty() && word.chars().all(char::is_uppercase)).then_some(word)
}
