//! What follows the head of a message: who says what, and what WhatsApp itself writes in between.

use super::header::is_mark;
use super::words::{
    ATTACHED, DELETED, EDITED, EVENTS, IOS_ATTACHED, KIND_OMITTED, MEDIA_OMITTED, UNSEEN,
};
use crate::import::signal::kind_of;
use crate::model::{Attachment, AttachmentKind, AttachmentPlace, Body};

/// The longest name of a sender, in characters. What is longer is no name.
const MAX_NAME: usize = 100;

/// The mark before what WhatsApp writes by itself.
const OWN: char = '\u{200e}';

/// What a message says.
#[derive(Debug)]
pub(super) struct Said<'t> {
    pub(super) sender: Option<&'t str>,
    pub(super) body: Body,
    pub(super) attachments: Vec<Attachment>,
    pub(super) edited: bool,
    pub(super) deleted: bool,
    /// What tells it apart from other messages: its words, the same whether files were exported or not.
    pub(super) identity: String,
}

/// The sender and the rest; `None` for what WhatsApp itself says.
pub(super) fn split(rest: &str) -> Option<(&str, &str)> {
    let line = rest.lines().next().unwrap_or_default();
    let at = line
        .find(": ")
        .or_else(|| line.trim_end().strip_suffix(':').map(str::len))?;
    let (sender, text) = rest.split_at_checked(at)?;
    let sender = sender
        .trim_matches(|c: char| is_mark(c) || c.is_whitespace())
        .trim_start_matches('~');
    let sender = sender.trim_matches(|c: char| is_mark(c) || c.is_whitespace());
    // A changed subject is quoted, and may have a colon in it.
    let name = !sender.is_empty()
        && sender.chars().count() <= MAX_NAME
        && !sender.contains(['"', '“', '„', '«']);
    let text = text
        .strip_prefix(": ")
        .or_else(|| text.strip_prefix(':'))
        .unwrap_or(text);
    name.then_some((sender, text))
}

/// Reads what follows the head.
pub(super) fn read(rest: &str) -> Said<'_> {
    let Some((sender, text)) = split(rest) else {
        let text = without_marks(rest);
        return Said {
            sender: None,
            identity: text.clone(),
            body: Body::Service {
                action: "notice".to_owned(),
                text,
            },
            attachments: Vec::new(),
            edited: false,
            deleted: false,
        };
    };
    let (text, edited) = without_edited(text);
    let own = text.starts_with(OWN);
    let mut said = Said {
        sender: Some(sender),
        body: Body::Text(String::new()),
        attachments: Vec::new(),
        edited,
        deleted: false,
        identity: String::new(),
    };
    let plain = without_marks(text);
    let folded = plain.trim_end_matches('.').to_lowercase();
    if DELETED.contains(&folded.as_str()) {
        said.deleted = true;
    } else if let Some((attachment, caption)) = attachment(text) {
        said.attachments.push(attachment);
        said.body = Body::Text(caption);
    } else if let Some(body) = place(&plain).or_else(|| poll(&plain)) {
        said.body = body;
    } else if let Some((_, action)) = EVENTS
        .iter()
        .find(|(words, _)| folded == *words || (own && folded.starts_with(words)))
    {
        said.body = Body::Service {
            action: (*action).to_owned(),
            text: plain,
        };
    } else if UNSEEN.contains(&folded.as_str()) {
        said.body = Body::Unknown(plain);
    } else if own && !plain.contains('\n') {
        // Under somebody's name, but not of his: a group's notices on iOS.
        said.body = Body::Service {
            action: "notice".to_owned(),
            text: plain,
        };
    } else {
        said.body = Body::Text(plain);
    }
    said.identity = match &said.body {
        Body::Text(text) if !said.attachments.is_empty() => format!("\u{0}file\n{text}"),
        Body::Text(text) => text.clone(),
        _ => without_marks(text),
    };
    said
}

/// Marks of direction at the ends of lines; those within words stay.
fn without_marks(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.trim_matches(|c: char| is_mark(c)).trim_end());
    lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
}

fn without_edited(text: &str) -> (&str, bool) {
    let end = text.trim_end_matches(|c: char| is_mark(c) || c.is_whitespace());
    let suffix = end.strip_suffix('>').and_then(|end| end.rsplit_once('<'));
    match suffix {
        Some((before, words)) if EDITED.contains(&words.to_lowercase().as_str()) => (
            before.trim_end_matches(|c: char| is_mark(c) || c.is_whitespace()),
            true,
        ),
        _ => (text, false),
    }
}

