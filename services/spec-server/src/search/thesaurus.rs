//! Words that people use for the same thing in software: a question with one of them finds, with less weight, texts
//! with another. `thesaurus.txt` has them, and explains how it was written.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// The groups, one on each line.
const GROUPS: &str = include_str!("thesaurus.txt");

/// The terms that may be meant by the term `term`, or by a phrase of two, `"get rid"` with both stemmed.
pub(super) fn kin(term: &str) -> &'static [String] {
    static KIN: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(read);
    KIN.get(term).map_or(&[], Vec::as_slice)
}

fn read() -> HashMap<String, Vec<String>> {
    let mut kin: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS.lines().filter(|line| !line.starts_with('#')) {
        let terms = group.split_whitespace().map(|entry| {
            let words: Vec<String> = entry.split('_').map(stem).collect();
            words.join(" ")
        });
        let terms: Vec<String> = terms.collect();
        for term in &terms {
            let others = terms
                .iter()
                .filter(|other| *other != term && !other.contains(' '));
            let known = kin.entry(term.clone()).or_default();
            for other in others {
                if !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    kin
}
