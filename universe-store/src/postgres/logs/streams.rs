//! Streams: events that one node writes in order, and others read on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use sha2::{Digest as _, Sha256};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::{LogError, Logs};
use crate::postgres::connect::Link;
use crate::postgres::nodes::{CHANNEL, Key, Nodes, Parameters, Unavailable, get, query};
use crate::postgres::sessions;

/// The most events of a stream in one read, and their bytes, but always one event.
const PAGE: (i64, i64) = (64, 256 * 1024);

/// How long the writer of a stream notifies of what it writes, after a reader has said that it reads.
const WATCHED: Duration = Duration::from_secs(30);

/// How long a database that failed is left alone.
const PAUSE: Duration = Duration::from_secs(1);

/// What a stream has come to.
#[derive(Debug, Clone)]
pub struct Write<'a> {
    /// The name of its session.
    pub session: &'a str,
    /// Its own name, unique in the session.
    pub stream: &'a str,
    /// What becomes of it.
    pub fate: Fate,
    /// What it is about, for those who find it abandoned; replaces what was there.
    pub about: &'a [u8],
    /// Events before the one of this number go.
    pub first: u64,
    /// What is new, each with its number; one that is there already stays as it is.
    pub events: Vec<(u64, &'a [u8])>,
}

/// What becomes of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// More may come.
    Open,
    /// This is all.
    Ended,
    /// It goes at once.
    Forgotten,
}

/// An event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its number in the stream.
    pub number: u64,
    /// Its text.
    pub text: Bytes,
}

/// What comes of a stream that is read on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tailed {
    /// The next events: at most 64, and 256 KiB or one event.
    Events(Vec<Event>),
    /// The node that wrote the stream has ended before the stream did: what it was about. Nothing comes after it.
    Abandoned(Bytes),
}

/// What readers of streams need.
pub(super) struct Streams {
    pub(super) nodes: Arc<Nodes>,
    pub(super) link: Arc<Link>,
    /// How long a node counts as alive after it was last heard of.
    pub(super) lease: Duration,
}

/// A stream in the database.
struct StreamRef {
    streams: Arc<Streams>,
    key: Key,
    name: String,
}

/// A stream that is read on.
struct Tail {
    stream: StreamRef,
    /// The number of the last event that was read.
    after: i64,
    hints: BoxStream<'static, ()>,
    /// When it was noted last that somebody reads.
    noted: Option<Instant>,
    over: bool,
}

/// A stream as it was found.
struct Found {
    node: Uuid,
    about: Vec<u8>,
    ended: bool,
    events: Vec<Event>,
}

/// Writes of several streams, a column for each of their parts, and their events.
#[derive(Default)]
struct Columns<'a> {
    key: Vec<Vec<u8>>,
    name: Vec<&'a str>,
    about: Vec<&'a [u8]>,
    ended: Vec<bool>,
    first: Vec<i64>,
    note: Vec<String>,
    /// Of which write an event is, from 1.
    of: Vec<i64>,
    number: Vec<i64>,
    text: Vec<&'a [u8]>,
}