/// The file of a message and what is written below it.
fn attachment(text: &str) -> Option<(Attachment, String)> {
    let (first, caption) = text.split_once('\n').unwrap_or((text, ""));
    let first = first.trim_matches(|c: char| is_mark(c) || c.is_whitespace());
    let (kind, place, name) = if let Some(name) = exported(first) {
        (
            kind_of(name),
            AttachmentPlace::Export(name.to_owned()),
            Some(name.to_owned()),
        )
    } else {
        (omitted(first)?, AttachmentPlace::Missing(None), None)
    };
    let name = name.or_else(|| document_name(first));
    let attachment = Attachment {
        kind,
        name,
        media_type: None,
        size: None,
        seconds: None,
        place,
    };
    Some((attachment, without_marks(caption)))
}

/// The name of a file that was exported.
fn exported(line: &str) -> Option<&str> {
    let is_file = |name: &&str| name.contains('.') && !name.contains(['/', '\\']);
    if let Some(inner) = line
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'))
    {
        let (word, name) = inner.split_once(':')?;
        let known = IOS_ATTACHED.contains(&word.trim().to_lowercase().as_str());
        return Some(name.trim()).filter(is_file).filter(|_| known);
    }
    if let Some((name, word)) = line
        .strip_suffix('>')
        .and_then(|line| line.rsplit_once(" <"))
    {
        let known = IOS_ATTACHED.contains(&word.trim().to_lowercase().as_str());
        return Some(name.trim()).filter(is_file).filter(|_| known);
    }
    let (name, words) = line.strip_suffix(')')?.rsplit_once(" (")?;
    let known = ATTACHED.contains(&words.to_lowercase().as_str());
    // Names that WhatsApp makes are known in any language.
    let made = ["IMG-", "VID-", "PTT-", "AUD-", "STK-", "DOC-"]
        .iter()
        .any(|start| name.starts_with(start))
        && name.contains("-WA");
    Some(name.trim_matches(is_mark))
        .filter(is_file)
        .filter(|_| known || made)
}

/// What kind of file was left out.
fn omitted(line: &str) -> Option<AttachmentKind> {
    let inner = line
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'))
        .unwrap_or(line)
        .to_lowercase();
    if MEDIA_OMITTED.contains(&inner.as_str()) {
        return Some(AttachmentKind::File);
    }
    let kind = KIND_OMITTED.iter().find(|(words, _)| inner == *words);
    if let Some((_, kind)) = kind {
        return Some(*kind);
    }
    // "offer.pdf • 3 pages document omitted"
    (inner.ends_with("document omitted") && inner.contains('•')).then_some(AttachmentKind::File)
}

fn document_name(line: &str) -> Option<String> {
    let (name, _) = line.split_once(" • ")?;
    Some(name.trim_matches(is_mark).to_owned())
}

/// `location: https://maps.google.com/?q=47.3,8.5`, in any language; a name may stand on a line of its own before it.
fn place(text: &str) -> Option<Body> {
    let (before, after) = text.split_once("https://maps.google.com/?q=")?;
    let (latitude, longitude) = after.trim().split_once(',')?;
    let name = before
        .trim()
        .rsplit_once('\n')
        .map(|(name, _)| name.trim().to_owned());
    Some(Body::Location {
        latitude: latitude
            .parse()
            .ok()
            .filter(|degrees| (-90.0..=90.0).contains(degrees))?,
        longitude: longitude
            .trim()
            .parse()
            .ok()
            .filter(|degrees| (-180.0..=180.0).contains(degrees))?,
        name: name.filter(|name| !name.is_empty()),
    })
}

/// `POLL:`, the question, and lines `OPTION: words (2 votes)`.
fn poll(text: &str) -> Option<Body> {
    let mut lines = text.lines();
    let head = lines.next()?.trim();
    let shouted = head
        .strip_suffix(':')
        .is_some_and(|word| !word.is_empty() && word.chars().all(char::is_uppercase));
    let question = lines.next().filter(|_| shouted)?.trim().to_owned();
    let mut answers = Vec::new();
    for line in lines.map(|line| line.trim_matches(|c: char| is_mark(c) || c.is_whitespace())) {
        if line.is_empty() {
            continue;
        }
        let (word, answer) = line.split_once(": ")?;
        if !word.chars().all(char::is_uppercase) {
            return None;
        }
        let votes = answer
            .strip_suffix(')')
            .and_then(|answer| answer.rsplit_once(" ("));
        let counted = votes.and_then(|(answer, votes)| {
            let votes = votes.split(' ').next()?.parse().ok()?;
            Some((answer.to_owned(), Some(votes)))
        });
        answers.push(counted.unwrap_or_else(|| (answer.to_owned(), None)));
    }
    (!answers.is_empty()).then_some(Body::Poll { question, answers })
}
