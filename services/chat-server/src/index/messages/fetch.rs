//! Reading a message from the tables.

use jiff::Timestamp;
use rusqlite::{Connection, Row};

use crate::index::answer::StoredMessage;
use crate::index::stored::{Detail, participant, timestamp};
use crate::model::Message;

/// The message with this number, which must exist.
pub(in crate::index) fn fetch(view: &Connection, msg: i64) -> rusqlite::Result<StoredMessage> {
    let sql = "SELECT source.id, chat.id, chat.name, seq, message.id, at, edited, deleted, text, detail, \
               person.id, person.name, person.username, person.phone, person.is_me, topic, expires \
               FROM message JOIN source ON source.src = message.src \
               JOIN chat ON chat.chat = message.chat \
               LEFT JOIN person ON person.person = message.person WHERE msg = ?1";
    view.prepare_cached(sql)?.query_row([msg], read)
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let mut detail = Detail::read(row.get_ref(9)?.as_str_or_null()?)?;
    let sender = match row.get::<_, Option<String>>(10)? {
        Some(_) => Some(participant(row, 10)?),
        None => None,
    };
    let expires = row.get::<_, Option<i64>>(16)?.map(timestamp);
    // Its time to disappear may have come before it is deleted.
    let is_gone = expires.is_some_and(|at| at <= Timestamp::now());
    let mut text = row.get(8)?;
    if is_gone {
        detail.forget();
        text = String::new();
    }
    Ok(StoredMessage {
        source: row.get(0)?,
        chat: row.get(1)?,
        chat_name: row.get(2)?,
        sequence: row.get::<_, i64>(3)?.cast_unsigned(),
        message: Message {
            id: row.get(4)?,
            timestamp: timestamp(row.get(5)?),
            sender,
            body: detail.body(text),
            edited: row.get::<_, Option<i64>>(6)?.map(timestamp),
            deleted: is_gone || row.get(7)?,
            reactions: detail.reactions,
            attachments: detail.attachments,
            reply_to: detail.reply_to,
            forwarded_from: detail.forwarded_from,
            topic: row.get(15)?,
            expires,
        },
    })
}

/// About how many bytes a message takes.
pub(in crate::index) fn weight(message: &StoredMessage) -> usize {
    message.message.bytes() + message.chat.len() + message.chat_name.len()
}
