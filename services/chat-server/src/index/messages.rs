//! Messages by what they are: filters, pages, one by its id.

mod fetch;
mod filter;
mod select;
mod walk;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::Index;
use super::answer::{ChatKey, MessageQuery, Page, StoredMessage};
use super::cursor::{Place, Secret};
use super::error::IndexError;
use super::matcher::Matcher;
use super::readers::ReadError;
use crate::model::Attachment;

pub(super) use fetch::fetch;
pub(super) use filter::{Filter, Range, Scope};
pub(super) use select::select;
pub(super) use walk::Position;

/// A page ends early once its messages have so many bytes of text.
pub(super) const PAGE_BYTES: usize = 4 << 20;

impl Index {
    /// The messages that fit, newest first: by their time, and those of one time the one that came in last first.
    ///
    /// # Errors
    /// [`IndexError::Invalid`] for a limit out of bounds, an empty range of time or a cursor that this index has not
    /// given; [`IndexError::Unavailable`].
    pub async fn messages(&self, query: &MessageQuery) -> Result<Page, IndexError> {
        query.check()?;
        let (query, secret) = (query.clone(), self.inner.secret.clone());
        self.inner
            .readers
            .read(move |view| page(view, &query, &secret))
            .await
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

    /// The `n`th attachment of a message, counted from 0.
    ///
    /// # Errors
    /// [`IndexError::Unavailable`].
    pub async fn attachment(
        &self,
        chat: &ChatKey,
        id: &str,
        n: usize,
    ) -> Result<Option<Attachment>, IndexError> {
        let message = self.message(chat, id).await?;
        Ok(message.and_then(|found| found.message.attachments.into_iter().nth(n)))
    }
}

/// Where a message is.
pub(super) struct Found {
    pub(super) chat: i64,
    pub(super) position: Position,
}

pub(super) fn find(view: &Connection, chat: &ChatKey, id: &str) -> rusqlite::Result<Option<Found>> {
    let sql = "SELECT message.chat, at, msg FROM source JOIN chat USING (src) \
               JOIN message ON message.chat = chat.chat \
               WHERE source.id = ?1 AND chat.id = ?2 AND message.id = ?3";
    view.prepare_cached(sql)?
        .query_row(params![chat.source, chat.id, id], |row| {
            Ok(Found {
                chat: row.get(0)?,
                position: Position {
                    at: row.get(1)?,
                    msg: row.get(2)?,
                },
            })
        })
        .optional()
}

fn page(view: &Connection, query: &MessageQuery, secret: &Secret) -> Result<Page, ReadError> {
    let scope = Scope::resolve(view, query.source.as_deref(), query.chats.as_deref())?;
    let filter = Filter::resolve(
        view,
        &scope,
        query.sender.as_deref(),
        query.search.as_deref().and_then(Matcher::part),
        &query.kinds,
    )?;
    let range = Range::new(query.since, query.before);
    let place = query.cursor.as_ref().map(|cursor| secret.open(cursor));
    match place.transpose()? {
        Some(Place::After { src, sequence }) => {
            if !scope.sources.contains(&src) {
                return Err(IndexError::from(foreign_cursor()).into());
            }
            let rows = select::after(view, src, sequence, &scope, filter, range, query.into())?;
            to_page(view, &rows, query.limit, |message, _| {
                secret.seal(Place::After {
                    src,
                    sequence: message.sequence,
                })
            })
        }
        place => {
            let from = match place {
                Some(Place::Older { at, msg }) => Position { at, msg },
                _ => Position::NEWEST,
            };
            let rows = select(view, &scope, filter, range, from, query.into())?;
            to_page(view, &rows, query.limit, |_, Position { at, msg }| {
                secret.seal(Place::Older { at, msg })
            })
        }
    }
}

fn foreign_cursor() -> crate::query::Invalid {
    crate::query::Invalid::new(
        "cursor",
        "it belongs to another source: give it together with the source it came from, or with none",
    )
}

/// Reads up to `limit` of the rows; there is a next page if there are more.
fn to_page(
    view: &Connection,
    rows: &[Position],
    limit: usize,
    next: impl Fn(&StoredMessage, Position) -> super::Cursor,
) -> Result<Page, ReadError> {
    let mut page = Page::default();
    let mut bytes = 0;
    let mut last = None;
    for position in rows.iter().take(limit) {
        if bytes > PAGE_BYTES {
            break;
        }
        let message = fetch(view, position.msg)?;
        bytes += fetch::weight(&message);
        last = Some(*position);
        page.messages.push(message);
    }
    if let (Some(message), Some(last)) = (page.messages.last(), last)
        && page.messages.len() < rows.len()
    {
        page.next = Some(next(message, last));
    }
    Ok(page)
}
