//! Sources and chats: lists of them, and finding one by a given name.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::Index;
use super::answer::{ChatKey, ChatSummary, SourceSummary, StoredMessage};
use super::error::IndexError;
use super::fold::fold;
use super::keep::chat_kind;
use super::messages::fetch;
use super::stored::timestamp;
use crate::model::Chat;
use crate::source::Report;

/// The most chats that are listed when a name fits several, and when it fits none.
const CANDIDATES: usize = 20;
const NEAREST: usize = 5;

/// The result of looking for a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundChat {
    /// The only match.
    Found(Box<ChatSummary>),
    /// Several chats have this name, or have it in their name.
    Ambiguous {
        /// The first of them, those with the latest activity first.
        candidates: Vec<ChatSummary>,
        /// How many there are.
        total: usize,
    },
    /// No match.
    NotFound {
        /// Chats with a similar name, the most similar first.
        nearest: Vec<ChatSummary>,
    },
}

impl Index {
    /// The sources that have stored something, by id.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn sources(&self) -> Result<Vec<SourceSummary>, IndexError> {
        self.inner.readers.read(|view| Ok(sources(view)?)).await
    }

    /// The mark of a source's last batch, if its rows belong to this owner.
    pub(super) async fn mark_of(
        &self,
        source: &str,
        owner: Option<&str>,
    ) -> Result<Option<String>, IndexError> {
        let (source, owner) = (source.to_owned(), owner.map(str::to_owned));
        let read = move |view: &Connection| {
            let sql = "SELECT mark FROM source \
                       WHERE id = ?1 AND (?2 IS NULL OR owner IS NULL OR owner = ?2)";
            let mark = view
                .prepare_cached(sql)?
                .query_row([Some(source), owner], |row| row.get(0))
                .optional()?;
            Ok(mark.flatten())
        };
        self.inner.readers.read(read).await
    }

    /// The chats of a source, or of all: those with the latest activity first.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn chats(&self, source: Option<&str>) -> Result<Vec<ChatSummary>, IndexError> {
        let source = source.map(str::to_owned);
        let read = move |view: &Connection| Ok(chats(view, source.as_deref())?);
        self.inner.readers.read(read).await
    }

    /// The last message of each of these chats that is not a service message.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn latest(
        &self,
        chats: Vec<ChatKey>,
    ) -> Result<Vec<Option<StoredMessage>>, IndexError> {
        let read = move |view: &Connection| {
            let sql = "SELECT msg FROM message INDEXED BY message_by_chat \
                       WHERE chat = (SELECT chat FROM chat JOIN source USING (src) WHERE source.id = ?1 AND chat.id = ?2) \
                       AND kinds & 512 = 0 ORDER BY at DESC, msg DESC LIMIT 1";
            let mut statement = view.prepare_cached(sql)?;
            let mut latest = Vec::new();
            for ChatKey { source, id } in &chats {
                let msg = statement.query_row([source, id], |row| row.get(0)).optional()?;
                latest.push(msg.map(|msg| fetch(view, msg)).transpose()?);
            }
            Ok(latest)
        };
        self.inner.readers.read(read).await
    }
}

/// The value of the column; the default if it cannot be read.
fn report(column: Option<String>) -> Report {
    let report = column.and_then(|column| serde_json::from_str(&column).ok());
    report.unwrap_or_default()
}

fn sources(view: &Connection) -> rusqlite::Result<Vec<SourceSummary>> {
    let sql = "SELECT id, (SELECT count(*) FROM chat WHERE chat.src = source.src), last, mark, report, owner, \
               (SELECT count(*) FROM chat WHERE chat.src = source.src AND hidden = 1), \
               (SELECT count(*) FROM chat WHERE chat.src = source.src AND hidden = 2), \
               (SELECT max(at) FROM message WHERE message.src = source.src), \
               (SELECT min(at) FROM message WHERE message.src = source.src) \
               FROM source WHERE instr(id, '@') = 0 ORDER BY id";
    let mut statement = view.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(SourceSummary {
            id: row.get(0)?,
            chats: row.get::<_, i64>(1)?.cast_unsigned(),
            messages: row.get::<_, i64>(2)?.cast_unsigned(),
            mark: row.get(3)?,
            report: report(row.get(4)?),
            owner: row.get(5)?,
            hidden: row.get::<_, i64>(6)?.cast_unsigned(),
            unchecked: row.get::<_, i64>(7)?.cast_unsigned(),
            newest: row.get::<_, Option<i64>>(8)?.map(timestamp),
            oldest: row.get::<_, Option<i64>>(9)?.map(timestamp),
        })
    })?;
    rows.collect()
}

