//! What a message says in its header, so that the last one of a log has all of a universe but its bodies; and entries
//! as they are in its body.
//!
//! So an append is one message, all or nothing on every version of the server, and one question for the last message of
//! a subject returns the head. A batch of several messages would need the server to hold it open, and a table of heads
//! beside the log could differ from it.

use async_nats::{HeaderMap, header};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use universe_store::{
    CommandId, Entry, Head, Meta, NewEntry, Record, Revision, Timestamp, UniverseId,
};
use uuid::Uuid;

/// The name of the header that contains the card.
const HEADER: &str = "Universe";

/// The size of an entry without its body: time, command, whether it is keyed, and length.
const FRAME: usize = 8 + 16 + 1 + 4;

/// The state of a universe after a message of its log, and a description of the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Card {
    /// The number of the universe, since several universes may have had this id in turn.
    pub(super) uni: i64,
    /// The revisions before and after the message's entries. They are equal if the message has no entries.
    pub(super) from: u64,
    pub(super) revision: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<Uuid>,
    pub(super) updated: i64,
    pub(super) created: i64,
    /// The revision at which the log begins.
    pub(super) oldest: u64,
    /// The time of that revision.
    pub(super) oldest_at: i64,
    /// The sequence of the message with the state at that revision, or 0 for this message.
    pub(super) base: u64,
    #[serde(default)]
    pub(super) name: String,
    /// Whether this message is the end of the log, because the universe was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) deleted: bool,
    pub(super) body: Body,
}

/// The location of a message's body: in the message, or in pieces elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Body {
    /// The CRC-32 of the body.
    pub(super) crc: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pieces: Option<Pieces>,
}

/// The pieces of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pieces {
    pub(super) name: String,
    /// The sequence of the first piece.
    pub(super) first: u64,
    pub(super) count: u32,
    /// The size of all pieces together in bytes.
    pub(super) size: u64,
}

/// The content of a snapshot's header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SnapshotCard {
    pub(super) revision: u64,
    pub(super) body: Body,
}

impl Card {
    pub(super) fn head(&self) -> Head {
        Head {
            revision: Revision(self.revision),
            last_command_id: self.command.map(CommandId),
            updated_at: Timestamp::from_millis(self.updated),
        }
    }

    pub(super) fn record(&self, id: &UniverseId) -> Record {
        Record {
            meta: Meta {
                id: id.clone(),
                name: self.name.clone(),
                created_at: Timestamp::from_millis(self.created),
            },
            head: self.head(),
            oldest: Revision(self.oldest),
        }
    }

    /// The card for a message without entries that follows the message of this sequence.
    pub(super) fn following(&self, sequence: u64) -> Self {
        let base = match self.base {
            0 => sequence,
            base => base,
        };
        Self { from: self.revision, base, body: Body::default(), ..self.clone() }
    }
}

/// A card as the header of a message.
pub(super) fn write<T: Serialize>(card: &T) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // JSON escapes characters that a header may not have. Writing a card cannot fail.
    let text = serde_json::to_string(card).unwrap_or_default();
    headers.insert(HEADER, text);
    headers
}

/// Makes the servers remove a message after this number of milliseconds or slightly later (in whole seconds, at least
/// one). `None` keeps it.
pub(super) fn expire(headers: &mut HeaderMap, left: Option<i64>) {
    if let Some(left) = left {
        let seconds = left.max(0) / 1_000 + 1;
        headers.insert(header::NATS_MESSAGE_TTL, format!("{seconds}s"));
    }
}

/// Reads the card in a header. `None` if there is none or it cannot be read.
pub(super) fn read<'de, T: Deserialize<'de>>(headers: &'de HeaderMap) -> Option<T> {
    serde_json::from_str(headers.get(HEADER)?.as_str()).ok()
}

/// Writes entries as the body of a message.
pub(super) fn frame(entries: &[NewEntry]) -> Bytes {
    let size = entries.iter().map(|entry| FRAME + entry.body.len()).sum();
    let mut bytes = BytesMut::with_capacity(size);
    for entry in entries {
        bytes.put_i64_le(entry.at.as_millis());
        bytes.put_slice(entry.command_id.0.as_bytes());
        bytes.put_u8(u8::from(entry.keyed));
        // No body is larger than `MAX_WRITE`.
        bytes.put_u32_le(u32::try_from(entry.body.len()).unwrap_or(u32::MAX));
        bytes.put_slice(&entry.body);
    }
    bytes.freeze()
}

/// Reads the entries in the body of a message, each with whether it is keyed. `None` if they do not match the card.
pub(super) fn unframe(card: &Card, mut bytes: Bytes) -> Option<Vec<(Entry, bool)>> {
    let mut entries = Vec::new();
    let mut revision = Revision(card.from);
    while bytes.has_remaining() {
        if bytes.remaining() < FRAME {
            return None;
        }
        revision = revision.next();
        let at = Timestamp::from_millis(bytes.get_i64_le());
        let mut command = [0; 16];
        bytes.copy_to_slice(&mut command);
        let keyed = bytes.get_u8() != 0;
        let length = usize::try_from(bytes.get_u32_le()).ok()?;
        if bytes.remaining() < length {
            return None;
        }
        let entry = Entry {
            revision,
            at,
            command_id: CommandId(Uuid::from_bytes(command)),
            body: bytes.split_to(length),
        };
        entries.push((entry, keyed));
    }
    (revision.0 == card.revision).then_some(entries)
}
