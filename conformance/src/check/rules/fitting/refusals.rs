//! Why a tool refuses a call, as far as its words say.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Something that the call does not have.
const MISSING: &str = r"(?i)\b(?:missing|required)\b[^.\n]{0,40}\b(?:argument|parameter|property|field)s?\b|\b(?:argument|parameter|property|field)s?\b[^.\n]{0,40}\b(?:missing|required)\b";
/// An argument of the call that the tool does not know, or takes for something else.
const WRONG: &str = r"(?i)\b(?:unknown|unexpected|unrecognized|unsupported)\s+(?:keyword\s+)?(?:argument|parameter|key)|\bextra inputs\b|\badditional propert|\b(?:not of|invalid|wrong) type\b|\b(?:must|should|expected|has)(?:\s+to)?(?:\s+be)?(?:\s+an?)?(?:\s+valid|\s+of\s+type)?\s+\W?(?:string|number|integer|boolean|object|array|list|dict)";
/// What a server may want besides arguments.
const ELSEWHERE: &str =
    r"(?i)api[ _-]?key|token|credential|password|secret|\bauth|\blog ?in\b|environment|\bconfig";

#[expect(
    clippy::expect_used,
    reason = "they are written above, and every check of calls runs them"
)]
static EXPRESSIONS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [MISSING, WRONG, ELSEWHERE].map(|it| Regex::new(it).expect("an expression of this file"))
});

/// Whether a tool refuses these arguments for their form, and not for what they say, or for something that is not among
/// them. What a type is wrong for has to be named: a text that the tool reads may have types of its own.
pub(super) fn is_of_form(refusal: &str, arguments: &Value) -> bool {
    let [missing, wrong, elsewhere] = &*EXPRESSIONS;
    let mut words = refusal.split(|it: char| it.is_whitespace() || "[](){},/".contains(it));
    // A short name may be a word of any sentence, unless it is quoted.
    let is_name = |word: &str| {
        let name = word.trim_matches(|it: char| it.is_ascii_punctuation() && it != '_');
        arguments.get(name).is_some() && (word.len() > name.len() || name.len() > 2)
    };
    let is_wrong = wrong.is_match(refusal) && words.any(is_name);
    !elsewhere.is_match(refusal) && (missing.is_match(refusal) || is_wrong)
}
