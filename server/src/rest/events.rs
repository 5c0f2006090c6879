//! `GET /universes/{id}/events`: the feed of a universe as server-sent events, read from its log.
//!
//! The id of each event is its revision, so a reader that comes back with `Last-Event-ID` goes on without a gap.

use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Response, StatusCode, request};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use mcp_proto::budget::{Client, Held, Kind};
use serde_json::json;
use tokio::sync::watch;

use super::answer::{self, Failure, RestBody};
use super::{Rest, read};
use crate::commands::{CommandService, LogEntry, ServiceError};
use crate::metrics::Reader;
use crate::store::{Entry, Revision, TailError, UniverseId};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How long a browser waits before it comes back, in milliseconds; and the first bytes of each feed.
const OPENING: &str = ":connected\n\nretry: 2000\n\n";
const HEARTBEAT: Bytes = Bytes::from_static(b":heartbeat\n\n");

/// The bounds of the open feeds.
#[derive(Debug)]
pub(super) struct Streams {
    heartbeat: Duration,
    closing: watch::Receiver<bool>,
}

/// An open feed.
struct Feed {
    service: CommandService,
    id: UniverseId,
    entries: BoxStream<'static, Result<Entry, TailError>>,
    heartbeat: Duration,
    closing: watch::Receiver<bool>,
    client: Client,
    _place: Held,
    _reader: Reader,
}

impl Streams {
    pub(super) fn new(heartbeat: Duration, closing: watch::Receiver<bool>) -> Self {
        Self { heartbeat, closing }
    }
}

impl Streams {
    /// Whether the server is ending.
    pub(super) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }
}

impl Rest {
    /// Opens a feed after the revision that `Last-Event-ID` names, or from now on.
    pub(super) async fn events(
        &self,
        head: &request::Parts,
        id: UniverseId,
        client: &Client,
    ) -> Result<Response<RestBody>, Failure> {
        let wanted = read::revision_header(head, &LAST_EVENT_ID)?;
        let record = self.service.store().record(&id).await;
        let record = record.map_err(|error| ServiceError::reading(&id, &error))?;
        let (present, oldest) = (record.head.revision, record.oldest);
        let place = client.hold(Kind::Listeners, 1)?;
        // An id from beyond the present is of another universe, and what came after one from before the log's
        // beginning is no longer kept: their readers must read the universe as it is.
        let (after, opening) = match wanted {
            Some(wanted) if wanted > present || wanted < oldest => {
                (present, format!("{OPENING}{}", reset(present)))
            }
            Some(wanted) => (wanted, OPENING.to_owned()),
            None => (present, OPENING.to_owned()),
        };
        let feed = Feed {
            entries: self.service.store().tail(&id, after),
            service: self.service.clone(),
            id,
            heartbeat: self.streams.heartbeat,
            closing: self.streams.closing.clone(),
            client: client.clone(),
            _place: place,
            _reader: Reader::open(),
        };
        let events = stream::unfold(Some(feed), |feed| async move {
            let mut feed = feed?;
            let (event, goes_on) = feed.next().await?;
            Some((event, goes_on.then_some(feed)))
        });
        let opening = stream::once(std::future::ready(Bytes::from(opening)));
        let body = StreamBody::new(opening.chain(events).map(|event| Ok(Frame::data(event))));
        let mut response = answer::with_body(StatusCode::OK, body.boxed_unsync());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        );
        Ok(response)
    }
}

impl Feed {
    /// The bytes of the next event and whether more may come; `None` when the server ends or cannot read on, and then
    /// the reader comes back with the last id it saw.
    async fn next(&mut self) -> Option<(Bytes, bool)> {
        let entry = tokio::select! {
            biased;
            _ = self.closing.wait_for(|closing| *closing) => return None,
            entry = self.entries.next() => entry?,
            () = tokio::time::sleep(self.heartbeat) => return Some((HEARTBEAT, true)),
        };
        match entry {
            // A reader that leaves as much unread as it may comes back for the rest.
            Ok(entry) => Some((self.client.keep(event(&entry)).ok()?, true)),
            Err(TailError::Deleted | TailError::NotFound) => {
                let data = json!({ "id": self.id.as_str() });
                Some((format!("event: deleted\ndata: {data}\n\n").into(), false))
            }
            Err(TailError::Ahead { head } | TailError::Trimmed { head, .. }) => {
                Some((reset(head).into(), false))
            }
            Err(TailError::Damaged { first, last }) => {
                self.entries = self.service.store().tail(&self.id, last);
                Some((damaged(first, last), true))
            }
            Err(TailError::Unavailable) => None,
        }
    }
}

/// An entry of the log as an event: `command` with the command, or `replaced` when name or state were put.
fn event(entry: &Entry) -> Bytes {
    let Entry { revision, body, .. } = entry;
    let entry = match LogEntry::read(body) {
        Ok(entry) => entry,
        Err(error) => {
            tracing::error!(%revision, %error, "an entry of the log cannot be read");
            return damaged(*revision, *revision);
        }
    };
    match entry.command {
        Some(command) => format!("event: command\nid: {revision}\ndata: {command}\n\n").into(),
        None => {
            let data = json!({ "name": entry.name, "state": entry.state.is_some() });
            format!("event: replaced\nid: {revision}\ndata: {data}\n\n").into()
        }
    }
}

/// Entries that cannot be told. The feed goes on after them, and so does a reader who comes back.
fn damaged(first: Revision, last: Revision) -> Bytes {
    let error = "these entries of the log are damaged; `universe-server check` says more";
    let data = json!({ "first": first, "last": last, "error": error });
    format!("event: damaged\nid: {last}\ndata: {data}\n\n").into()
}

fn reset(present: Revision) -> String {
    format!("event: reset\nid: {present}\ndata: {{\"revision\":{present}}}\n\n")
}
