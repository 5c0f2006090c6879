//! What a message says in its header, so that the last one of a log tells all of a universe but its bodies; and entries
//! as they are in its body.

use async_nats::{HeaderMap, header};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{CommandId, Entry, Head, Meta, NewEntry, Record, Revision, Timestamp, UniverseId};

/// The header that has the card.
const HEADER: &str = "Universe";

/// What an entry takes besides its body: time, command, whether it is keyed, length.
const FRAME: usize = 8 + 16 + 1 + 4;

/// A universe as of a message of its log, and what the message has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Card {
    /// Which of the universes that ever had this id.
    pub(super) uni: i64,
    /// The revision before the message's entries, and after them. The same where it has none.
    pub(super) from: u64,
    pub(super) revision: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<Uuid>,
    pub(super) updated: i64,
    pub(super) created: i64,
    /// Where the log begins.
    pub(super) oldest: u64,
    /// The time of that.
    pub(super) oldest_at: i64,
    /// The message that has the state there: its sequence, or 0 for this message.
    pub(super) base: u64,
    #[serde(default)]
    pub(super) name: String,
    /// This is the end: the universe was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) deleted: bool,
    pub(super) body: Body,
}

/// Where the body of a message is: in it, or in pieces elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Body {
    /// CRC-32 of it.
    pub(super) crc: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pieces: Option<Pieces>,
}

/// A body in pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pieces {
    pub(super) name: String,
    /// The sequence of the first of them.
    pub(super) first: u64,
    pub(super) count: u32,
    /// Their bytes together.
    pub(super) size: u64,
}

/// What the header of a snapshot says.
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

    /// The same universe in a message that follows the one of this sequence and has no entries.
    pub(super) fn following(&self, sequence: u64) -> Self {
        let base = match self.base {
            0 => sequence,
            base => base,
        };
        Self {
            from: self.revision,
            base,
            body: Body::default(),
            ..self.clone()
        }
    }
}

/// A card as the header of a message.
pub(super) fn write<T: Serialize>(card: &T) -> HeaderMap {
    let mut headers = HeaderMap::new();
    // JSON escapes what a header may not have. A card has nothing that cannot be written.
    let text = serde_json::to_string(card).unwrap_or_default();
    headers.insert(HEADER, text);
    headers
}

/// Lets the servers take a message away after so many milliseconds, if it is not to stay: in whole seconds, at least
/// one, and never too early.
pub(super) fn expire(headers: &mut HeaderMap, left: Option<i64>) {
    if let Some(left) = left {
        let seconds = left.max(0) / 1_000 + 1;
        headers.insert(header::NATS_MESSAGE_TTL, format!("{seconds}s"));
    }
}

/// The card in a header; `None` where there is none that can be read.
pub(super) fn read<'de, T: Deserialize<'de>>(headers: &'de HeaderMap) -> Option<T> {
    serde_json::from_str(headers.get(HEADER)?.as_str()).ok()
}

/// Entries as the body of a message.
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

/// The entries in the body of a message, each with whether it is keyed; `None` unless they are those of its card.
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
