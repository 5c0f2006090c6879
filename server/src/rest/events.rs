//! `GET /universes/{id}/events`: the feed of a universe as server-sent events, read from its log.
//!
//! The id of each event is its revision, so a reader that comes back with `Last-Event-ID` continues without a gap.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{StatusCode, request};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use mcp_proto::budget::{Client, Held, Kind};
use serde_json::json;
use tokio::sync::watch;
use uuid::Uuid;

use super::answer::{self, Answer};
use super::channel::{self, Channel, Channels, EventText, Latest};
use super::{Rest, Stage, read};
use crate::commands::ServiceError;
use crate::metrics::Reader;
use crate::store::{Revision, TailError, UniverseId};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The first bytes of each feed, with the time in milliseconds that a browser waits before it reconnects.
const OPENING: &str = ":connected\n\nretry: 2000\n\n";
const HEARTBEAT: Bytes = Bytes::from_static(b":heartbeat\n\n");

/// The open feeds.
#[derive(Debug)]
pub(super) struct Streams {
    heartbeat: Duration,
    stage: watch::Receiver<Stage>,
    channels: Channels,
}

/// An open feed. Its reader holds one piece of an event and the connection's buffers.
struct Feed {
    channel: Arc<Channel>,
    latest: watch::Receiver<Latest>,
    id: UniverseId,
    /// The last revision whose event was started.
    last: Revision,
    /// The event being sent, and the number of its bytes that were sent.
    begun: Option<(Arc<EventText>, usize)>,
    heartbeat: Duration,
    stage: watch::Receiver<Stage>,
    _place: Held,
    _reader: Reader,
}

impl Streams {
    pub(super) fn new(heartbeat: Duration, stage: watch::Receiver<Stage>) -> Self {
        Self { heartbeat, stage, channels: Channels::default() }
    }

    /// The stage of the server.
    pub(super) fn stage(&self) -> Stage {
        *self.stage.borrow()
    }
}

impl Rest {
    /// Opens a feed after the revision in `Last-Event-ID`, or from now on.
    pub(super) async fn events(
        &self,
        head: &request::Parts,
        id: UniverseId,
        client: &Client,
    ) -> Answer {
        let wanted = read::revision_header(head, &LAST_EVENT_ID)?;
        let record = self.service.store().record(&id).await;
        let record = record.map_err(|error| ServiceError::reading(&id, &error))?;
        let (present, oldest) = (record.head.revision, record.oldest);
        let place = client.hold(Kind::Listeners, 1)?;
        // An id after the present revision belongs to another universe. The events after an id before the log's
        // beginning are no longer kept. In both cases the reader must read the whole universe again.
        let (after, opening) = match wanted {
            Some(wanted) if wanted > present || wanted < oldest => {
                (present, format!("{OPENING}{}", reset(present)))
            }
            Some(wanted) => (wanted, OPENING.to_owned()),
            None => (present, OPENING.to_owned()),
        };
        let channel = self.streams.channels.open(&self.service, &id, present);
        let feed = Feed {
            latest: channel.latest(),
            channel,
            id,
            last: after,
            begun: None,
            heartbeat: self.streams.heartbeat,
            stage: self.streams.stage.clone(),
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
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
        headers
            .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
        Ok(response)
    }
}

impl Feed {
    /// The next bytes, and whether more may follow. `None` when the feed ends; the reader then reconnects with the last
    /// id it saw.
    async fn next(&mut self) -> Option<(Bytes, bool)> {
        loop {
            if self.begun.is_some() {
                return self.piece();
            }
            if *self.stage.borrow() == Stage::Ending {
                return Some((farewell(), false));
            }
            let latest = *self.latest.borrow_and_update();
            let latest = match latest {
                Latest::At(latest) => latest,
                Latest::Deleted => return Some((self.deleted(), false)),
                Latest::Lost => return None,
            };
            if self.last < latest {
                match self.channel.after(self.last, latest).await {
                    Ok(text) => {
                        self.last = Revision(self.last.0 + 1);
                        self.begun = Some((text, 0));
                    }
                    Err(TailError::Deleted | TailError::NotFound) => {
                        return Some((self.deleted(), false));
                    }
                    Err(TailError::Ahead { head } | TailError::Trimmed { head, .. }) => {
                        return Some((reset(head).into(), false));
                    }
                    Err(TailError::Damaged { first, last }) => {
                        self.last = last;
                        return Some((channel::damaged(first, last), true));
                    }
                    Err(TailError::Unavailable) => return None,
                }
                continue;
            }
            tokio::select! {
                biased;
                _ = self.stage.wait_for(|stage| *stage == Stage::Ending) => {
                    return Some((farewell(), false));
                }
                changed = self.latest.changed() => changed.ok()?,
                () = tokio::time::sleep(self.heartbeat) => return Some((HEARTBEAT, true)),
            }
        }
    }

    /// The next piece of the event being sent. `None` if its text was dropped.
    fn piece(&mut self) -> Option<(Bytes, bool)> {
        let (text, given) = self.begun.take()?;
        let (piece, is_last) = text.piece(given)?;
        if !is_last {
            self.begun = Some((text, given + piece.len()));
        }
        Some((piece, true))
    }

    fn deleted(&self) -> Bytes {
        let data = json!({ "id": self.id.as_str() });
        format!("event: deleted\ndata: {data}\n\n").into()
    }
}

/// The last bytes of a feed when the server ends: a reconnection time, spread over a second.
fn farewell() -> Bytes {
    let scattered = Uuid::new_v4().as_u64_pair().0 % 1_000;
    format!("retry: {}\n\n", 250 + scattered).into()
}

fn reset(present: Revision) -> String {
    format!("event: reset\nid: {present}\ndata: {{\"revision\":{present}}}\n\n")
}
