//! Why a tool refuses a call, as far as its words say.
//!
//! Words are compared by their beginnings, in lower case, within a sentence: `argument` stands for `Arguments`, too.

use serde_json::Value;

/// One of the first words, and one of the others behind it, so many words later at most. [`BETWEEN`] does not count.
type Said = (&'static str, usize, &'static str);

const LACK: &str = "missing required";
const PART: &str = "argument parameter propert field";
/// Something that the call does not have.
const MISSING: &[Said] = &[(LACK, 6, PART), (PART, 6, LACK)];
/// An argument of the call that the tool does not know, or takes for something else.
const WRONG: &[Said] = &[
    ("unknown unexpected unrecognized unsupported", 1, "argument param key"),
    ("extra", 1, "input"),
    ("additional", 1, "propert"),
    ("not invalid wrong", 1, "type"),
    ("must should expected has type", 1, "string number integer boolean object array list dict"),
];
const BETWEEN: [&str; 8] = ["", "a", "an", "be", "keyword", "of", "to", "valid"];
/// What a server may want besides arguments, as parts of its text.
const ELSEWHERE: &str = "api key|api_key|api-key|apikey|token|credential|password|secret|auth|log in to|login|environment|config";

/// Whether a tool refuses these arguments for their form, and not for what they say, or for something that is not among
/// them. What a type is wrong for has to be named: a text that the tool reads may have types of its own.
pub(super) fn is_of_form(refusal: &str, arguments: &Value) -> bool {
    let lower = refusal.to_lowercase();
    let is_elsewhere = ELSEWHERE.split('|').any(|it| lower.contains(it));
    let says = |table: &[Said]| {
        let mut sentences = lower.split(['.', '\n']);
        sentences.any(|sentence| table.iter().any(|said| is_said(sentence, said)))
    };
    let mut named = refusal.split(|it: char| it.is_whitespace() || "[](){},/".contains(it));
    // A short name may be a word of any sentence, unless it is quoted.
    let is_name = |word: &str| {
        let name = word.trim_matches(|it: char| it.is_ascii_punctuation() && it != '_');
        arguments.get(name).is_some() && (word.len() > name.len() || name.len() > 2)
    };
    !is_elsewhere && (says(MISSING) || says(WRONG) && named.any(is_name))
}

fn is_said(sentence: &str, (first, most, others): &Said) -> bool {
    let is_one = |word: &str, of: &str| of.split(' ').any(|it| word.starts_with(it));
    let words = sentence.split(|it: char| !it.is_alphanumeric());
    let words: Vec<_> = words.filter(|it| !BETWEEN.contains(it)).collect();
    let mut later = words.iter();
    while let Some(word) = later.next() {
        if is_one(word, first) && later.clone().take(*most).any(|it| is_one(it, others)) {
            return true;
        }
    }
    false
}
