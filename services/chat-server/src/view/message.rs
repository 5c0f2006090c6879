//! A message in an answer.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::{content, local, media_type, uri};
use crate::index::{StoredMessage, is_call};
use crate::model::{self, AttachmentKind, AttachmentPlace, Body, Participant, Reaction};

/// The indentation of all lines of a message except the first, so that none looks like another message.
const INDENT: &str = "    ";

/// A message. [`compact`](super::compact) gives it its shape.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Its id within its chat.
    pub id: String,
    /// The id of its chat.
    pub chat_id: String,
    /// The name of its chat.
    #[serde(skip)]
    pub chat: String,
    /// The id of its source.
    #[serde(skip)]
    pub source: String,
    /// Who sent it. For a service message, and for a deleted account, the id is empty and the name explains it in
    /// parentheses.
    #[serde(skip)]
    pub sender: Participant,
    /// Its content. Anything but words begins with `[Image]`, `[Video]`, `[Audio]`, `[File] name`, `[Sticker]`,
    /// `[Location]`, `[Contact]`, `[Poll]` or `[Deleted]`.
    pub content: String,
    /// When it was sent, in the time zone of its source with the offset from UTC (RFC 3339).
    pub timestamp: String,
    /// The id of the message that it answers.
    pub reply_to: Option<String>,
    /// The topic of the forum.
    pub topic: Option<String>,
    /// service for service messages of the network, call for calls; absent for messages of people.
    pub kind: Option<&'static str>,
    /// Who wrote it first, if it was passed on.
    pub forwarded_from: Option<String>,
    /// Whether it was edited.
    pub edited: bool,
    /// When it was edited last.
    pub edited_at: Option<String>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// How people reacted.
    pub reactions: Vec<Reaction>,
    /// Files that belong to it.
    pub attachments: Vec<Attachment>,
    /// Its number within the source, in the order in which messages came in.
    pub sequence: u64,
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attachment {
    /// image, video, audio, sticker or file.
    pub kind: AttachmentKind,
    /// Its name.
    pub name: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// How long it plays, in seconds.
    pub seconds: Option<u32>,
    /// Why its bytes are not available.
    pub missing: Option<String>,
    /// The resource with its bytes; absent where they are not available.
    pub uri: Option<String>,
}

impl Message {
    /// The answer for a message, with times in this zone.
    pub fn new(stored: &StoredMessage, zone: &TimeZone) -> Self {
        let message = &stored.message;
        let attachments = message.attachments.iter().enumerate();
        Self {
            id: message.id.clone(),
            chat_id: stored.chat.clone(),
            chat: stored.chat_name.clone(),
            source: stored.source.clone(),
            sender: sender(message),
            content: content(message),
            timestamp: local(message.timestamp, zone),
            reply_to: message.reply_to.clone(),
            topic: message.topic.clone(),
            kind: match &message.body {
                Body::Service { action, .. } if is_call(action) => Some("call"),
                Body::Service { .. } => Some("service"),
                _ => None,
            },
            forwarded_from: message.forwarded_from.clone(),
            edited: message.edited.is_some(),
            // WhatsApp does not say when: there it is the time of the message itself.
            edited_at: message
                .edited
                .filter(|at| *at != message.timestamp)
                .map(|at| local(at, zone)),
            deleted: message.deleted,
            reactions: message.reactions.clone(),
            attachments: attachments
                .map(|(n, attachment)| Attachment::of(attachment, stored, n))
                .collect(),
            sequence: stored.sequence,
        }
    }

    /// With the chat after the sender's name, for lines that are of several chats.
    #[must_use]
    pub fn among_chats(mut self) -> Self {
        self.sender.name = format!("{} ({})", self.sender.name, self.chat);
        self
    }

    /// As a line of text, `[timestamp] sender: content`; further lines of the content are indented.
    pub fn line(&self) -> String {
        let is_break = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        let clean = |c: char| if is_break(c) { ' ' } else { c };
        let sender: String = self.sender.name.chars().map(clean).collect();
        let said: Vec<String> =
            self.content.lines().map(|line| line.chars().map(clean).collect()).collect();
        let said = said.join(&format!("\n{INDENT}"));
        format!("[{}] {sender}: {said}", self.timestamp)
    }
}

fn sender(message: &model::Message) -> Participant {
    let nobody = |name: &str| Participant { name: name.to_owned(), ..Participant::default() };
    match (&message.sender, &message.body) {
        (Some(sender), _) => sender.clone(),
        (None, Body::Service { .. }) => nobody("(service)"),
        (None, _) => nobody("(deleted account)"),
    }
}

impl Attachment {
    fn of(attachment: &model::Attachment, stored: &StoredMessage, n: usize) -> Self {
        let is_here = matches!(attachment.place, AttachmentPlace::Export(_));
        let uri = || uri::attachment(&stored.source, &stored.chat, &stored.message.id, n);
        Self {
            kind: attachment.kind,
            name: attachment.name.clone(),
            media_type: media_type(attachment).map(str::to_owned),
            size: attachment.size,
            seconds: attachment.seconds,
            missing: match &attachment.place {
                AttachmentPlace::Missing(why) => why.clone(),
                _ => None,
            },
            uri: is_here.then(uri),
        }
    }
}
