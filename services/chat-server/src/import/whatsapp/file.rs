//! Files of messages: named where they were exported, replaced by a word where they were not.

use super::text::{OWN, folded, is_blank, plain};
use super::words::words;
use crate::model::{Attachment, AttachmentKind, AttachmentPlace, Body};

/// A file and the text with it.
pub(super) struct File {
    pub(super) attachment: Attachment,
    pub(super) caption: String,
    /// The content instead of a caption: a contact card.
    pub(super) body: Option<Body>,
}

/// The file of a message. Android writes the caption below it; iOS before it, with a special mark in between.
pub(super) fn read(text: &str, ios: bool) -> Option<File> {
    let (first, below) = text.split_once('\n').unwrap_or((text, ""));
    let own = first.starts_with(OWN);
    let line = first.trim_matches(is_blank);
    if let Some(reference) = exported(line, own).or_else(|| omitted(line, own || ios)) {
        return Some(reference.with(None, plain(below)));
    }
    let (before, tail) = text.trim_end_matches(is_blank).rsplit_once(OWN)?;
    let reference = exported(tail, true).or_else(|| omitted(tail, true))?;
    let before = before.trim_matches(is_blank);
    // "offer.pdf • 3 pages" is the file itself, not a caption.
    match before.split_once(" • ") {
        Some((name, pages)) if !pages.contains('\n') && is_file(name) => {
            Some(reference.with(Some(name), String::new()))
        }
        // A document has its title before it.
        _ if is_title(before, &reference) => Some(reference.with(Some(before), String::new())),
        _ => Some(reference.with(None, plain(before))),
    }
}

/// Whether a text before a file is the file's own name.
fn is_title(before: &str, reference: &FileReference<'_>) -> bool {
    let end = |name: &str| name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    match reference {
        FileReference::Exported(file) => is_file(before) && end(before) == end(file),
        FileReference::Omitted(AttachmentKind::File) => is_file(before),
        FileReference::Omitted(_) => false,
    }
}

/// Where a file is, by the words for it.
enum FileReference<'t> {
    Exported(&'t str),
    Omitted(AttachmentKind),
}

impl FileReference<'_> {
    fn with(self, name: Option<&str>, caption: String) -> File {
        let (kind, name, place) = match self {
            Self::Exported(file) => {
                let name = name.unwrap_or(file).to_owned();
                (kind(file), Some(name), AttachmentPlace::Export(file.to_owned()))
            }
            Self::Omitted(kind) => (kind, name.map(str::to_owned), AttachmentPlace::Missing(None)),
        };
        let card = name
            .as_deref()
            .and_then(|name| name.strip_suffix(".vcf"))
            .filter(|_| caption.is_empty());
        File {
            body: card
                .map(|name| Body::Contact { name: without_number(name).to_owned(), phone: None }),
            attachment: Attachment::new(kind, name, place),
            caption,
        }
    }
}

/// The name of a file that was exported; `own` is whether WhatsApp's mark is before it.
fn exported(line: &str, own: bool) -> Option<FileReference<'_>> {
    let inner = line
        .strip_prefix('<')
        .and_then(|line| line.strip_suffix('>'))
        .filter(|inner| !inner.contains(['<', '>']));
    let (name, known) = if let Some(inner) = inner {
        // iOS: `<attached: NAME>`. Names that it makes are known in any language.
        let (word, name) = inner.split_once(':')?;
        let name = name.trim_matches(is_blank);
        (name, own || is_attached(word) || without_number(name) != name)
    } else if let Some((name, word)) =
        line.strip_suffix('>').and_then(|line| line.rsplit_once(" <"))
    {
        (name, is_attached(word))
    } else {
        let (name, said) = line.strip_suffix(')')?.rsplit_once(" (")?;
        (name, own || is_attached(said) || is_made(name))
    };
    let name = name.trim_matches(is_blank);
    (known && is_file(name)).then_some(FileReference::Exported(name))
}

/// The kind of the file that was left out. Without angle brackets it must be `certain` that these are WhatsApp's words.
fn omitted(line: &str, certain: bool) -> Option<FileReference<'static>> {
    let inner = line.strip_prefix('<').and_then(|line| line.strip_suffix('>'));
    if inner.is_none() && !certain {
        return None;
    }
    let kind = words().omitted.get(&folded(inner.unwrap_or(line)))?;
    Some(FileReference::Omitted(*kind))
}

fn is_attached(word: &str) -> bool {
    words().attached.contains(&folded(word))
}

/// Whether it can be the name of a file, without a folder.
fn is_file(name: &str) -> bool {
    let end = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map(|(_, end)| end);
    let is_end = |end: &str| {
        (1..=10).contains(&end.chars().count()) && end.chars().all(char::is_alphanumeric)
    };
    end.is_some_and(is_end) && !name.contains(['/', '\\', '\n'])
}

/// Whether Android has made the name: `IMG-20231213-WA0001.jpg`.
fn is_made(name: &str) -> bool {
    ["IMG-", "VID-", "PTT-", "AUD-", "STK-", "DOC-"].iter().any(|start| name.starts_with(start))
        && name.contains("-WA")
}

/// `00000042-PHOTO-2023-….jpg` without the number that iOS sets before it.
fn without_number(name: &str) -> &str {
    match name.split_once('-') {
        Some((number, rest))
            if number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            rest
        }
        _ => name,
    }
}

fn kind(name: &str) -> AttachmentKind {
    if without_number(name).starts_with("STICKER-") || name.starts_with("STK-") {
        AttachmentKind::Sticker
    } else {
        AttachmentKind::of_file(name)
    }
}
