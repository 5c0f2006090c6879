//! Mentions of people: Signal writes a placeholder in the text, and beside it whom it stands for.

/// A mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// Where it begins, in units of UTF-16.
    pub(crate) start: u64,
    /// How many units it takes.
    pub(crate) length: u64,
    /// Who it is.
    pub(crate) name: String,
}

/// The text with `@name` in place of each mention.
pub(crate) fn with_mentions(text: &str, mentions: &[Mention]) -> String {
    let mut with_names = String::with_capacity(text.len());
    let (mut at, mut until) = (0, 0);
    for c in text.chars() {
        if let Some(mention) = mentions.iter().find(|mention| mention.start == at && at >= until) {
            with_names.push('@');
            with_names.push_str(&mention.name);
            until = at + mention.length;
        }
        if at >= until {
            with_names.push(c);
        }
        at += c.len_utf16() as u64;
    }
    with_names
}
