//! Running calls of sessions of the handshake revisions of MCP, in a store that servers share. Any server can continue
//! the streams of another server's calls, and passes on the messages that a client sends for them.

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use mcp_proto::session::{
    EventStore, EventStoreError, SessionId, StreamEvent, StreamFate, StreamWrite, Tailed,
};

use crate::store::clients::logs::{self, Event, Fate, LogError, Logs, Write};

type Answer<'a, T> = BoxFuture<'a, Result<T, EventStoreError>>;

/// The inboxes and streams of all servers that use one store.
#[derive(Debug)]
pub(super) struct SharedEvents(pub(super) Logs);

impl EventStore for SharedEvents {
    fn send<'a>(&'a self, session: &'a SessionId, message: Bytes) -> Answer<'a, ()> {
        Box::pin(async move {
            let sent = self.0.send(session.as_str(), &message).await;
            sent.map_err(failed)
        })
    }

    fn inbox(&self, session: &SessionId) -> BoxStream<'static, Bytes> {
        self.0.inbox(session.as_str())
    }

    fn write<'a>(&'a self, writes: &'a [StreamWrite]) -> Answer<'a, ()> {
        Box::pin(async move {
            let writes: Vec<_> = writes.iter().map(write).collect();
            self.0.write(&writes).await.map_err(failed)
        })
    }

    fn tail<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        after: u64,
    ) -> Answer<'a, Option<BoxStream<'static, Tailed>>> {
        Box::pin(async move {
            let tail = self.0.tail(session.as_str(), stream, after).await;
            let tail = tail.map_err(failed)?;
            Ok(tail.map(|tail| tail.filter_map(async |tailed| read(tailed)).boxed()))
        })
    }
}

fn write(write: &StreamWrite) -> Write<'_> {
    let events = write.events.iter();
    Write {
        session: write.session.as_str(),
        stream: &write.stream,
        fate: match write.fate {
            StreamFate::Open => Fate::Open,
            StreamFate::Ended => Fate::Ended,
            StreamFate::Forgotten => Fate::Forgotten,
        },
        about: &write.about,
        first: write.first,
        events: events.map(|event| (event.number, &event.text[..])).collect(),
    }
}

fn read(tailed: logs::Tailed) -> Option<Tailed> {
    let event = |Event { number, text }| StreamEvent { number, text };
    match tailed {
        logs::Tailed::Events(events) => {
            Some(Tailed::Events(events.into_iter().map(event).collect()))
        }
        logs::Tailed::Abandoned(about) => Some(Tailed::Abandoned(about)),
        _ => None,
    }
}

fn failed(error: LogError) -> EventStoreError {
    match error {
        LogError::Full => EventStoreError::Full,
        error => EventStoreError::Unavailable(error.to_string()),
    }
}
