//! Messages that arrive, arrive again, are edited, are deleted, or get reactions.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::Keeper;
use crate::index::fold::each_word;
use crate::index::stored::{self, Detail, micros, searched};
use crate::index::vocabulary::KnownWords;
use crate::model::Message;

/// What is known about a message.
pub(super) struct KnownMessage {
    msg: i64,
    person: Option<i64>,
    edited: Option<i64>,
    deleted: bool,
    text: String,
    detail: Option<String>,
    names: Option<String>,
}

/// What happens to the known reactions when a message arrives again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reactions {
    /// The message has its current reactions, which replace the known ones.
    Replaced,
    /// The message has no reactions, and the known ones stay.
    Kept,
}

impl Keeper<'_> {
    /// A message, if it is known.
    pub(super) fn known(&mut self, chat: &str, id: &str) -> rusqlite::Result<Option<KnownMessage>> {
        match self.find_chat(chat)? {
            Some(chat) => self.find(chat, id),
            None => Ok(None),
        }
    }

    fn find(&self, chat: i64, id: &str) -> rusqlite::Result<Option<KnownMessage>> {
        let sql = "SELECT msg, person, edited, deleted, text, detail, names FROM message \
                   WHERE chat = ?1 AND id = ?2";
        self.statement(sql)?.query_row(params![chat, id], known).optional()
    }

    /// A message that arrives for the first time, or again, and then replaces its older version. An older export
    /// restores neither a deleted message nor an older version.
    pub(super) fn message(
        &mut self,
        chat: i64,
        message: &Message,
        reactions: Reactions,
    ) -> rusqlite::Result<()> {
        let person = match &message.sender {
            Some(sender) => Some(self.person(sender)?),
            None => None,
        };
        let deleted = message.deleted || message.expires.is_some_and(|at| at <= Timestamp::now());
        let mut detail = Detail::of(message);
        let mut text = stored::words(&message.body);
        if deleted {
            detail.forget();
            text.clear();
        }
        let kinds = if deleted { 0 } else { stored::kinds(&text, &detail) };
        let at = micros(message.timestamp);
        let edited = message.edited.map(micros);
        let expires = message.expires.map(micros);
        let write = |sql: &str, detail: &Detail, names: &Option<String>| {
            self.statement(sql)?.execute(params![
                self.src,
                self.last + 1,
                chat,
                message.id,
                at,
                person,
                kinds,
                edited,
                deleted,
                text,
                detail.write()?,
                message.topic,
                expires,
                names,
            ])
        };
        // Most messages are new, so an insert is tried before the known message is searched for.
        let sql = "INSERT INTO message \
                   (src, seq, chat, id, at, person, kinds, edited, deleted, text, detail, topic, expires, names) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
                   ON CONFLICT (chat, id) DO NOTHING";
        let names = stored::names(&detail.attachments);
        if write(sql, &detail, &names)? == 1 {
            self.last += 1;
            *self.news.entry(chat).or_default() += 1;
            self.credit(chat, person, 1);
            let msg = self.connection.last_insert_rowid();
            return self.learn(msg, &searched(&text, names.as_deref()));
        }
        let Some(known) = self.find(chat, &message.id)? else {
            return Ok(());
        };
        if known.deleted || known.edited > edited {
            return Ok(());
        }
        let before = Detail::read(known.detail.as_deref())?;
        detail.keep_transcripts(&before.attachments);
        let names = stored::names(&detail.attachments);
        if reactions == Reactions::Kept {
            detail.reactions = before.reactions;
        }
        let sql = "UPDATE message SET at = ?5, person = ?6, kinds = ?7, edited = ?8, deleted = ?9, \
                   text = ?10, detail = ?11, topic = coalesce(?12, topic), expires = coalesce(?13, expires), \
                   names = ?14 WHERE chat = ?3 AND id = ?4";
        write(sql, &detail, &names)?;
        if person != known.person {
            self.credit(chat, known.person, -1);
            self.credit(chat, person, 1);
        }
        self.relearn(&known, &searched(&text, names.as_deref()))
    }

    /// The newest version counts, in whatever order edits arrive.
    pub(super) fn edit(&self, known: &KnownMessage, text: &str, at: i64) -> rusqlite::Result<()> {
        if known.deleted || known.edited.is_some_and(|edited| edited > at) {
            return Ok(());
        }
        let mut detail = Detail::read(known.detail.as_deref())?;
        detail.reword();
        let sql =
            "UPDATE message SET text = ?2, edited = ?3, kinds = ?4, detail = ?5 WHERE msg = ?1";
        self.statement(sql)?.execute(params![
            known.msg,
            text,
            at,
            stored::kinds(text, &detail),
            detail.write()?
        ])?;
        self.relearn(known, &searched(text, known.names.as_deref()))
    }

    /// Deletes messages whose time to disappear has come.
    pub(super) fn expire(&self) -> rusqlite::Result<()> {
        let sql = "SELECT msg, person, edited, deleted, text, detail, names FROM message \
                   WHERE expires <= ?1 AND expires IS NOT NULL AND deleted = 0 LIMIT 1000";
        let mut statement = self.statement(sql)?;
        let due = statement.query_map([micros(Timestamp::now())], known)?;
        for known in due.collect::<rusqlite::Result<Vec<KnownMessage>>>()? {
            self.delete(&known)?;
        }
        Ok(())
    }

    pub(super) fn delete(&self, known: &KnownMessage) -> rusqlite::Result<()> {
        let mut detail = Detail::read(known.detail.as_deref())?;
        detail.forget();
        let sql = "UPDATE message SET text = '', names = NULL, deleted = 1, kinds = 0, detail = ?2 WHERE msg = ?1";
        self.statement(sql)?.execute(params![known.msg, detail.write()?])?;
        self.relearn(known, "")
    }

    /// Stores what is said in a file, which is searched like its name.
    pub(super) fn transcribe(
        &self,
        known: &KnownMessage,
        file: usize,
        text: &str,
    ) -> rusqlite::Result<()> {
        let mut detail = Detail::read(known.detail.as_deref())?;
        let Some(file) = detail.attachments.get_mut(file) else { return Ok(()) };
        file.transcript = Some(text.to_owned());
        let names = stored::names(&detail.attachments);
        self.statement("UPDATE message SET detail = ?2, names = ?3 WHERE msg = ?1")?
            .execute(params![known.msg, detail.write()?, names])?;
        self.relearn(known, &searched(&known.text, names.as_deref()))
    }

    /// Changes the parts that are not searched.
    pub(super) fn change(
        &self,
        known: &KnownMessage,
        change: impl FnOnce(&mut Detail),
    ) -> rusqlite::Result<()> {
        let mut detail = Detail::read(known.detail.as_deref())?;
        change(&mut detail);
        self.statement("UPDATE message SET detail = ?2 WHERE msg = ?1")?
            .execute(params![known.msg, detail.write()?])?;
        Ok(())
    }

    fn credit(&mut self, chat: i64, person: Option<i64>, more: i64) {
        if let Some(person) = person {
            *self.credits.entry((chat, person)).or_default() += more;
        }
    }

    fn relearn(&self, known: &KnownMessage, text: &str) -> rusqlite::Result<()> {
        let before = searched(&known.text, known.names.as_deref());
        if before == text {
            return Ok(());
        }
        self.unlearn(known.msg, &before)?;
        self.learn(known.msg, text)
    }

    /// Adds a message's words to the search index.
    fn learn(&self, msg: i64, text: &str) -> rusqlite::Result<()> {
        learn(self.connection, msg, text, self.words)
    }

    /// Reverts [`learn`](Self::learn) with the same text, which the table itself does not store.
    fn unlearn(&self, msg: i64, text: &str) -> rusqlite::Result<()> {
        let words = joined(text);
        if words.is_empty() {
            return Ok(());
        }
        self.statement("INSERT INTO word (word, rowid, text) VALUES ('delete', ?1, ?2)")?
            .execute(params![msg, words])?;
        self.words.unlearn(self.connection, &words)
    }
}

/// Adds the words of all messages to an empty search index.
pub(in crate::index) fn relearn_all(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT msg, text, names FROM message ORDER BY msg")?;
    let mut rows = statement.query([])?;
    let words = KnownWords::default();
    while let Some(row) = rows.next()? {
        let (text, names) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str_or_null()?);
        learn(connection, row.get(0)?, &searched(text, names), &words)?;
    }
    Ok(())
}

fn learn(
    connection: &Connection,
    msg: i64,
    text: &str,
    known: &KnownWords,
) -> rusqlite::Result<()> {
    let words = joined(text);
    if words.is_empty() {
        return Ok(());
    }
    connection
        .prepare_cached("INSERT INTO word (rowid, text) VALUES (?1, ?2)")?
        .execute(params![msg, words])?;
    known.learn(connection, &words)
}

fn joined(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    each_word(text, |_, word| {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    });
    joined
}

fn known(row: &Row<'_>) -> rusqlite::Result<KnownMessage> {
    Ok(KnownMessage {
        msg: row.get(0)?,
        person: row.get(1)?,
        edited: row.get(2)?,
        deleted: row.get(3)?,
        text: row.get(4)?,
        detail: row.get(5)?,
        names: row.get(6)?,
    })
}
