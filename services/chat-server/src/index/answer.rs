//! Queries to the index and their results.

use clap::ValueEnum;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

pub use super::cursor::{Cursor, Sequence};
use crate::model::{AttachmentKind, Chat, Message};
use crate::query::{self, DEFAULT_LIMIT, Invalid};
use crate::source::Report;

/// A message and where it is.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// The id of its source.
    pub source: String,
    /// The id of its chat.
    pub chat: String,
    /// The name of its chat.
    pub chat_name: String,
    /// Its number within the source.
    pub sequence: Sequence,
    /// The message. Its times are kept to the microsecond, and its sender is shown as last known.
    pub message: Message,
}

/// A chat of a source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChatKey {
    /// The id of the source.
    pub source: String,
    /// The id of the chat.
    pub id: String,
}

/// The kind of a message. One with words and a picture is both. Callers may ask for all but the skipped ones.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, JsonSchema, ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "each is what it is called, and a call is a service message, too")]
pub enum Kind {
    #[serde(skip)]
    #[value(skip)]
    Text,
    Image,
    Video,
    Audio,
    Sticker,
    File,
    Location,
    Contact,
    Poll,
    #[serde(skip)]
    #[value(skip)]
    Service,
    #[serde(skip)]
    #[value(skip)]
    Unknown,
    Call,
    Link,
}

/// Which messages, newest first. All that is given must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageQuery {
    /// The source; all if `None`.
    pub source: Option<String>,
    /// The chats; all if `None`, none if empty.
    pub chats: Option<Vec<ChatKey>>,
    /// Not before this.
    pub since: Option<Timestamp>,
    /// Before this.
    pub before: Option<Timestamp>,
    /// A part of the sender's name or username, a telephone number, or `me`; neither case nor diacritics count.
    pub sender: Option<String>,
    /// What the message says, as for [`search`](super::Index::search), or inside its words.
    pub search: Option<String>,
    /// Any of these kinds; all if empty.
    pub kinds: Vec<Kind>,
    /// A part of the name of the topic of a forum.
    pub topic: Option<String>,
    /// How many: 1 to [`MAX_LIMIT`](query::MAX_LIMIT); [`DEFAULT_LIMIT`] by default.
    pub limit: usize,
    /// How many of the first, or of those after the cursor, to pass over.
    pub offset: usize,
    /// The oldest first, not the newest.
    pub oldest: bool,
    /// Where to continue: the end of a page, or the first message that a lagging follower missed. In the latter case
    /// messages are returned in the order of their sequence numbers.
    pub cursor: Option<Cursor>,
}

impl Default for MessageQuery {
    fn default() -> Self {
        Self {
            source: None,
            chats: None,
            since: None,
            before: None,
            sender: None,
            search: None,
            kinds: Vec::new(),
            topic: None,
            limit: DEFAULT_LIMIT,
            offset: 0,
            oldest: false,
            cursor: None,
        }
    }
}

impl MessageQuery {
    /// # Errors
    /// [`Invalid`] if the limit is out of bounds, or `since` is not before `before`.
    pub fn check(&self) -> Result<(), Invalid> {
        query::limit(self.limit)?;
        query::range(self.since, self.before)
    }
}

/// Some messages.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// The messages, in order.
    pub messages: Vec<StoredMessage>,
    /// How many of the first have what was looked for as whole words or their beginnings; the others have it inside a
    /// word. Only a search by words distinguishes them.
    pub whole: usize,
    /// Where the next page begins, if there is one. Messages that arrive in the meantime do not move it.
    pub next: Option<Cursor>,
}

/// A chat and its activity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatSummary {
    /// The id of its source.
    pub source: String,
    /// The chat.
    pub chat: Chat,
    /// How many people have written in it.
    pub writers: u32,
    /// How many messages it has.
    pub messages: u64,
    /// When the first was sent.
    pub first: Option<Timestamp>,
    /// When the last was sent.
    pub last: Option<Timestamp>,
    /// What its source belongs to, as in [`SourceSummary::owner`].
    pub owner: Option<String>,
}

impl ChatSummary {
    /// Its source and its id.
    pub fn key(&self) -> ChatKey {
        ChatKey { source: self.source.clone(), id: self.chat.id.clone() }
    }
}

/// A source and its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSummary {
    /// Its id.
    pub id: String,
    /// How many chats it has.
    pub chats: u64,
    /// How many messages it has, which is the sequence number of the last.
    pub messages: u64,
    /// The mark of the last batch.
    pub mark: Option<String>,
    /// What is known about it as a whole.
    pub report: Report,
    /// What its rows belong to: a kind of source and its path. `None` in an index that knows none yet.
    pub owner: Option<String>,
    /// How many of its chats are hidden: copies of chats that a list leaves out.
    pub hidden: u64,
    /// How many are hidden because the reading that brought them in has not ended: they may be such copies.
    pub unchecked: u64,
    /// When its oldest message was sent.
    pub oldest: Option<Timestamp>,
    /// When its newest message was sent.
    pub newest: Option<Timestamp>,
}

impl Kind {
    /// Its bit in the table: by its place among the kinds, which never changes.
    pub(super) const fn bit(self) -> i64 {
        1 << self as u8
    }
}

impl From<AttachmentKind> for Kind {
    fn from(kind: AttachmentKind) -> Self {
        match kind {
            AttachmentKind::Image => Self::Image,
            AttachmentKind::Video => Self::Video,
            AttachmentKind::Audio => Self::Audio,
            AttachmentKind::Sticker => Self::Sticker,
            AttachmentKind::File => Self::File,
        }
    }
}
