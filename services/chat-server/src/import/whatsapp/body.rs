//! The text after the head of a message: sender and content, or a notice of WhatsApp itself.

use super::file::{self, File};
use super::marked;
use super::text::{OWN, folded, is_blank, plain};
use super::words::words;
use crate::model::{Attachment, Body};

/// The longest name of a sender, in characters. A longer text is not a name.
const MAX_NAME: usize = 100;

/// The content of a message.
#[derive(Debug)]
pub(super) struct ParsedBody<'t> {
    pub(super) sender: Option<&'t str>,
    pub(super) body: Body,
    pub(super) attachments: Vec<Attachment>,
    pub(super) edited: bool,
    pub(super) deleted: bool,
    /// The words that identify the message, the same with or without exported files.
    pub(super) identity: String,
}

/// The sender and the rest; `None` for WhatsApp's own notices. A name with a colon and a blank in it is cut there,
/// since the file does not show where it ends.
pub(super) fn split(rest: &str) -> Option<(&str, &str)> {
    let line = rest.lines().next().unwrap_or_default();
    let at = line.find(": ").or_else(|| line.trim_end().strip_suffix(':').map(str::len))?;
    let (sender, text) = rest.split_at_checked(at)?;
    let sender = sender.trim_matches(is_blank);
    // A sender outside the contacts has the name of their own choice, behind a tilde.
    let own_name = sender.trim_start_matches('~').trim_matches(is_blank);
    let sender = if own_name.is_empty() { sender } else { own_name };
    // A changed subject is quoted, and may have a colon in it; the quote is not closed before that.
    let quotes = sender.chars().filter(|c| "\"“”„«»「」".contains(*c));
    let is_name = !sender.is_empty()
        && sender.chars().count() <= MAX_NAME
        && quotes.count().is_multiple_of(2);
    let text = text.strip_prefix(": ").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    is_name.then_some((sender, text))
}

/// Reads the text after the head; `ios` is whether an iPhone has written it.
pub(super) fn read(rest: &str, ios: bool) -> ParsedBody<'_> {
    let Some((sender, text)) = split(rest) else {
        return ParsedBody {
            sender: None,
            body: notice(plain(rest)),
            attachments: Vec::new(),
            edited: false,
            deleted: false,
            identity: plain(rest),
        };
    };
    let (text, edited) = without_edited(text);
    let mut said = ParsedBody {
        sender: Some(sender),
        body: Body::Text(String::new()),
        attachments: Vec::new(),
        edited,
        deleted: false,
        identity: String::new(),
    };
    let own = text.starts_with(OWN);
    let folded = folded(text);
    let is_own_words = |words: &str| folded == words || (own && folded.starts_with(words));
    let known = words();
    let is_deleted_by = |words: &String| folded.starts_with(words.as_str());
    if known.deleted.contains(&folded) || known.deleted_by.iter().any(is_deleted_by) {
        said.deleted = true;
        said.identity = folded;
        return said;
    }
    if let Some(File { attachment, caption, body }) = file::read(text, ios) {
        said.identity = format!("\u{0}file\n{caption}");
        said.attachments.push(attachment);
        said.body = body.unwrap_or(Body::Text(caption));
        return said;
    }
    let is_call = known
        .calls
        .iter()
        .any(|(words, action)| (own || *action == "missed_call") && is_own_words(words));
    let plain = plain(text);
    said.identity = plain.clone();
    said.body = if let Some(body) = marked::place(&plain).or_else(|| marked::poll(&plain)) {
        body
    } else if known.unseen.contains(&folded) {
        Body::Unknown(plain)
    } else if is_call || (own && !plain.contains('\n')) {
        // Notices under a sender's name: calls, and a group's notices on iOS.
        notice(plain)
    } else {
        Body::Text(plain)
    };
    said
}

/// A notice of WhatsApp.
fn notice(text: String) -> Body {
    let folded = folded(&text);
    let mut calls = words().calls.iter();
    let call = calls.find(|(words, _)| folded.starts_with(words.as_str()));
    Body::Service { action: call.map_or("notice", |(_, action)| action).to_owned(), text }
}

fn without_edited(text: &str) -> (&str, bool) {
    let end = text.trim_end_matches(is_blank);
    let suffix = end.strip_suffix('>').and_then(|end| end.rsplit_once('<'));
    match suffix {
        Some((before, said)) if words().edited.contains(&folded(said)) || is_own(before, said) => {
            let before = before.strip_suffix(is_direction).unwrap_or(before);
            let is_between = |c: char| c == OWN || c.is_whitespace();
            (before.trim_end_matches(is_between), true)
        }
        _ => (text, false),
    }
}

/// Whether words in angle brackets after a text are WhatsApp's, in a language without a table: they follow its mark,
/// and are not the name of a file. WhatsApp writes nothing else there.
fn is_own(before: &str, words: &str) -> bool {
    let text = before.trim_end_matches(is_direction);
    text.len() < before.len()
        && !text.trim().is_empty()
        && words.contains(char::is_whitespace)
        && !words.contains([':', '<', '\n'])
        && !self::words().omitted.contains_key(&folded(words))
}

/// The marks that WhatsApp sets before its own words.
const fn is_direction(c: char) -> bool {
    matches!(c, OWN | '\u{200f}')
}
