//! English stemming by Snowball's successor of Porter's algorithm. British endings (`-ise`, `-isation`) are treated
//! like the American ones.
//!
//! A stem is not a word. It is the common part of a word's forms, such as `cancel`, `cancelled` and `cancelling`.

use rust_stemmers::{Algorithm, Stemmer};

/// The stem of a folded word. A word with letters other than `a` to `z`, or with fewer than three, stays unchanged. A
/// stem is not empty and not longer than its word.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    Stemmer::create(Algorithm::English).stem(&american(word)).into_owned()
}

/// Replaces `-ise` and its derived forms, after those consonants where it is an ending and not part of the word.
fn american(word: &str) -> String {
    const ENDINGS: [&str; 7] = ["e", "ed", "es", "er", "ers", "ing", "ation"];
    let front = |ending: &str| {
        let front = word.strip_suffix(ending)?.strip_suffix("is")?;
        let is_stem = front.contains(['a', 'e', 'i', 'o', 'u', 'y'])
            && front.ends_with(['d', 'g', 'l', 'm', 'n', 'r', 't']);
        is_stem.then(|| format!("{front}iz{ending}"))
    };
    ENDINGS.into_iter().find_map(front).unwrap_or_else(|| word.to_owned())
}
