//! Synonyms in software: a question with one of them also finds, with less weight, texts with another. They are listed
//! in `thesaurus.txt`, which explains how it was written.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// The groups, one on each line.
const GROUPS: &str = include_str!("thesaurus.txt");

/// The synonyms of the term `term`, or of a phrase of two words, such as `"get rid"` with both stemmed.
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
            let others = terms.iter().filter(|other| *other != term && !other.contains(' '));
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
