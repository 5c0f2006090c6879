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

/// The text with `@name` in place of each mention, in whatever order they are given.
pub(crate) fn with_mentions(text: &str, mut mentions: Vec<Mention>) -> String {
    mentions.sort_by_key(|mention| mention.start);
    let mut mentions = mentions.into_iter().peekable();
    let mut with_names = String::with_capacity(text.len());
    let (mut at, mut until) = (0, 0_u64);
    for c in text.chars() {
        while let Some(mention) = mentions.next_if(|mention| mention.start <= at) {
            if mention.start == at && at >= until {
                with_names.push('@');
                with_names.push_str(&mention.name);
                until = at.saturating_add(mention.length);
            }
        }
        if at >= until {
            with_names.push(c);
        }
        at += c.len_utf16() as u64;
    }
    with_names
}
