//! Redaction of every answer. Characters that a terminal would obey or that only a model sees become visible, and names
//! are one line. If telephone numbers are redacted, each becomes `phone-` and ten hexadecimal digits, the same for the
//! same number, so that people can still be distinguished.
//!
//! A text that looks like a number counts as one: 7 digits or more with blanks, dashes, dots, slashes or parentheses
//! between them, unless it is a date. So now and then an amount is left out, too.

use crate::import;
use crate::index::{ChatSummary, Index, StoredMessage};
use crate::model::{Attachment, AttachmentPlace, Body, Message, Participant, Reaction};

/// The fewest digits of a number.
const FEWEST: usize = 7;

/// Redacts numbers, if that is configured.
#[derive(Debug, Clone)]
pub(super) struct Redactor {
    /// `None`: nothing is left out.
    index: Option<Index>,
}

impl Redactor {
    pub(super) fn new(index: &Index, redacts: bool) -> Self {
        Self { index: redacts.then(|| index.clone()) }
    }

    pub(super) const fn is_on(&self) -> bool {
        self.index.is_some()
    }

    /// A text that may contain numbers anywhere.
    pub(super) fn text(&self, text: &mut String) {
        self.replace(text, &|_| true);
    }

    /// Whether a text has characters that people do not see.
    pub(super) fn hides(text: &str) -> bool {
        let mut visible = text.to_owned();
        make_visible(&mut visible);
        visible != text
    }

    /// A name, which is one line, so that it never opens another.
    pub(super) fn name(&self, name: &mut String) {
        if name.contains(is_line_end) {
            *name = name.replace(is_line_end, " ");
        }
        self.text(name);
    }

    /// An id: only unmistakable numbers are redacted, since ids are digits too.
    pub(super) fn id(&self, id: &mut String) {
        self.replace(id, &|number| number.starts_with('+') || number.starts_with("00"));
    }

    /// The id of a message. Signal's ids contain the author's number if no better id is known.
    pub(super) fn message_id(&self, id: &mut String) {
        self.replace(id, &|number| number.starts_with('+'));
    }

    pub(super) fn chat(&self, chat: &mut ChatSummary) {
        self.named(&mut chat.chat.id, &mut chat.chat.name);
    }

    /// An id and a name, which are the same where a network has no ids.
    fn named(&self, id: &mut String, name: &mut String) {
        let is_name = id == name;
        self.name(name);
        if is_name { id.clone_from(name) } else { self.id(id) }
    }

    pub(super) fn participant(&self, participant: &mut Participant) {
        participant.phone.take_if(|_| self.is_on());
        self.named(&mut participant.id, &mut participant.name);
        participant.username.iter_mut().for_each(|name| self.name(name));
    }

    pub(super) fn stored(&self, stored: &mut StoredMessage) {
        self.named(&mut stored.chat, &mut stored.chat_name);
        let Message {
            id,
            timestamp: _,
            sender,
            body,
            reply_to,
            forwarded_from,
            edited: _,
            deleted: _,
            reactions,
            attachments,
            topic,
            expires: _,
        } = &mut stored.message;
        topic.iter_mut().for_each(|topic| self.name(topic));
        self.message_id(id);
        reply_to.iter_mut().for_each(|id| self.message_id(id));
        sender.iter_mut().for_each(|sender| self.participant(sender));
        self.body(body);
        forwarded_from.iter_mut().for_each(|from| self.name(from));
        for Reaction { emoji, count: _, by } in reactions {
            self.text(emoji);
            by.iter_mut().for_each(|name| self.name(name));
        }
        for Attachment { name, media_type, place, transcript, .. } in attachments {
            transcript.iter_mut().for_each(|said| self.text(said));
            // Names of files contain dates and counts.
            if let Some(name) = name {
                *name = name.replace(is_line_end, " ");
                self.id(name);
            }
            media_type.iter_mut().for_each(make_visible);
            if let AttachmentPlace::Missing(Some(why)) = place {
                make_visible(why);
            }
        }
    }

    /// The bytes of a file. In a text, as a contact card is one, numbers are redacted; other files are not changed.
    pub(super) fn bytes(&self, bytes: Vec<u8>, media_type: Option<&str>) -> Vec<u8> {
        let is_text = media_type.is_some_and(|it| it.starts_with("text/"));
        if !self.is_on() || !is_text && std::str::from_utf8(&bytes).is_err() {
            return bytes;
        }
        let mut text = import::decoded(&bytes);
        self.text(&mut text);
        text.into_bytes()
    }

    fn body(&self, body: &mut Body) {
        match body {
            Body::Text(text) | Body::Unknown(text) | Body::Service { action: _, text } => {
                self.text(text);
            }
            Body::Location { name, .. } => name.iter_mut().for_each(|name| self.text(name)),
            Body::Contact { name, phone } => {
                self.name(name);
                if let Some(number) = phone {
                    make_visible(number);
                    // Whatever it looks like.
                    if let Some(index) = &self.index {
                        *number = stand_in(index, number);
                    }
                }
            }
            Body::Poll { question, answers } => {
                self.text(question);
                answers.iter_mut().for_each(|(answer, _)| self.text(answer));
            }
        }
    }

    fn replace(&self, text: &mut String, is_meant: &dyn Fn(&str) -> bool) {
        make_visible(text);
        let Some(index) = &self.index else { return };
        if !text.contains(|c| digit(c).is_some()) {
            return;
        }
        let mut redacted = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, number, after)) = next_number(rest) {
            redacted.push_str(before);
            if is_meant(number) && !is_spared(&redacted, number) {
                redacted.push_str(&stand_in(index, number))
            } else {
                redacted.push_str(number)
            }
            rest = after;
        }
        redacted.push_str(rest);
        *text = redacted;
    }
}