fn chats(view: &Connection, source: Option<&str>) -> rusqlite::Result<Vec<ChatSummary>> {
    let sql = "SELECT source.id, chat.id, name, kind, \
               participants, (SELECT count(*) FROM member WHERE member.chat = chat.chat), \
               messages, \
               (SELECT min(at) FROM message WHERE message.chat = chat.chat), \
               (SELECT max(at) FROM message WHERE message.chat = chat.chat) AS latest, owner \
               FROM chat JOIN source USING (src) WHERE (?1 IS NULL OR source.id = ?1) AND hidden = 0 \
               AND instr(source.id, '@') = 0 \
               ORDER BY latest DESC, source.id, chat.id";
    let mut statement = view.prepare_cached(sql)?;
    let rows = statement.query_map([source], summary)?;
    rows.collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<ChatSummary> {
    let time = |micros: Option<i64>| micros.map(timestamp);
    Ok(ChatSummary {
        source: row.get(0)?,
        chat: Chat {
            id: row.get(1)?,
            name: row.get(2)?,
            kind: chat_kind(row.get(3)?),
            participants: row.get(4)?,
        },
        writers: row.get(5)?,
        messages: row.get::<_, i64>(6)?.cast_unsigned(),
        first: time(row.get(7)?),
        last: time(row.get(8)?),
        owner: row.get(9)?,
    })
}

/// Whether a chat, with its name folded, fits.
type Rule<'a> = &'a dyn Fn(&ChatSummary, &str) -> bool;

/// Looks for a chat among these: first by id, then by its name as written, then by its name without regard to case and
/// diacritics, then by the beginning, then by any part of it. The first of these that fits any chat decides; if it fits
/// several, they are the candidates. Some networks have names for ids: among chats of several sources an id of one does
/// not outrank a name of another.
pub fn find(chats: Vec<ChatSummary>, text: &str) -> FoundChat {
    let folded = fold(text.trim());
    let names: Vec<String> = chats.iter().map(|chat| fold(&chat.chat.name)).collect();
    let mut sources = chats.iter().map(|chat| &chat.source);
    let first = sources.next();
    let is_one = sources.all(|source| Some(source) == first);
    let rules: [Rule<'_>; 6] = [
        &|chat, name| !is_one && (chat.chat.id == text || name == folded),
        &|chat, _| chat.chat.id == text,
        &|chat, _| chat.chat.name == text,
        &|_, name| name == folded,
        &|_, name| !folded.is_empty() && name.starts_with(&folded),
        &|_, name| !folded.is_empty() && name.contains(&folded),
    ];
    for rule in rules {
        let fitting: Vec<&ChatSummary> = chats
            .iter()
            .zip(&names)
            .filter(|(chat, name)| rule(chat, name))
            .map(|(chat, _)| chat)
            .collect();
        match fitting.as_slice() {
            [] => {}
            [chat] => return FoundChat::Found(Box::new((*chat).clone())),
            several => {
                return FoundChat::Ambiguous {
                    candidates: several.iter().take(CANDIDATES).map(|&chat| chat.clone()).collect(),
                    total: several.len(),
                };
            }
        }
    }
    FoundChat::NotFound { nearest: nearest(chats, &names, &folded) }
}

/// The chats whose names, or words in them, are similar, by Jaro-Winkler, which compares common letters and their
/// positions.
fn nearest(chats: Vec<ChatSummary>, names: &[String], folded: &str) -> Vec<ChatSummary> {
    // A long name is rarely mistyped throughout, and comparing costs the product of the lengths.
    let short = |text: &str| text.chars().take(64).collect::<String>();
    let wanted = short(folded);
    let likeness = |name: &str| {
        let name = short(name);
        std::iter::once(name.as_str())
            .chain(name.split_whitespace())
            .map(|part| strsim::jaro_winkler(&wanted, part))
            .fold(0.0, f64::max)
    };
    let mut alike: Vec<(f64, ChatSummary)> = chats
        .into_iter()
        .zip(names)
        .map(|(chat, name)| (likeness(name), chat))
        .filter(|(likeness, _)| *likeness > 0.7)
        .collect();
    alike.sort_by(|one, other| other.0.total_cmp(&one.0));
    let nearest = alike.into_iter().take(NEAREST);
    nearest.map(|(_, chat)| chat).collect()
}
