//! The messages around a message.

use rusqlite::{Connection, params};

use super::Index;
use super::answer::{ChatKey, StoredMessage};
use super::error::IndexError;
use super::messages::{FoundMessage, PAGE_BYTES, fetch, find, weight};
use crate::query::Invalid;

/// The most messages on each side.
pub const MAX_AROUND: usize = 500;

/// Messages of a chat around one of them, oldest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Around {
    /// The messages before it, the nearest last.
    pub before: Vec<StoredMessage>,
    /// The messages after it, the nearest first.
    pub after: Vec<StoredMessage>,
}

impl Index {
    /// A message with up to `before` messages before it and `after` after it in its chat; `None` if it does not exist.
    /// If messages are very long, there may be fewer.
    ///
    /// # Errors
    /// [`IndexError::Invalid`] for more than [`MAX_AROUND`] on a side; [`IndexError::Unavailable`].
    pub async fn context(
        &self,
        chat: &ChatKey,
        id: &str,
        before: usize,
        after: usize,
    ) -> Result<Option<(StoredMessage, Around)>, IndexError> {
        for (parameter, count) in [("before", before), ("after", after)] {
            if count > MAX_AROUND {
                let reason = format!("{count} is too many: give a number from 0 to {MAX_AROUND}");
                return Err(Invalid::new(parameter, reason).into());
            }
        }
        let (chat, id) = (chat.clone(), id.to_owned());
        self.inner
            .readers
            .read(move |view| {
                let Some(found) = find(view, &chat, &id)? else {
                    return Ok(None);
                };
                let message = fetch(view, found.position.msg)?;
                Ok(Some((message, around(view, &found, before, after)?)))
            })
            .await
    }
}

pub(super) fn around(
    view: &Connection,
    found: &FoundMessage,
    before: usize,
    after: usize,
) -> rusqlite::Result<Around> {
    const BEFORE: &str = "SELECT msg FROM message INDEXED BY message_by_chat \
        WHERE chat = ?1 AND at <= ?2 AND (at < ?2 OR msg < ?3) ORDER BY at DESC, msg DESC LIMIT ?4";
    const AFTER: &str = "SELECT msg FROM message INDEXED BY message_by_chat \
        WHERE chat = ?1 AND at >= ?2 AND (at > ?2 OR msg > ?3) ORDER BY at, msg LIMIT ?4";
    let mut around = Around {
        before: side(view, BEFORE, found, before)?,
        after: side(view, AFTER, found, after)?,
    };
    around.before.reverse();
    Ok(around)
}

/// The nearest first.
fn side(
    view: &Connection,
    sql: &str,
    found: &FoundMessage,
    count: usize,
) -> rusqlite::Result<Vec<StoredMessage>> {
    let limit = i64::try_from(count).unwrap_or(i64::MAX);
    let mut statement = view.prepare_cached(sql)?;
    let position = found.position;
    let mut rows = statement.query(params![found.chat, position.at, position.msg, limit])?;
    let mut messages = Vec::new();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let message = fetch(view, row.get(0)?)?;
        bytes += weight(&message);
        messages.push(message);
        if bytes > PAGE_BYTES {
            break;
        }
    }
    Ok(messages)
}
