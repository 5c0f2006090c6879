//! The body of an answer on its way to the client, read while it passes.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream;
use http::Method;
use http::header::HeaderMap;
use http_body::Body as _;
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::Value;

use crate::record::session::Session;
use crate::record::{Key, Recorder};
use crate::sse::is_event_stream;
use crate::sse::{Decoder, Frame as Said, MAX_EVENT_BYTES};
use crate::target::Body;
use crate::transcript::Era;

/// Whose answer it is, and to what.
pub(super) struct Watch {
    pub(super) recorder: Recorder,
    pub(super) key: Key,
    pub(super) era: Era,
    /// The number of the request.
    pub(super) carrier: Option<u64>,
    pub(super) status: u16,
    pub(super) method: Method,
    /// The request.
    pub(super) sent: Option<Value>,
}

/// What has been read of it.
enum ReadBody {
    Events(Decoder),
    /// A body that is not a stream, as far as it was kept.
    Whole(Vec<u8>),
    /// More than is kept, or nothing that can be read.
    Lost,
}

/// The same body, which is kept while the client reads it. A client that leaves ends it.
pub(super) fn watched(headers: &HeaderMap, body: Body, watch: Watch) -> Body {
    let seen = if is_event_stream(headers) {
        if watch.method == Method::GET && watch.status == 200 {
            watch.recorder.with(&watch.key, watch.era, true, |session| session.listened());
        }
        ReadBody::Events(Decoder::default())
    } else {
        ReadBody::Whole(Vec::new())
    };
    let frames = stream::unfold((body, watch, Some(seen)), |(mut body, watch, seen)| async move {
        let mut seen = seen?;
        let frame = match body.frame().await {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Some((Err(error), (body, watch, None))),
            None => {
                watch.end(seen);
                return None;
            }
        };
        if let Some(bytes) = frame.data_ref() {
            seen = watch.see(seen, bytes);
        }
        // The connection does not ask again for a body whose length it knows.
        let left = if body.is_end_stream() {
            watch.end(seen);
            None
        } else {
            Some(seen)
        };
        Some((Ok(frame), (body, watch, left)))
    });
    StreamBody::new(frames).boxed_unsync()
}

impl Watch {
    fn see(&self, seen: ReadBody, bytes: &Bytes) -> ReadBody {
        match seen {
            ReadBody::Events(mut decoder) => {
                let mut frames = VecDeque::new();
                let read = decoder.push(bytes, &mut frames);
                for frame in frames {
                    if let Said::Event(event) = frame
                        && let Ok(message) = serde_json::from_str(&event.data)
                    {
                        self.event(message, event.id.as_deref());
                    }
                }
                read.map_or(ReadBody::Lost, |()| ReadBody::Events(decoder))
            }
            ReadBody::Whole(mut whole) if whole.len() + bytes.len() <= MAX_EVENT_BYTES => {
                whole.extend_from_slice(bytes);
                ReadBody::Whole(whole)
            }
            ReadBody::Whole(_) | ReadBody::Lost => ReadBody::Lost,
        }
    }

    fn end(&self, seen: ReadBody) {
        let ReadBody::Whole(whole) = seen else {
            return;
        };
        match serde_json::from_slice::<Value>(&whole) {
            Ok(Value::Array(batch)) => batch.into_iter().for_each(|message| self.message(message)),
            Ok(message) if message.get("jsonrpc").is_some() && self.carrier.is_some() => {
                self.message(message)
            }
            // An accepted notification, or answer, has no body.
            _ if self.status == 202 => {}
            _ => {
                let (method, sent) = (self.method.as_str(), self.sent.clone());
                let status = self.status;
                self.recorder
                    .with(&self.key, self.era, true, |session| session.plain(method, status, sent));
            }
        }
    }

    fn event(&self, message: Value, id: Option<&str>) {
        let again = |session: &mut Session| session.is_again(id);
        if self.recorder.with(&self.key, self.era, true, again) == Some(false) {
            self.message(message);
        }
    }

    fn message(&self, message: Value) {
        let (carrier, status) = (self.carrier, Some(self.status));
        self.recorder
            .with(&self.key, self.era, true, |session| session.server(message, carrier, status));
    }
}
