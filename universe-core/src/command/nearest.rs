//! What to say of a `type` that names no command.

use serde_json::Value;

use crate::catalog;
use crate::check::describe;

/// The message about a missing or unknown `type`: the nearest names, and all of them.
pub(super) fn unknown_type(given: Option<&Value>) -> String {
    let names: Vec<_> = catalog::commands().map(|spec| spec.kind.name()).collect();
    let known = names.join(", ");
    let Some(given) = given else {
        return format!("is missing; expected one of {known}");
    };
    let near = given
        .as_str()
        .map(|given| nearest(given, &names))
        .unwrap_or_default();
    let found = describe(given);
    let hint = match near.as_slice() {
        [] => ";".to_owned(),
        near => format!("; did you mean {}?", near.join(" or ")),
    };
    format!("{found} is no command{hint} expected one of {known}")
}

/// The names that differ least from the given text, if they differ little.
fn nearest<'a>(given: &str, names: &[&'a str]) -> Vec<&'a str> {
    // A text much longer than any name is near to none; this also bounds the work.
    if given.len() > 40 {
        return Vec::new();
    }
    let given = given.to_lowercase();
    let distances = names
        .iter()
        .map(|name| (distance(&given, &name.to_lowercase()), *name));
    let near: Vec<_> = distances.filter(|(distance, _)| *distance <= 3).collect();
    let least = near.iter().map(|(distance, _)| *distance).min();
    near.into_iter()
        .filter(|(distance, _)| Some(*distance) == least)
        .map(|(_, name)| name)
        .collect()
}

/// How many characters must be put in, taken out or changed (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (index, a) in a.chars().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        let mut next = vec![left];
        for (above, b) in row.iter().skip(1).zip(b.chars()) {
            left = (diagonal + usize::from(a != b))
                .min(above + 1)
                .min(left + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}
