//! Texts that people do not see, and texts that give orders to a model.

use std::sync::LazyLock;

use regex::Regex;

use crate::pattern::own_regex;

/// Orders that have no place in the description of a tool. Each is about users, secrets, other tools or earlier
/// instructions; that a tool must be used in a certain way is not among them.
const ORDERS: [&str; 8] = [
    r"(?i)\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|earlier|above|other)\s+(?:instructions|rules|prompts|messages)",
    r"(?i)\b(?:do\s+not|don't|never)\s+(?:tell|mention|inform|reveal|show|notify|disclose)\b[^.]{0,60}\b(?:the|to)\s+(?:the\s+)?user\b",
    r"(?i)\bwithout\s+(?:telling|informing|asking|notifying|mentioning)\b[^.]{0,30}\buser\b",
    r"(?i)<\s*/?\s*(?:important|system|instructions?|hidden|secret)\s*>",
    r"(?i)\b(?:read|send|include|pass|attach|upload)\b[^.]{0,60}(?:~/\.ssh|id_rsa|\.ssh/|\.aws/credentials|/etc/passwd|\bmcp\.json\b)",
    r"(?i)\b(?:reveal|print|repeat|send|include|pass)\b[^.]{0,30}\bsystem\s+prompt\b",
    r"(?i)\b(?:instead\s+of|rather\s+than)\s+(?:using|calling)\s+(?:any|all|every)\s+other\s+tools?\b",
    r"(?i)\bbefore\s+(?:using|calling|running)\s+any\s+(?:other\s+)?tools?\b[^.]{0,60}\b(?:must|always|first)\b",
];

static ANY_ORDER: LazyLock<Regex> = LazyLock::new(|| own_regex(&ORDERS.join("|")));

/// The first order to a model in a text.
pub(super) fn instruction(text: &str) -> Option<&str> {
    Some(ANY_ORDER.find(text)?.as_str())
}

/// The first character that people do not see, and its place, counted from 1.
pub(super) fn hidden(text: &str) -> Option<(char, usize)> {
    let mut characters = text.chars().zip(1..);
    characters.find(|(character, _)| is_hidden(*character))
}

/// Joiners and variation selectors are left out: emoji and some scripts need them.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}'
        | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        // Texts that run in the other direction than they seem to.
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        // Tags, with which whole sentences are hidden.
        | '\u{e0000}'..='\u{e007f}'
    )
}
