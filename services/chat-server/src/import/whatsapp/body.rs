//! The text after the head of a message: sender and content, or a notice of WhatsApp itself.

use std::collections::BTreeSet;

use super::file::{self, File};
use super::marked;
use super::text::{OWN, folded, is_blank, is_mark, plain};
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
        && quotes.count().is_multiple_of(2)
        && !is_notice(sender);
    let text = text.strip_prefix(": ").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    is_name.then_some((sender, text))
}

/// Whether what stands before a colon is the beginning of a notice, and not a name: it has words of the app, or words
/// after a telephone number.
fn is_notice(sender: &str) -> bool {
    let rest = sender.trim_start_matches(|c: char| {
        c.is_ascii_digit() || is_blank(c) || "+-()\u{2010}\u{2011}".contains(c)
    });
    let number = sender.len() - rest.len();
    sender.starts_with(['+', '\u{202a}']) && number > 8 && !rest.is_empty() || has_own_words(sender)
}

/// Whether a line has words of the app's notices.
fn has_own_words(line: &str) -> bool {
    let line = format!(" {}", line.to_lowercase());
    words().notices.iter().any(|words| line.contains(words.as_str()))
}

/// What is known about the file of a message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writer<'c> {
    /// Whether an iPhone has written it.
    pub(super) ios: bool,
    /// Whether the words that mark an edited message are known in its language.
    pub(super) knows_edited: bool,
    /// What stands before a colon and is not a name.
    pub(super) notices: &'c BTreeSet<String>,
    /// The name of the group, if it is one: iPhones write notices under it, and editors lose the mark before them.
    pub(super) group: Option<&'c str>,
}

/// Reads the text after the head.
pub(super) fn read<'t>(rest: &'t str, by: Writer<'_>) -> ParsedBody<'t> {
    let ios = by.ios;
    let parts = split(rest).filter(|(sender, _)| !by.notices.contains(*sender));
    let Some((sender, text)) = parts else {
        return ParsedBody {
            sender: None,
            body: notice(plain(rest)),
            attachments: Vec::new(),
            edited: false,
            deleted: false,
            identity: NOTICE.to_owned(),
        };
    };
    let (text, edited) = without_edited(text, by);
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
        said.identity = "\u{0}deleted".to_owned();
        return said;
    }
    if let Some(File { attachment, caption, body }) = file::read(text, ios) {
        // The same with or without the file, and in any language.
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
    said.body = if let Some(body) = marked::place(&plain).or_else(|| marked::poll(&plain)) {
        body
    } else if known.unseen.contains(&folded) {
        Body::Unknown(plain)
    } else if is_call
        || (own && !plain.contains('\n'))
        || (by.group == Some(sender) && has_own_words(&plain))
    {
        // Notices under a sender's name: calls, and a group's notices on iOS.
        notice(plain)
    } else {
        Body::Text(plain)
    };
    said.identity = identity(&said.body);
    said
}

/// The identity of all notices: what they say is in the language of the telephone.
const NOTICE: &str = "\u{0}notice";

/// What identifies a message, in whatever language the telephone has written it.
fn identity(body: &Body) -> String {
    match body {
        Body::Text(text) => text.clone(),
        Body::Location { latitude, longitude, name } => {
            let name = name.as_deref().unwrap_or_default();
            format!("\u{0}place\n{latitude:.4},{longitude:.4}\n{name}")
        }
        Body::Poll { question, answers } => {
            let answers: Vec<&str> = answers.iter().map(|(answer, _)| answer.as_str()).collect();
            format!("\u{0}poll\n{question}\n{}", answers.join("\n"))
        }
        Body::Service { .. } => NOTICE.to_owned(),
        Body::Contact { name, .. } => format!("\u{0}contact\n{name}"),
        Body::Unknown(_) => "\u{0}unseen".to_owned(),
    }
}

/// A notice of WhatsApp.
fn notice(text: String) -> Body {
    let folded = folded(&text);
    let mut calls = words().calls.iter();
    let call = calls.find(|(words, _)| folded.starts_with(words.as_str()));
    Body::Service { action: call.map_or("notice", |(_, action)| action).to_owned(), text }
}

fn without_edited<'t>(text: &'t str, by: Writer<'_>) -> (&'t str, bool) {
    let end = text.trim_end_matches(is_blank);
    let suffix = end.strip_suffix('>').and_then(|end| end.rsplit_once('<'));
    match suffix {
        Some((before, said))
            if words().edited.contains(&folded(said))
                || is_own(before, said)
                || !by.knows_edited && looks_edited(before, said) =>
        {
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

/// The same without its mark, as Android writes them: a short sentence and nothing else.
fn looks_edited(before: &str, words: &str) -> bool {
    let letters =
        |c: char| c.is_alphabetic() || c.is_whitespace() || "'’-.".contains(c) || is_mark(c);
    let begins = words.chars().next().is_some_and(|c| !c.is_lowercase() && c.is_alphabetic());
    // Scripts without blanks write it as one word.
    let is_sentence = words.contains(char::is_whitespace) || !words.contains(char::is_lowercase);
    begins
        && is_sentence
        && before.ends_with(char::is_whitespace)
        && !before.trim().is_empty()
        && (6..=80).contains(&words.len())
        && words.chars().all(|c| letters(c) || !c.is_ascii())
        && !self::words().omitted.contains_key(&folded(words))
}

/// The marks that WhatsApp sets before its own words.
const fn is_direction(c: char) -> bool {
    matches!(c, OWN | '\u{200f}')
}