impl Logs {
    /// Brings streams of this node to what they have come to, at most one write of each. May be repeated. A stream of a
    /// session that there is not is passed over, and so is one that another node has ended.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    pub async fn write(&self, writes: &[Write<'_>]) -> Result<(), LogError> {
        let mut columns = Columns::default();
        let (mut gone_key, mut gone_name) = (Vec::new(), Vec::new());
        for write in writes {
            let key = sessions::key(write.session);
            match write.fate {
                Fate::Forgotten => {
                    gone_key.push(key.to_vec());
                    gone_name.push(write.stream);
                }
                fate => columns.add(
                    &key,
                    write,
                    fate,
                    self.nodes.note(&news(&key, write.stream)),
                ),
            }
        }
        if !columns.key.is_empty() {
            self.put(&columns).await?;
        }
        if !gone_key.is_empty() {
            let sql = "DELETE FROM session_stream s USING unnest($1, $2) AS g(key, name) \
                       WHERE s.key = g.key AND s.name = g.name";
            let parameters: Parameters<'_> = &[
                (&gone_key, Type::BYTEA_ARRAY),
                (&gone_name, Type::TEXT_ARRAY),
            ];
            query(&self.link, sql, parameters).await?;
        }
        Ok(())
    }

    async fn put(&self, columns: &Columns<'_>) -> Result<(), LogError> {
        // Sessions are locked in one order, so that nodes do not wait for each other in a circle. A notification takes a
        // lock of the whole database, so only readers that there are get one.
        let sql = "WITH given AS MATERIALIZED ( \
                     SELECT * FROM unnest($1, $2, $3, $4, $5, $6) \
                       WITH ORDINALITY AS g(key, name, about, ended, first, note, n)), \
                   held AS MATERIALIZED ( \
                     SELECT key FROM session WHERE key = ANY($1) ORDER BY key FOR KEY SHARE), \
                   put AS ( \
                     INSERT INTO session_stream (key, name, node, about, ended, touched) \
                     SELECT g.key, g.name, $7, g.about, g.ended, now() FROM given g JOIN held USING (key) \
                     ORDER BY g.key, g.name \
                     ON CONFLICT (key, name) DO UPDATE \
                       SET node = excluded.node, about = excluded.about, ended = excluded.ended, touched = excluded.touched \
                       WHERE session_stream.node = excluded.node OR NOT session_stream.ended \
                     RETURNING id, key, name, watched > now() AS watched), \
                   said AS ( \
                     INSERT INTO session_event (stream, n, body) \
                     SELECT put.id, e.number, e.body FROM unnest($8, $9, $10) AS e(n, number, body) \
                       JOIN given g USING (n) JOIN put USING (key, name) \
                     ON CONFLICT DO NOTHING), \
                   forgotten AS ( \
                     DELETE FROM session_event e USING given g JOIN put USING (key, name) \
                     WHERE e.stream = put.id AND e.n < g.first) \
                   SELECT pg_notify($11, g.note)::text FROM given g JOIN put USING (key, name) WHERE put.watched";
        let parameters: Parameters<'_> = &[
            (&columns.key, Type::BYTEA_ARRAY),
            (&columns.name, Type::TEXT_ARRAY),
            (&columns.about, Type::BYTEA_ARRAY),
            (&columns.ended, Type::BOOL_ARRAY),
            (&columns.first, Type::INT8_ARRAY),
            (&columns.note, Type::TEXT_ARRAY),
            (&self.nodes.id(), Type::UUID),
            (&columns.of, Type::INT8_ARRAY),
            (&columns.number, Type::INT8_ARRAY),
            (&columns.text, Type::BYTEA_ARRAY),
            (&CHANNEL, Type::TEXT),
        ];
        query(&self.link, sql, parameters).await?;
        Ok(())
    }

    /// The events of a stream after the one of this number, first those that are kept, then those to come; `None` when
    /// there is no such stream. Ends when the stream has ended, or is not kept any more. While the database is away it
    /// waits.
    ///
    /// # Errors
    /// [`LogError::Unavailable`].
    pub async fn tail(
        &self,
        session: &str,
        stream: &str,
        after: u64,
    ) -> Result<Option<BoxStream<'static, Tailed>>, LogError> {
        let key = sessions::key(session);
        let tail = Tail {
            hints: self.nodes.hints(news(&key, stream)),
            stream: StreamRef {
                streams: Arc::clone(&self.streams),
                key,
                name: stream.to_owned(),
            },
            after: i64::try_from(after).unwrap_or(i64::MAX),
            noted: None,
            over: false,
        };
        if tail.stream.read(tail.after).await?.is_none() {
            return Ok(None);
        }
        Ok(Some(Box::pin(stream::unfold(
            tail,
            |mut tail| async move {
                let next = tail.next().await?;
                Some((next, tail))
            },
        ))))
    }
}

impl<'a> Columns<'a> {
    fn add(&mut self, key: &Key, write: &Write<'a>, fate: Fate, note: String) {
        self.key.push(key.to_vec());
        self.name.push(write.stream);
        self.about.push(write.about);
        self.ended.push(fate == Fate::Ended);
        self.first.push(write.first.cast_signed());
        self.note.push(note);
        for (number, text) in &write.events {
            self.of.push(super::whole(self.key.len()));
            self.number.push(number.cast_signed());
            self.text.push(text);
        }
    }
}

