//! Words that people use for one thing when they speak of software: a question with one of them finds, with less weight,
//! texts with another. `thesaurus.txt` has them, and says how it was written.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

/// The groups, one on each line.
const GROUPS: &str = include_str!("thesaurus.txt");

/// A term that may be meant by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kin {
    pub(super) term: String,
    /// Whether one of the two is the first of a group; the others of it are less near to each other.
    pub(super) near: bool,
}

/// The terms that may be meant by the term `term`, or by a phrase of two, `"get rid"` with both stemmed.
pub(super) fn kin(term: &str) -> &'static [Kin] {
    static KIN: LazyLock<HashMap<String, Vec<Kin>>> = LazyLock::new(read);
    KIN.get(term).map_or(&[], Vec::as_slice)
}

fn read() -> HashMap<String, Vec<Kin>> {
    let mut kin: HashMap<String, Vec<Kin>> = HashMap::new();
    for group in GROUPS.lines().filter(|line| !line.starts_with('#')) {
        let terms = group.split_whitespace().map(|entry| {
            let words: Vec<String> = entry.split('_').map(stem).collect();
            words.join(" ")
        });
        let terms: Vec<String> = terms.collect();
        for (at, term) in terms.iter().enumerate() {
            let known = kin.entry(term.clone()).or_default();
            let others = terms.iter().enumerate();
            for (place, other) in others.filter(|(_, other)| *other != term && !other.contains(' '))
            {
                let near = at == 0 || place == 0;
                match known.iter_mut().find(|kin| kin.term == *other) {
                    Some(kin) => kin.near |= near,
                    None => known.push(Kin {
                        term: other.clone(),
                        near,
                    }),
                }
            }
        }
    }
    kin
}
