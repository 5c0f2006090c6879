//! Answers about chats and messages, as types that become JSON: the same for tools, notifications and the command line.
//! What is absent becomes null here, and [`compact::answer`] leaves it out.

pub mod compact;
mod content;
mod media_type;
mod message;
pub mod uri;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::import::DayOrder;
use crate::index::{Identity, SenderCount};

pub use content::content;
pub use media_type::media_type;
pub use message::{Attachment, Message};

/// A time in a zone, with its offset from UTC (RFC 3339).
pub fn local(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Its id, to be given as `source`.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Whether it is connected.
    pub is_connected: bool,
    /// What to do if it is not connected, or what it is doing.
    pub status: Option<String>,
    /// Why nothing of it is served; absent if it is served.
    pub not_served: Option<String>,
    /// How many entries of its lists of chats match none.
    #[serde(skip_serializing_if = "is_zero")]
    pub lists_matching_nothing: u64,
    /// When its newest message was sent.
    pub newest: Option<String>,
    /// When it was read last, if it is an export.
    pub read_at: Option<String>,
    /// Its files that end too early or are damaged, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// How many chats its lists leave out, and copies of these.
    #[serde(skip_serializing_if = "is_zero")]
    pub denied: u64,
    /// The languages of the telephones that wrote it, as far as the names of its files show them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub phone_languages: Vec<String>,
    /// How many entries of the export could not be read.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Chats whose dates can be read in two ways, the first of them. `chat-server day-order` settles it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub date_doubts: Vec<DoubtfulChat>,
    /// How many further ones there are; list_chats shows each.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_date_doubts: u64,
    /// Duplicate chats, in words: their messages count twice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub twice: Vec<String>,
    /// Whether new messages are sent as they arrive, to subscribers of messages://ID/*.
    pub streams: bool,
    /// The time zone of its times.
    pub time_zone: String,
    /// How many chats are known.
    pub chats: u64,
    /// How many messages are known.
    pub messages: u64,
}

/// A chat whose dates can be read in two ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DoubtfulChat {
    /// The chat.
    pub chat: String,
    /// How its dates are read.
    #[serde(flatten)]
    pub doubt: Doubt,
}

/// How ambiguous dates are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// How its dates are read.
    pub read_as: DayOrder,
    /// The other way in which they could be read.
    pub or_perhaps: DayOrder,
    /// likely or guess.
    pub confidence: String,
    /// The evidence for it.
    pub because: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chat {
    /// Its id within its source.
    pub id: String,
    /// Its name.
    pub name: String,
    /// direct, group, channel or unknown.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many people, as `counted` defines.
    pub participant_count: u32,
    /// members, if the source reports their number; or writers, the people who wrote the stored messages.
    pub counted: &'static str,
    /// Its source.
    pub source: String,
    /// How many messages are known.
    pub message_count: u64,
    /// When the first of them was sent.
    pub first_activity: Option<String>,
    /// When the last of them was sent.
    pub last_activity: Option<String>,
    /// Who sent the last message that is not a service message; for the first 50 chats.
    pub last_sender: Option<String>,
    /// How it begins.
    pub last_message: Option<String>,
    /// Its dates can be read in two ways.
    pub date_doubt: Option<Doubt>,
    /// The resource with its messages.
    pub uri: String,
}

/// Chats, those with the latest activity first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chats {
    /// The warning about names and messages.
    pub about: Option<&'static str>,
    /// The chats.
    pub chats: Vec<Chat>,
    /// How many match in total.
    pub total: u64,
    /// What is not complete, and what to do.
    pub note: Option<String>,
}

/// Some messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Messages {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// Give this as `cursor` for the messages that follow; absent if there are none.
    pub next_cursor: Option<String>,
    /// What is not complete, and what to do.
    pub note: Option<String>,
}

/// A message or a reaction that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// Always true.
    pub sent: bool,
    /// The source.
    pub source: String,
    /// The name of the chat.
    pub chat: String,
    /// The id of the message, or of the one that was reacted to; absent if the network has not given one.
    pub message_id: Option<String>,
    /// Which recipients it did not reach, or that it is not stored.
    pub note: Option<String>,
}

/// A message that was found, and the messages around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: Message,
    /// The part with the first matches, **marked**; absent if a telephone number was redacted in it.
    pub snippet: Option<String>,
    /// Whether it was found inside a word only.
    pub inside_word: bool,
    /// The messages before it, oldest first.
    pub before: Vec<Message>,
    /// The messages after it, oldest first.
    pub after: Vec<Message>,
}

/// What was found: by whole words first, then inside words, each newest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Hits {
    /// The hits.
    pub hits: Vec<Hit>,
    /// Give this as `cursor` for the hits that follow; absent if there are none.
    pub next_cursor: Option<String>,
    /// What is not complete, or what to try if nothing was found.
    pub note: Option<String>,
}

/// A message and the messages around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Around {
    /// The messages before it, oldest first.
    pub before: Vec<Message>,
    /// The message.
    pub message: Message,
    /// The messages after it, oldest first.
    pub after: Vec<Message>,
    /// What is not complete.
    pub note: Option<String>,
}

/// How many messages, by whom, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Statistics {
    /// How many in all.
    pub messages: u64,
    /// When the first was sent.
    pub first: Option<String>,
    /// When the last was sent.
    pub last: Option<String>,
    /// The people who wrote most.
    pub senders: Vec<SenderCount>,
    /// How many messages all others wrote.
    pub other_senders: u64,
    /// How many have no sender: service messages, and deleted accounts.
    pub without_sender: u64,
    /// The days with the most messages, in the zone below.
    pub busiest_days: Vec<DayCount>,
    /// Days on which there was any message, if they are at most 31.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<DayCount>,
    /// How many in each month, such as 2025-01, if there are more days.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub months: BTreeMap<String, u64>,
    /// How many in each year, likewise.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub years: BTreeMap<i16, u64>,
    /// How many in each hour of the day, from 0 to 23.
    pub hours: Vec<u64>,
    /// How many on each day of the week, from Monday.
    pub weekdays: Vec<u64>,
    /// The zone of days, hours and weekdays.
    pub time_zone: String,
    /// What is not complete.
    pub note: Option<String>,
}

/// How many messages were written on a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayCount {
    /// The day, such as 2025-01-13.
    pub date: String,
    /// How many messages.
    pub messages: u64,
}

/// People, those with the most messages first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct People {
    /// The warning about names.
    pub about: Option<&'static str>,
    /// The people.
    pub people: Vec<Person>,
    /// What is not complete.
    pub note: Option<String>,
}

/// A person, in one source or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Person {
    /// The name to show.
    pub name: String,
    /// Whether it is the owner of the accounts.
    pub is_me: bool,
    /// How many messages in all.
    pub messages: u64,
    /// When the last one was sent.
    pub last_message: Option<String>,
    /// The person's identity in each source.
    pub identities: Vec<Identity>,
}