impl Tail {
    async fn next(&mut self) -> Option<Tailed> {
        if self.over {
            return None;
        }
        loop {
            // Before the look, so that what is written after it is notified of.
            let Ok(found) = self.look().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            if let Some(next) = self.take(found?) {
                return next;
            }
            let quiet = self.stream.streams.lease / 5;
            match tokio::time::timeout(quiet, self.hints.next()).await {
                Ok(hint) => hint?,
                Err(_elapsed) => {
                    if let Some(next) = self.look_after_writer().await {
                        return next;
                    }
                }
            }
        }
    }

    /// What was found, if it is anything to the reader.
    fn take(&mut self, found: Found) -> Option<Option<Tailed>> {
        if let Some(last) = found.events.last() {
            self.after = last.number.cast_signed();
            return Some(Some(Tailed::Events(found.events)));
        }
        self.over = found.ended;
        found.ended.then_some(None)
    }

    /// Nothing came for a while: whether its node has ended.
    async fn look_after_writer(&mut self) -> Option<Option<Tailed>> {
        let stream = &self.stream;
        let Ok(Some(found)) = stream.read(self.after).await else {
            return None;
        };
        match stream.streams.nodes.alive(&[found.node]).await {
            Ok(alive) if alive.is_empty() => {}
            _ => return None,
        }
        // What it wrote last may have come after the first look.
        let Ok(found) = stream.read(self.after).await else {
            return None;
        };
        let Some(found) = found else {
            return Some(None);
        };
        let about = found.about.clone();
        Some(self.take(found).unwrap_or_else(|| {
            self.over = true;
            Some(Tailed::Abandoned(about.into()))
        }))
    }

    /// Has the writer notify of what it writes, and looks at what it wrote.
    async fn look(&mut self) -> Result<Option<Found>, Unavailable> {
        let fresh = |noted: Instant| noted.elapsed() < WATCHED / 2;
        if !self.noted.is_some_and(fresh) {
            let noted = Instant::now();
            self.stream.note().await?;
            self.noted = Some(noted);
        }
        self.stream.read(self.after).await
    }
}

impl StreamRef {
    async fn note(&self) -> Result<(), Unavailable> {
        let sql = "UPDATE session_stream SET watched = now() + make_interval(secs => $3) \
                   WHERE key = $1 AND name = $2 AND NOT ended";
        let parameters: Parameters<'_> = &[
            (&&self.key[..], Type::BYTEA),
            (&self.name, Type::TEXT),
            (&WATCHED.as_secs_f64(), Type::FLOAT8),
        ];
        query(&self.streams.link, sql, parameters).await.map(drop)
    }

    /// The stream as it is, with its next events; `None` when there is none.
    async fn read(&self, after: i64) -> Result<Option<Found>, Unavailable> {
        // One statement: one view of the stream and its events. The length of a text is known without reading it.
        let sql = "SELECT s.node, s.about, s.ended, e.n, e.body FROM session_stream s LEFT JOIN LATERAL ( \
                     SELECT n, body FROM ( \
                       SELECT *, sum(octet_length(body)) OVER (ORDER BY n) - octet_length(body) AS before FROM ( \
                         SELECT * FROM session_event e WHERE e.stream = s.id AND e.n > $3 ORDER BY n LIMIT $4) page) sized \
                     WHERE before <= $5) e ON true \
                   WHERE s.key = $1 AND s.name = $2 ORDER BY e.n";
        let parameters: Parameters<'_> = &[
            (&&self.key[..], Type::BYTEA),
            (&self.name, Type::TEXT),
            (&after, Type::INT8),
            (&PAGE.0, Type::INT8),
            (&PAGE.1, Type::INT8),
        ];
        let rows = query(&self.streams.link, sql, parameters).await?;
        let Some(row) = rows.first() else {
            return Ok(None);
        };
        let mut found = Found {
            node: get(row, 0)?,
            about: get(row, 1)?,
            ended: get(row, 2)?,
            events: Vec::new(),
        };
        for row in &rows {
            if let Some(number) = get::<Option<i64>>(row, 3)? {
                found.events.push(Event {
                    number: number.cast_unsigned(),
                    text: get::<Vec<u8>>(row, 4)?.into(),
                });
            }
        }
        Ok(Some(found))
    }
}

/// The record by which nodes are notified of a stream.
fn news(key: &Key, stream: &str) -> Key {
    Sha256::new()
        .chain_update(b"stream")
        .chain_update(key)
        .chain_update(stream)
        .finalize()
        .into()
}
