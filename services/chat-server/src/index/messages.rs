//! Queries for messages: by filters, in pages, or one by its id.

mod fetch;
mod filter;
mod select;
mod walk;

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::Index;
use super::answer::{ChatKey, MessageQuery, Page, StoredMessage};
use super::cursor::{Cursor, PageEnd, Secret};
use super::error::IndexError;
use super::matcher::Matcher;
use super::readers::ReadError;
use super::vocabulary::Vocabulary;
use crate::query::Invalid;

pub(super) use fetch::{fetch, weight};
pub(super) use filter::{Filter, Range, Scope};
pub(super) use walk::Position;

use select::{Selected, Window, select};
use walk::Fits;

/// A page ends early once its messages have this many bytes.
pub(super) const PAGE_BYTES: usize = 4 << 20;

impl Index {
    /// The matching messages, newest first: by time, and at the same time in reverse order of arrival.
    ///
    /// # Errors
    /// [`IndexError::Invalid`] for a limit out of bounds, an empty range of time or a cursor that this index has not
    /// issued; [`IndexError::Unavailable`].
    pub async fn messages(&self, query: &MessageQuery) -> Result<Page, IndexError> {
        query.check()?;
        let (query, secret) = (query.clone(), self.inner.secret.clone());
        let words = Arc::clone(&self.inner.words);
        self.inner.readers.read(move |view| page(view, &words, &query, None, &secret)).await
    }

    /// One message.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn message(
        &self,
        chat: &ChatKey,
        id: &str,
    ) -> Result<Option<StoredMessage>, IndexError> {
        let (chat, id) = (chat.clone(), id.to_owned());
        self.inner
            .readers
            .read(move |view| match find(view, &chat, &id)? {
                Some(found) => Ok(Some(fetch(view, found.position.msg)?)),
                None => Ok(None),
            })
            .await
    }
}

/// The place of a message.
pub(super) struct FoundMessage {
    pub(super) chat: i64,
    pub(super) position: Position,
}

/// The place of a message that was read in the same view.
pub(super) fn find_stored(
    view: &Connection,
    message: &StoredMessage,
) -> rusqlite::Result<FoundMessage> {
    let key = ChatKey { source: message.source.clone(), id: message.chat.clone() };
    find(view, &key, &message.message.id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
}

pub(super) fn find(
    view: &Connection,
    chat: &ChatKey,
    id: &str,
) -> rusqlite::Result<Option<FoundMessage>> {
    let sql = "SELECT message.chat, at, msg FROM source JOIN chat USING (src) \
               JOIN message ON message.chat = chat.chat \
               WHERE source.id = ?1 AND chat.id = ?2 AND message.id = ?3";
    view.prepare_cached(sql)?
        .query_row(params![chat.source, chat.id, id], |row| {
            Ok(FoundMessage {
                chat: row.get(0)?,
                position: Position { at: row.get(1)?, msg: row.get(2)? },
            })
        })
        .optional()
}

/// A page of the messages that match the query, and also `what`.
pub(super) fn page(
    view: &Connection,
    words: &Vocabulary,
    query: &MessageQuery,
    what: Option<Matcher>,
    secret: &Secret,
) -> Result<Page, ReadError> {
    let scope = Scope::resolve(view, query.source.as_deref(), query.chats.as_deref())?;
    let part = query.search.as_deref().map(Matcher::containing).transpose()?;
    let by_words = what.is_some();
    let filter = Filter::resolve(
        view,
        &scope,
        query.sender.as_deref(),
        what.into_iter().chain(part).collect(),
        &query.kinds,
        query.topic.as_deref(),
    )?;
    let range = Range::new(query.since, query.before);
    let window = Window::from(query);
    let find = |from, filter, window| select(view, words, &scope, filter, range, from, window);
    let found = match opened(query, secret)? {
        Some(PageEnd::After { src, sequence }) => {
            if !scope.sources.contains(&src) {
                return Err(foreign_cursor().into());
            }
            select::after(view, src, sequence, &scope, filter, range, window)?
        }
        Some(PageEnd::Older { at, msg }) => {
            let from = Position { at, msg };
            if by_words {
                // Those inside words come after all others, also after newer ones.
                let whole = Window { fits: Fits::Whole, ..window };
                let mut found = find(from, filter.clone(), whole)?;
                if found.whole.len() <= query.limit {
                    let left = query.limit - found.whole.len();
                    let inside = Window { fits: Fits::Inside, limit: left, ..window };
                    found.inside = find(Position::NEWEST, filter, inside)?.inside;
                }
                found
            } else {
                find(from, filter, Window { oldest: false, ..window })?
            }
        }
        Some(PageEnd::Inside { at, msg }) => {
            let window = Window { fits: Fits::Inside, ..window };
            find(Position { at, msg }, filter, window)?
        }
        Some(PageEnd::Newer { at, msg }) => {
            find(Position { at, msg }, filter, Window { oldest: true, ..window })?
        }
        None if query.oldest => find(Position::OLDEST, filter, window)?,
        None => find(Position::NEWEST, filter, window)?,
    };
    let Selected { whole, inside } = found;
    let rows = whole.len() + inside.len();
    let mut page = Page { whole: whole.len().min(query.limit), ..Page::default() };
    let mut bytes = 0;
    for Position { msg, .. } in whole.iter().chain(&inside).take(query.limit) {
        if bytes > PAGE_BYTES {
            break;
        }
        let message = fetch(view, *msg)?;
        bytes += weight(&message);
        page.messages.push(message);
    }
    if page.messages.len() < rows {
        let is_inside = page.messages.len() > page.whole;
        page.next = next(view, query, page.messages.last(), is_inside, secret)?;
    }
    Ok(page)
}

/// The cursor after a page that ends with this message.
pub(super) fn next(
    view: &Connection,
    query: &MessageQuery,
    last: Option<&StoredMessage>,
    is_inside: bool,
    secret: &Secret,
) -> Result<Option<Cursor>, ReadError> {
    let Some(message) = last else {
        return Ok(None);
    };
    let end = match opened(query, secret)? {
        Some(PageEnd::After { src, .. }) => PageEnd::After { src, sequence: message.sequence },
        before => {
            let Position { at, msg } = find_stored(view, message)?.position;
            let is_oldest = match before {
                None => query.oldest,
                Some(end) => matches!(end, PageEnd::Newer { .. }),
            };
            match (is_inside, is_oldest) {
                (true, _) => PageEnd::Inside { at, msg },
                (false, true) => PageEnd::Newer { at, msg },
                (false, false) => PageEnd::Older { at, msg },
            }
        }
    };
    Ok(Some(secret.seal(end)))
}

fn opened(query: &MessageQuery, secret: &Secret) -> Result<Option<PageEnd>, Invalid> {
    let cursor = query.cursor.as_ref();
    cursor.map(|cursor| secret.open(cursor)).transpose()
}

fn foreign_cursor() -> Invalid {
    Invalid::new(
        "cursor",
        "it belongs to another source: give it together with the source it came from, or with none",
    )
}
