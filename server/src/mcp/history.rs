//! The history of a universe as a resource: entries of its log, a page at a time.

use futures_util::StreamExt as _;
use mcp_proto::{Context, RequestError, ResourceContents, ResourceUri};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{address, find};
use crate::commands::{CommandService, LogEntry, ServiceError};
use crate::store::{Entry, Revision, Timestamp};

const DEFAULT_LIMIT: u64 = 20;
const MAX_LIMIT: u64 = 100;
/// The bytes after which a page ends, however few entries it has; `next` goes on from there.
const PAGE_BYTES: usize = 256 * 1024;

#[derive(Serialize)]
struct History<'e> {
    /// The revision the universe is at.
    revision: u64,
    entries: Vec<Told<'e>>,
    /// Where to read on; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
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
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let wrong = format!("limit must be a number from 1 to {MAX_LIMIT}");
        return Err(RequestError::invalid_params(wrong));
    }
    let id = find::known_id(&service, uri.get("id").unwrap_or_default()).await?;
    let head = match service.store().record(&id).await {
        Ok(record) => record.head.revision.0,
        Err(error) => {
            let error = ServiceError::reading(&id, &error);
            return Err(find::failure(&service, id.as_str(), error).await);
        }
    };
    let after = after.unwrap_or_else(|| head.saturating_sub(limit));
    if after > head {
        return Err(RequestError::invalid_params(format!(
            "universe {id} is at revision {head}: after must be no more"
        )));
    }
    let wanted = usize::try_from(limit.min(head - after)).unwrap_or_default();
    let mut tail = service.store().tail(&id, Revision(after)).take(wanted);
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while let Some(entry) = tail.next().await {
        let Ok(entry) = entry else {
            // It was deleted just now, or the store does not work.
            let error = match service.store().record(&id).await {
                Err(error) => ServiceError::reading(&id, &error),
                Ok(_) => ServiceError::Unavailable,
            };
            return Err(find::failure(&service, id.as_str(), error).await);
        };
        bytes += entry.body.len();
        entries.push(entry);
        if bytes > PAGE_BYTES {
            break;
        }
    }
    let read = after + entries.len() as u64;
    let told: Result<Vec<_>, _> = entries.iter().map(Told::of).collect();
    let history = told.and_then(|entries| {
        serde_json::to_string(&History {
            revision: head,
            entries,
            next: (read < head).then(|| {
                let universe = address::universe(id.as_str());
                format!("{universe}/events?after={read}&limit={limit}")
            }),
        })
    });
    let text = history.map_err(|error| {
        tracing::error!(universe = %id, %error, "an entry of the log cannot be read");
        RequestError::internal()
    })?;
    Ok(ResourceContents::text(uri.uri, text).with_mime_type("application/json"))
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
