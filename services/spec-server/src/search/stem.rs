//! Light English stemming by M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. British endings
//! (`-ise`, `-isation`) are treated like the American ones.
//!
//! A stem is not a word. It is the common part of a word's forms, such as `cancel`, `cancelled` and `cancelling`.

/// The stem of a folded word. A word with letters other than `a` to `z`, or with fewer than three, stays unchanged. A
/// stem is not empty and not longer than its word.
pub fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let mut stem = american(word);
    plural(&mut stem);
    past_and_gerund(&mut stem);
    if let Some(rest) = stem.strip_suffix('y').filter(|rest| has_vowel(rest)) {
        stem = format!("{rest}i");
    }
    replace_ending(&mut stem, &SUFFIXES_OF_SUFFIXES, 1);
    replace_ending(&mut stem, &NOUNS_AND_ADJECTIVES, 1);
    replace_ending(&mut stem, &LAST_SUFFIXES, 2);
    final_e(&mut stem);
    stem
}

/// Porter's step 2.
const SUFFIXES_OF_SUFFIXES: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
];

/// Porter's step 3.
const NOUNS_AND_ADJECTIVES: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Porter's step 4; `ion` only counts after `s` and `t`.
const LAST_SUFFIXES: [(&str, &str); 19] = [
    ("al", ""),
    ("ance", ""),
    ("ence", ""),
    ("er", ""),
    ("ic", ""),
    ("able", ""),
    ("ible", ""),
    ("ant", ""),
    ("ement", ""),
    ("ment", ""),
    ("ent", ""),
    ("ion", ""),
    ("ou", ""),
    ("ism", ""),
    ("ate", ""),
    ("iti", ""),
    ("ous", ""),
    ("ive", ""),
    ("ize", ""),
];

/// Replaces `-ise` and its derived forms, after those consonants where it is an ending and not part of the word.
fn american(word: &str) -> String {
    if !word.contains("is") {
        return word.to_owned();
    }
    const ENDINGS: [&str; 7] = ["e", "ed", "es", "er", "ers", "ing", "ation"];
    for ending in ENDINGS {
        let Some(front) = word.strip_suffix(ending).and_then(|front| front.strip_suffix("is"))
        else {
            continue;
        };
        if measure(front) > 0 && front.ends_with(['d', 'g', 'l', 'm', 'n', 'r', 't']) {
            return format!("{front}iz{ending}");
        }
    }
    word.to_owned()
}

/// Porter's step 1a.
fn plural(word: &mut String) {
    let cut = if word.ends_with("sses") || word.ends_with("ies") {
        2
    } else if word.ends_with('s') && !word.ends_with("ss") {
        1
    } else {
        0
    };
    word.truncate(word.len() - cut);
}

/// Porter's step 1b.
fn past_and_gerund(word: &mut String) {
    if let Some(front) = word.strip_suffix("eed") {
        if measure(front) > 0 {
            word.pop();
        }
        return;
    }
    let front = ["ed", "ing"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .filter(|front| has_vowel(front));
    let Some(front) = front else { return };
    word.truncate(front.len());
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if ends_in_double(word) && !word.ends_with(['l', 's', 'z']) {
        word.pop();
    } else if measure(word) == 1 && is_short(word) {
        word.push('e');
    }
}

/// Replaces the longest matching ending if the part before it has at least this measure.
fn replace_ending(word: &mut String, endings: &[(&str, &str)], least: usize) {
    let last = word.as_bytes().last();
    let longest = endings
        .iter()
        // Most endings differ in the last letter, and need no further comparison.
        .filter(|(ending, _)| ending.as_bytes().last() == last)
        .filter_map(|(ending, instead)| Some((word.strip_suffix(ending)?, ending, instead)))
        .min_by_key(|(front, _, _)| front.len());
    let Some((front, ending, instead)) = longest else {
        return;
    };
    if measure(front) >= least && (*ending != "ion" || front.ends_with(['s', 't'])) {
        *word = format!("{front}{instead}");
    }
}

/// Porter's step 5.
fn final_e(word: &mut String) {
    if let Some(front) = word.strip_suffix('e') {
        let measure = measure(front);
        if measure > 1 || measure == 1 && !is_short(front) {
            word.pop();
        }
    }
    if word.ends_with("ll") && measure(word) > 1 {
        word.pop();
    }
}

/// Whether each letter is a vowel; `y` is a vowel after a consonant.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    let mut before = true;
    word.chars().map(move |c| {
        before = matches!(c, 'a' | 'e' | 'i' | 'o' | 'u') || c == 'y' && !before;
        before
    })
}

fn has_vowel(word: &str) -> bool {
    vowels(word).any(|vowel| vowel)
}

/// Porter's *m*: how many times a vowel is followed by a consonant.
fn measure(word: &str) -> usize {
    let mut before = false;
    vowels(word)
        .filter(|&vowel| {
            let turned = before && !vowel;
            before = vowel;
            turned
        })
        .count()
}

fn ends_in_double(word: &str) -> bool {
    let mut last = word.chars().rev();
    let (end, before) = (last.next(), last.next());
    end.is_some() && end == before && vowels(word).last() == Some(false)
}

/// Porter's *\*o*: the word ends in consonant, vowel, consonant, and the last is not `w`, `x` or `y`.
fn is_short(word: &str) -> bool {
    let vowels: Vec<bool> = vowels(word).collect();
    vowels.ends_with(&[false, true, false]) && !word.ends_with(['w', 'x', 'y'])
}