/// Characters that begin another line.
fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A text in which control characters, overrides of direction and invisible characters are shown as �. Line ends and
/// tabs stay, joiners in emoji and in scripts that need them, and the tags of flags.
fn make_visible(text: &mut String) {
    if !text.contains(is_suspect) {
        return;
    }
    let mut visible = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let (mut before, mut in_flag) = (None, false);
    while let Some(c) = chars.next() {
        if c == '\r' && chars.peek() == Some(&'\n') {
            continue;
        }
        let is_tag = matches!(c, '\u{E0020}'..='\u{E007F}');
        in_flag = c == '\u{1F3F4}' || in_flag && is_tag;
        let is_needed = match c {
            '\u{200B}'..='\u{200D}' | '\u{2060}' => joins(before) || joins(chars.peek().copied()),
            _ => is_tag && in_flag,
        };
        visible.push(if is_suspect(c) && !is_needed { '\u{FFFD}' } else { c });
        before = Some(c);
    }
    *text = visible;
}

/// Characters that are shown, unless their neighbours need them.
fn is_suspect(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{200B}'..='\u{200D}' | '\u{202D}' | '\u{202E}' | '\u{2060}'..='\u{2064}'
            | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Whether a joiner beside it has a meaning: emoji, and scripts other than Latin, Greek and Cyrillic.
fn joins(c: Option<char>) -> bool {
    c.is_some_and(|c| c >= '\u{590}' && !matches!(c, '\u{1E00}'..='\u{20CF}' | '\u{E0000}'..))
}

/// Whether a number is a part of something else: of a link (except one that leads to a number), an account (IBAN), or
/// degrees of a map.
fn is_spared(before: &str, number: &str) -> bool {
    let token = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let is_link = token.contains("://")
        && !["wa.me", "whatsapp", "t.me/+"].iter().any(|it| token.contains(it));
    let mut letters = before.chars().rev();
    let is_country = letters.by_ref().take(2).filter(char::is_ascii_uppercase).count() == 2;
    let is_account = is_country && !letters.next().is_some_and(char::is_alphanumeric);
    let is_degrees = number.split_once('.').is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len())
            && rest.len() >= 4
            && (whole.to_owned() + rest).bytes().all(|it| it.is_ascii_digit())
    });
    is_link || is_account || is_degrees
}

fn stand_in(index: &Index, number: &str) -> String {
    let digits: String = number.chars().filter_map(digit).collect();
    let digits = digits.strip_prefix("00").unwrap_or(&digits);
    format!("phone-{}", index.pseudonym(digits))
}

/// The text before the next number, the number, and the text after it.
fn next_number(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    let mut end = 0;
    loop {
        let rest = text.get(from..)?;
        let start = from + rest.find(|c: char| digit(c).is_some() || matches!(c, '+' | '('))?;
        let before = text.get(..start)?;
        // After a date the run continues to its known end, so that many dates are not scanned many times.
        if start >= end {
            end = start + end_of(text.get(start..)?);
        }
        let number = text.get(start..end)?;
        let after = text.get(end..)?;
        let date = date(number);
        if date.is_none() && number.chars().filter_map(digit).count() >= FEWEST {
            return Some((before, number, after));
        }
        from = match (date, end > start) {
            (Some(date), _) => start + date.len(),
            (None, true) => end,
            (None, false) => start + text.get(start..)?.chars().next()?.len_utf8(),
        };
    }
}

/// The byte position at which a possible number ends: after its last digit.
fn end_of(run: &str) -> usize {
    let mut end = 0;
    let mut between = 0;
    for (at, c) in run.char_indices() {
        if digit(c).is_some() {
            end = at + c.len_utf8();
            between = 0;
        } else if is_between(c)
            || (at == 0 && c == '+')
            || (matches!(c, '\n' | '\r') && run.starts_with(['+', '0']))
        {
            between += 1;
            if between > 3 {
                break;
            }
        } else {
            break;
        }
    }
    end
}

/// The characters between the digits of a number.
const fn is_between(c: char) -> bool {
    matches!(
        c,
        ' ' | '\u{A0}' | '\u{202F}' | '\u{2009}' | '-' | '\u{2010}'
            ..='\u{2013}' | '.' | '/' | '(' | ')'
            // Invisible characters, and what makes a key of a digit.
            | '\u{FFFD}' | '\u{FE0F}' | '\u{20E3}' | '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}'
    )
}

/// The ASCII form of a digit of the most common scripts.
fn digit(c: char) -> Option<char> {
    let zero = match c {
        '0'..='9' => return Some(c),
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6F0}'..='\u{6F9}' => 0x6F0,
        '\u{966}'..='\u{96F}' => 0x966,
        '\u{FF10}'..='\u{FF19}' => 0xFF10,
        _ => return None,
    };
    char::from_digit(u32::from(c) - zero, 10)
}

/// The date at the beginning: `2025-01-13`, `13.1.2025`, `1/13/2025`.
fn date(number: &str) -> Option<&str> {
    let date = number.split(' ').next()?;
    let mark = date.chars().find(|c| matches!(c, '-' | '.' | '/'))?;
    let groups: Vec<&str> = date.split(mark).collect();
    let fits = |group: &str, most: u32| group.parse().is_ok_and(|n: u32| (1..=most).contains(&n));
    let is_date = match groups.as_slice() {
        [year, month, day] if year.len() == 4 => {
            is_year(year) && fits(month, 12) && day.len() <= 2 && fits(day, 31)
        }
        [one, other, year] if one.len() <= 2 && other.len() <= 2 => {
            is_year(year) && fits(one, 31) && fits(other, 31)
        }
        _ => false,
    };
    is_date.then_some(date)
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && (text.starts_with("19") || text.starts_with("20"))
}
