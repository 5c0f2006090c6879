//! Writing a source's events into the tables, within the open transaction.

mod denied;
mod message;
mod twins;

pub(super) use message::relearn_all;

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use self::message::Reactions;
use super::MAX_SOURCES;
use super::error::IndexError;
use super::stored::micros;
use super::vocabulary::KnownWords;
use crate::digest::digest;
use crate::model::{Chat, ChatKind, Participant};
use crate::source::{Batch, Change, Event};

/// Applies a batch of a source, which is added if it is new. The inner error means that there are too many sources;
/// then nothing has changed.
pub(super) fn keep(
    connection: &Connection,
    source: &str,
    owner: Option<&str>,
    batch: &Batch,
    words: &KnownWords,
) -> rusqlite::Result<Result<(), IndexError>> {
    owned(connection, source, owner)?;
    let keeper = Keeper::new(connection, source, owner, batch.unchecked, words)?;
    let Some(mut keeper) = keeper else {
        return Ok(Err(IndexError::TooLarge(format!(
            "there are {MAX_SOURCES} sources in the index already, which is the most"
        ))));
    };
    for event in &batch.events {
        keeper.event(event)?;
    }
    keeper.expire()?;
    keeper.finish(batch)?;
    Ok(Ok(()))
}

/// A batch that is being applied.
struct Keeper<'a> {
    connection: &'a Connection,
    src: i64,
    /// The sequence number of the source's last message.
    last: i64,
    /// Whether new chats are hidden until the source has been read whole.
    unchecked: bool,
    /// The chats of the batch, by id.
    chats: HashMap<String, i64>,
    /// The senders of the batch, by id.
    people: HashMap<String, (Participant, i64)>,
    /// How many new messages a chat has.
    news: HashMap<i64, i64>,
    /// The change in how many messages a person has written in a chat.
    credits: HashMap<(i64, i64), i64>,
    words: &'a KnownWords,
}

/// Puts the rows of another owner of this id aside, and takes back those of this owner.
fn owned(connection: &Connection, source: &str, owner: Option<&str>) -> rusqlite::Result<()> {
    let Some(owner) = owner else { return Ok(()) };
    let known: Option<Option<String>> = connection
        .prepare_cached("SELECT owner FROM source WHERE id = ?1")?
        .query_row([source], |row| row.get(0))
        .optional()?;
    if known == Some(Some(owner.to_owned())) {
        return Ok(());
    }
    let rename = "UPDATE source SET id = ?2 WHERE id = ?1";
    if let Some(Some(other)) = &known {
        connection.execute(rename, params![source, aside(source, other)])?;
    }
    if !matches!(known, Some(None)) {
        connection.execute(rename, params![aside(source, owner), source])?;
    }
    connection.execute("UPDATE source SET owner = ?2 WHERE id = ?1", params![source, owner])?;
    Ok(())
}

/// The id of rows whose owner is not configured: no source has an `@` in its id.
fn aside(source: &str, owner: &str) -> String {
    format!("{source}@{}", digest(owner, 8))
}

impl<'a> Keeper<'a> {
    /// `None` if there are too many sources.
    fn new(
        connection: &'a Connection,
        source: &str,
        owner: Option<&str>,
        unchecked: bool,
        words: &'a KnownWords,
    ) -> rusqlite::Result<Option<Self>> {
        let sql = "INSERT INTO source (id, last, owner) SELECT ?1, 0, ?3 \
                   WHERE (SELECT count(*) FROM source WHERE id <> ?1 AND instr(id, '@') = 0) < ?2 \
                   ON CONFLICT (id) DO UPDATE SET last = last RETURNING src, last";
        let most = i64::try_from(MAX_SOURCES).unwrap_or(i64::MAX);
        let found = connection
            .prepare_cached(sql)?
            .query_row(params![source, most, owner], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        Ok(found.map(|(src, last)| Self {
            connection,
            src,
            last,
            unchecked,
            chats: HashMap::new(),
            people: HashMap::new(),
            news: HashMap::new(),
            credits: HashMap::new(),
            words,
        }))
    }

    fn statement(&self, sql: &str) -> rusqlite::Result<CachedStatement<'a>> {
        self.connection.prepare_cached(sql)
    }

