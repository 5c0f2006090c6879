//! The history of a universe: entries of its log, a page at a time.

use futures_util::StreamExt as _;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::commands::{CommandService, LogEntry, ServiceError};
use crate::store::{Entry, Revision, TailError, Timestamp, UniverseId};

/// The number of entries on a page by default, and the most.
pub(crate) const DEFAULT_LIMIT: u64 = 20;
pub(crate) const MAX_LIMIT: u64 = 100;
/// The bytes after which a page ends, even with few entries. `next` leads to the next page.
const PAGE_BYTES: usize = 256 * 1024;

#[derive(Serialize)]
struct History<'e, N> {
    /// The present revision of the universe.
    revision: u64,
    entries: Vec<HistoryEntry<'e>>,
    /// The cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<N>,
}

/// Consecutive entries of a universe's log, or the revisions of entries that cannot be read.
pub(crate) struct Page {
    head: u64,
    entries: Vec<Result<Entry, Revision>>,
    /// The revision after which the next page begins.
    pub(crate) next: Option<u64>,
}

/// The reason why a page cannot be made.
pub(crate) enum PageError {
    /// The request is invalid.
    Asked(String),
    /// The service or the store failed.
    Service(ServiceError),
}

/// One entry: a command with its events, or a replacement by `PUT`.
#[derive(Serialize)]
struct HistoryEntry<'e> {
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<Timestamp>,
    /// Whether the entry cannot be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    damaged: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'e RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<&'e RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<Replaced>,
}

/// The counts of a replaced state. The state itself is read from the universe.
#[derive(Serialize)]
struct Replaced {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    state: bool,
}

/// A page of the log: the entries after a revision, or the latest entries.
pub(crate) async fn page(
    service: &CommandService,
    id: &UniverseId,
    after: Option<u64>,
    limit: Option<u64>,
) -> Result<Page, PageError> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let wrong = format!("limit must be a number from 1 to {MAX_LIMIT}");
        return Err(PageError::Asked(wrong));
    }
    let failed = |error| PageError::Service(ServiceError::reading(id, &error));
    let record = service.store().record(id).await.map_err(failed)?;
    let (head, oldest) = (record.head.revision.0, record.oldest);
    let trimmed = |oldest| {
        PageError::Service(ServiceError::Trimmed {
            id: id.clone(),
            revision: Revision(after.unwrap_or_default()),
            oldest,
        })
    };
    let after = after.unwrap_or_else(|| head.saturating_sub(limit).max(oldest.0));
    if after < oldest.0 {
        return Err(trimmed(oldest));
    }
    if after > head {
        return Err(PageError::Asked(format!(
            "universe {id} is at revision {head}: after must be no more"
        )));
    }
    let wanted = usize::try_from(limit.min(head - after)).unwrap_or_default();
    let mut tail = service.store().tail(id, Revision(after));
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while entries.len() < wanted && bytes <= PAGE_BYTES {
        match tail.next().await {
            Some(Ok(entry)) => {
                bytes += entry.body.len();
                entries.push(Ok(entry));
            }
            Some(Err(TailError::Damaged { first, last })) => {
                let damaged = (first.0..=last.0).take(wanted - entries.len());
                entries.extend(damaged.map(|revision| Err(Revision(revision))));
                tail = service.store().tail(id, last);
            }
            Some(Err(TailError::Trimmed { oldest, .. })) => return Err(trimmed(oldest)),
            // The universe was just deleted, or the store does not work.
            Some(Err(_)) | None => {
                service.store().record(id).await.map_err(failed)?;
                return Err(PageError::Service(ServiceError::Unavailable));
            }
        }
    }
    let read = after + entries.len() as u64;
    Ok(Page { head, entries, next: (read < head).then_some(read) })
}

impl Page {
    /// The page as JSON. `next` turns a revision into a cursor. `None` if the page cannot be written.
    pub(crate) fn write<N: Serialize>(
        &self,
        id: &UniverseId,
        next: impl Fn(u64) -> N,
    ) -> Option<Box<RawValue>> {
        let history = to_raw_value(&History {
            revision: self.head,
            entries: self.entries.iter().map(HistoryEntry::of).collect(),
            next: self.next.map(next),
        });
        history
            .inspect_err(|error| {
                tracing::error!(universe = %id, %error, "a page of the history cannot be written");
            })
            .ok()
    }
}

impl<'e> HistoryEntry<'e> {
    fn of(entry: &'e Result<Entry, Revision>) -> Self {
        let entry = match entry {
            Ok(entry) => entry,
            Err(revision) => return Self::damaged(*revision),
        };
        let Ok(body) = LogEntry::read(&entry.body) else {
            return Self::damaged(entry.revision);
        };
        let is_command = body.command.is_some();
        Self {
            revision: entry.revision.0,
            at: Some(entry.at),
            damaged: false,
            command: body.command,
            events: body.events,
            replaced: (!is_command)
                .then_some(Replaced { name: body.name, state: body.state.is_some() }),
        }
    }

    fn damaged(revision: Revision) -> Self {
        Self {
            revision: revision.0,
            at: None,
            damaged: true,
            command: None,
            events: None,
            replaced: None,
        }
    }
}
