//! The history of a universe as a resource: entries of its log, a page at a time.

use futures_util::StreamExt as _;
use mcp_proto::{Context, RequestError, ResourceContents, ResourceUri};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{address, find};
use crate::commands::{CommandService, LogEntry, ServiceError};
use crate::store::{Entry, Revision, Timestamp, UniverseId};

const DEFAULT_LIMIT: u64 = 20;
const MAX_LIMIT: u64 = 100;
/// The bytes after which a page ends, however few entries it has; `next` goes on from there.
const PAGE_BYTES: usize = 256 * 1024;

#[derive(Serialize)]
struct History<'e, N> {
    /// The revision the universe is at.
    revision: u64,
    entries: Vec<Told<'e>>,
    /// Where to read on; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<N>,
}

/// Consecutive entries of a universe's log.
pub(super) struct Page {
    head: u64,
    entries: Vec<Entry>,
    /// The revision after which the next page begins.
    next: Option<u64>,
}

/// Why there is no page.
pub(super) enum PageError {
    /// What was asked for cannot be meant.
    Asked(String),
    /// The service or the store failed.
    Service(ServiceError),
}

/// One entry: a command with its events, or what a `PUT` replaced.
#[derive(Serialize)]
struct Told<'e> {
    revision: u64,
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'e RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<&'e RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<Replaced>,
}

/// What was put in place of what was; the state itself is told by the universe.
#[derive(Serialize)]
struct Replaced {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    state: bool,
}

/// The entries after a revision, or the latest ones.
pub(super) async fn read(
    service: CommandService,
    uri: ResourceUri,
    _context: Context,
) -> Result<ResourceContents, RequestError> {
    let (after, limit) = (number(&uri, "after")?, number(&uri, "limit")?);
    let id = find::known_id(&service, uri.get("id").unwrap_or_default()).await?;
    let page = match page(&service, &id, after, limit).await {
        Ok(page) => page,
        Err(PageError::Asked(problem)) => return Err(RequestError::invalid_params(problem)),
        Err(PageError::Service(error)) => {
            return Err(find::failure(&service, id.as_str(), error).await);
        }
    };
    let universe = address::universe(id.as_str());
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let uri_after = |next| format!("{universe}/events?after={next}&limit={limit}");
    let text = page
        .write(&id, uri_after)
        .ok_or_else(RequestError::internal)?;
    Ok(ResourceContents::text(uri.uri, text.get()).with_mime_type("application/json"))
}

/// A page of the log: the entries after a revision, or the latest ones.
pub(super) async fn page(
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
    let head = record.head.revision.0;
    let after = after.unwrap_or_else(|| head.saturating_sub(limit));
    if after > head {
        return Err(PageError::Asked(format!(
            "universe {id} is at revision {head}: after must be no more"
        )));
    }
    let wanted = usize::try_from(limit.min(head - after)).unwrap_or_default();
    let mut tail = service.store().tail(id, Revision(after)).take(wanted);
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while let Some(entry) = tail.next().await {
        let Ok(entry) = entry else {
            // It was deleted just now, or the store does not work.
            service.store().record(id).await.map_err(failed)?;
            return Err(PageError::Service(ServiceError::Unavailable));
        };
        bytes += entry.body.len();
        entries.push(entry);
        if bytes > PAGE_BYTES {
            break;
        }
    }
    let read = after + entries.len() as u64;
    Ok(Page {
        head,
        entries,
        next: (read < head).then_some(read),
    })
}

impl Page {
    /// The page as JSON; `next` makes of a revision where to read on. `None` if an entry cannot be read.
    pub(super) fn write<N: Serialize>(
        &self,
        id: &UniverseId,
        next: impl Fn(u64) -> N,
    ) -> Option<Box<RawValue>> {
        let told: Result<Vec<_>, _> = self.entries.iter().map(Told::of).collect();
        let history = told.and_then(|entries| {
            to_raw_value(&History {
                revision: self.head,
                entries,
                next: self.next.map(next),
            })
        });
        history
            .inspect_err(|error| {
                tracing::error!(universe = %id, %error, "an entry of the log cannot be read");
            })
            .ok()
    }
}

fn number(uri: &ResourceUri, name: &str) -> Result<Option<u64>, RequestError> {
    let given = uri.get(name).map(str::parse::<u64>);
    given
        .transpose()
        .map_err(|_| RequestError::invalid_params(format!("{name} must be a whole number")))
}

impl<'e> Told<'e> {
    fn of(entry: &'e Entry) -> Result<Self, serde_json::Error> {
        let body = LogEntry::read(&entry.body)?;
        let is_command = body.command.is_some();
        Ok(Self {
            revision: entry.revision.0,
            at: entry.at,
            command: body.command,
            events: body.events,
            replaced: (!is_command).then_some(Replaced {
                name: body.name,
                state: body.state.is_some(),
            }),
        })
    }
}