    fn event(&mut self, event: &Event) -> rusqlite::Result<()> {
        match event {
            Event::Chat(chat) => self.chat(chat).map(drop),
            Event::Message { chat, message } => {
                let chat = self.chat_of(chat)?;
                self.message(chat, message, Reactions::Replaced)
            }
            Event::Revised { chat, message } => {
                let chat = self.chat_of(chat)?;
                self.message(chat, message, Reactions::Kept)
            }
            Event::Changed { chat, id, change } => {
                let Some(known) = self.known(chat, id)? else { return Ok(()) };
                match change {
                    Change::Edited { text, at } => self.edit(&known, text, micros(*at)),
                    Change::Deleted => self.delete(&known),
                    Change::Voted { by, options } => {
                        self.change(&known, |detail| detail.vote(by, options))
                    }
                    Change::Transcribed { file, text } => self.transcribe(&known, *file, text),
                    Change::Reacted { reaction, removed } => {
                        self.change(&known, |detail| detail.react(reaction, *removed))
                    }
                }
            }
        }
    }

    /// Stores a chat and returns its number.
    fn chat(&mut self, chat: &Chat) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO chat (src, id, name, kind, participants, messages, hidden) \
                   VALUES (?1, ?2, ?3, ?4, ?5, 0, iif(?6, 2, 0)) \
                   ON CONFLICT (src, id) DO UPDATE SET name = ?3, kind = ?4, \
                   participants = coalesce(?5, participants) RETURNING chat";
        let kind = chat.kind as u8;
        let values = params![self.src, chat.id, chat.name, kind, chat.participants, self.unchecked];
        let number = self.statement(sql)?.query_row(values, |row| row.get(0))?;
        self.chats.insert(chat.id.clone(), number);
        Ok(number)
    }

    /// A chat's number, if it is known.
    fn find_chat(&mut self, id: &str) -> rusqlite::Result<Option<i64>> {
        if let Some(number) = self.chats.get(id) {
            return Ok(Some(*number));
        }
        let number = self
            .statement("SELECT chat FROM chat WHERE src = ?1 AND id = ?2")?
            .query_row(params![self.src, id], |row| row.get(0))
            .optional()?;
        if let Some(number) = number {
            self.chats.insert(id.to_owned(), number);
        }
        Ok(number)
    }

    /// A chat's number. An unknown one is named by its id, so that its messages are not lost.
    fn chat_of(&mut self, id: &str) -> rusqlite::Result<i64> {
        match self.find_chat(id)? {
            Some(number) => Ok(number),
            None => self.chat(&Chat {
                id: id.to_owned(),
                name: id.to_owned(),
                kind: ChatKind::Unknown,
                participants: None,
            }),
        }
    }

    /// The number of a person, with new facts added. Facts that the source omits this time are kept.
    fn person(&mut self, person: &Participant) -> rusqlite::Result<i64> {
        if let Some((known, number)) = self.people.get(&person.id)
            && known == person
        {
            return Ok(*number);
        }
        let sql = "INSERT INTO person (src, id, name, username, phone, is_me) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                   ON CONFLICT (src, id) DO UPDATE SET name = ?3, username = coalesce(?4, username), \
                   phone = coalesce(?5, phone), is_me = max(is_me, ?6) RETURNING person";
        let values =
            params![self.src, person.id, person.name, person.username, person.phone, person.is_me];
        let number = self.statement(sql)?.query_row(values, |row| row.get(0))?;
        self.people.insert(person.id.clone(), (person.clone(), number));
        Ok(number)
    }

    /// Writes the totals of the batch.
    fn finish(self, batch: &Batch) -> rusqlite::Result<()> {
        let sql = "UPDATE chat SET messages = messages + ?2 WHERE chat = ?1";
        let mut statement = self.statement(sql)?;
        for (chat, more) in &self.news {
            statement.execute([chat, more])?;
        }
        let sql = "INSERT INTO member (chat, person, messages) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (chat, person) DO UPDATE SET messages = messages + ?3";
        let mut statement = self.statement(sql)?;
        for ((chat, person), more) in &self.credits {
            statement.execute([chat, person, more])?;
        }
        let mut report = batch.report.clone();
        if let (Some(report), Some(_)) = (&mut report, &batch.mark) {
            report.twins = twins::find(self.connection, self.src)?;
        }
        let report = report.as_ref().map(serde_json::to_string).transpose();
        let report =
            report.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let sql = "UPDATE source SET last = ?2, mark = coalesce(?3, mark), report = coalesce(?4, report) WHERE src = ?1";
        self.statement(sql)?.execute(params![self.src, self.last, batch.mark, report])?;
        if report.is_some() && batch.mark.is_some() {
            denied::hide(self.connection, self.src)?;
        }
        Ok(())
    }
}

/// The kind with this number in the tables.
pub(super) fn chat_kind(number: u8) -> ChatKind {
    ChatKind::ALL.get(usize::from(number)).copied().unwrap_or(ChatKind::Unknown)
}
