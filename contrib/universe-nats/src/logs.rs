//! What nodes share of sessions that are at work: an inbox for each, and the event streams of its calls.
//!
//! A letter is a record, which the servers take away after a while. A stream of events is a record, its head, which
//! says who writes it and which events there are; each event is a message of a stream of its own, which no node
//! follows.
//!
//! The head of a stream is written after its events: a reader asks for the events up to there by their numbers, and a
//! repeated write finds what is there.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use percent_encoding::utf8_percent_encode;
use tokio::task::JoinSet;
use universe_store::adapter::lease::{REFRESHES, millis};
use universe_store::adapter::logs::{self, Events, Found, LOOK, Letters, Numbered, PAGE, SLACK};
use universe_store::clients::logs::{
    self as port, Fate, LetterBound, LogBounds, LogError, Tailed, Write,
};
use universe_store::clients::nodes::Unavailable;
use uuid::Uuid;

use super::events::{ABREAST, drop_events, life, put_event, read_event};
use super::names::ESCAPED;
use super::nodes::Nodes;
use super::records::{Label, Life, Records, Row, share};
use super::sessions::{self, place};

/// How often a write is tried when another write was first, or the server reports that.
const TRIES: usize = 16;

/// The inboxes and streams of all nodes that use the same NATS servers.
pub(super) struct Logs {
    nodes: Arc<Nodes>,
    bounds: LogBounds,
    _tasks: JoinSet<()>,
}

/// An inbox in the records.
struct Inbox {
    nodes: Arc<Nodes>,
    /// The hash of its session.
    place: String,
    /// Letters that were known when it was opened are not for this reader, unless they are younger than `since`.
    known: u64,
    since: i64,
}

/// A stream in the records.
struct StreamRef {
    nodes: Arc<Nodes>,
    /// Its path among all streams: the hash of its session, and its name.
    place: String,
}

impl Logs {
    pub(super) fn start(nodes: Arc<Nodes>, bounds: LogBounds) -> Self {
        let mut tasks = JoinSet::new();
        tasks.spawn(look(Arc::clone(nodes.records()), bounds.keep_streams));
        Self { nodes, bounds, _tasks: tasks }
    }

    fn records(&self) -> &Records {
        self.nodes.records()
    }

    async fn send(&self, session: &str, letter: &[u8]) -> Result<(), LogError> {
        let records = self.records();
        records.catch_up().await?;
        let place = place(session);
        let Some(owner) = self.check(&place, letter.len())? else {
            return Ok(());
        };
        let keep = millis(self.bounds.keep_letters);
        let until = records.now().saturating_add(keep);
        let (body, inline) = records.keep(letter, Life::Until(until)).await?;
        let label = Label {
            share: Some(owner),
            until,
            bytes: letter.len() as u64,
            body,
            ..records.label()
        };
        let path = format!("letter.{place}.{}", Uuid::new_v4().simple());
        records.put(&path, &label, inline, None).await?;
        Ok(())
    }

    /// Checks whether there is room for a letter of this size. Returns the client whose share it takes, or `None` if
    /// the session does not exist.
    fn check(&self, place: &str, size: usize) -> Result<Option<String>, LogError> {
        let (now, table) = (self.records().now(), self.records().table());
        let Some(session) = table.get(&format!("session.{place}")) else {
            return Ok(None);
        };
        let owner = session.label.share.clone().unwrap_or_default();
        let room = |rows: &mut dyn Iterator<Item = (&Arc<str>, &Row)>, most: LetterBound| {
            let (mut letters, mut bytes) = (0, size as u64);
            for (_, row) in rows.filter(|(_, row)| row.label.until > now) {
                letters += 1;
                bytes = bytes.saturating_add(row.label.bytes);
            }
            letters < most.letters && bytes <= most.bytes as u64
        };
        let of_all = LetterBound { letters: usize::MAX, bytes: self.bounds.bytes };
        let (of_session, of_owner) = (self.bounds.of_session, self.bounds.of_owner);
        let has_room = room(&mut table.below(&format!("letter.{place}.")), of_session)
            && room(&mut table.group(&share("letter", &owner)), of_owner)
            && room(&mut table.group("letter"), of_all);
        if !has_room {
            return Err(LogError::Full);
        }
        Ok(Some(owner))
    }

    async fn write(&self, writes: &[Write<'_>]) -> Result<(), LogError> {
        // All sessions must be known.
        self.records().catch_up().await?;
        let mut written: Vec<BoxFuture<'_, _>> = Vec::new();
        for write in writes {
            written.push(Box::pin(self.write_one(write)));
        }
        let written = stream::iter(written).buffer_unordered(ABREAST);
        written.try_for_each(async |()| Ok(())).await?;
        Ok(())
    }

    async fn write_one(&self, write: &Write<'_>) -> Result<(), Unavailable> {
        let records = self.records();
        let place = stream_place(write.session, write.stream);
        let path = format!("head.{place}");
        for _ in 0..TRIES {
            let got = records.get(&path).await?;
            if write.fate == Fate::Forgotten {
                match got.filter(|got| !got.row.label.gone) {
                    Some(got) if !drop_stream(records, &place, &got.row).await? => continue,
                    _ => return Ok(()),
                }
            }
            let is_there = records.table().get(&sessions::path(write.session)).is_some();
            if !is_there || self.advance(write, &place, got.map(|got| got.row)).await? {
                return Ok(());
            }
        }
        Err(Unavailable)
    }

    /// Writes the events of a stream and then its head, replacing the given one. Returns `false` if another node has
    /// written the head meanwhile.
    async fn advance(
        &self,
        write: &Write<'_>,
        place: &str,
        head: Option<Row>,
    ) -> Result<bool, Unavailable> {
        let (records, path) = (self.records(), format!("head.{place}"));
        let sequence = head.as_ref().map_or(0, |head| head.sequence);
        let before = head.map(|head| head.label).filter(|label| !label.gone);
        if let Some(before) = &before
            && before.ended
            && before.node != records.id
        {
            return Ok(true);
        }
        let (first, last) = before.as_ref().map_or((0, 0), |it| (it.first, it.last));
        let (mut newest, mut put) = (last, Vec::<BoxFuture<'_, _>>::new());
        for (number, text) in &write.events {
            if *number > last {
                newest = newest.max(*number);
                put.push(Box::pin(put_event(records, place, *number, text)));
            }
        }
        let put = stream::iter(put).buffered(ABREAST);
        put.try_for_each(async |()| Ok(())).await?;
        let (body, inline) = records.keep(write.about, life(place)).await?;
        let label = Label {
            first: first.max(write.first),
            last: newest,
            ended: write.fate == Fate::Ended,
            body,
            ..records.label()
        };
        let put = records.put(&path, &label, inline, Some(sequence)).await?;
        if put.is_none() {
            records.forget(&label).await;
            return Ok(false);
        }
        if let Some(before) = &before {
            records.forget(before).await;
        }
        // The oldest event that is kept is known from the second write on.
        if first > 0 {
            drop_events(records, place, first..label.first.min(last + 1)).await?;
        }
        Ok(true)
    }
}

impl port::Logs for Logs {
    fn send<'a>(
        &'a self,
        session: &'a str,
        letter: &'a [u8],
    ) -> BoxFuture<'a, Result<(), LogError>> {
        Box::pin(self.send(session, letter))
    }

    fn inbox(&self, session: &str) -> BoxStream<'static, Bytes> {
        let (records, place) = (self.records(), place(session));
        let paths = [format!("letter.{place}"), format!("session.{place}")];
        let hints = paths.map(|path| records.hints(&path));
        let inbox = Inbox {
            nodes: Arc::clone(&self.nodes),
            place,
            known: records.known_until(),
            since: records.now() - millis(SLACK),
        };
        logs::inbox(inbox, hints)
    }

    fn write<'a>(&'a self, writes: &'a [Write<'a>]) -> BoxFuture<'a, Result<(), LogError>> {
        Box::pin(self.write(writes))
    }

    fn tail<'a>(
        &'a self,
        session: &'a str,
        stream: &'a str,
        after: u64,
    ) -> BoxFuture<'a, Result<Option<BoxStream<'static, Tailed>>, LogError>> {
        let records = self.records();
        let place = stream_place(session, stream);
        let paths = [format!("head.{place}"), sessions::path(session)];
        let hints = stream::select_all(paths.map(|path| records.hints(&path)));
        let quiet = records.lease.length / REFRESHES;
        let stream = StreamRef { nodes: Arc::clone(&self.nodes), place };
        Box::pin(logs::tail(Arc::new(stream), hints.boxed(), after, quiet))
    }
}

impl Letters for Inbox {
    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Numbered>, Unavailable>> {
        Box::pin(async move {
            let records = self.nodes.records();
            let mut letters: Vec<(u64, Arc<str>)> = {
                let table = records.table();
                if table.get(&format!("session.{}", self.place)).is_none() {
                    return Ok(None);
                }
                let letters = table.below(&format!("letter.{}.", self.place));
                let letters = letters.filter(|(_, row)| {
                    let is_new = row.sequence > self.known || row.label.used > self.since;
                    row.sequence > after && is_new && row.label.by != records.id
                });
                letters.map(|(path, row)| (row.sequence, Arc::clone(path))).collect()
            };
            letters.sort_unstable();
            let read = |(sequence, path): (u64, Arc<str>)| async move {
                let letter = records.read(&path).await?;
                Ok(letter.map(|(_, letter)| (sequence, letter)))
            };
            let read = stream::iter(letters).map(read).buffered(ABREAST);
            let read = read.try_filter_map(async |letter| Ok(letter));
            read.try_collect().await.map(Some)
        })
    }
}

impl Events for StreamRef {
    fn note(&self) -> BoxFuture<'_, Result<(), Unavailable>> {
        // Each node receives the heads of all streams.
        Box::pin(std::future::ready(Ok(())))
    }

    fn read(&self, after: u64) -> BoxFuture<'_, Result<Option<Found>, Unavailable>> {
        Box::pin(async move {
            let (records, path) = (self.nodes.records(), format!("head.{}", self.place));
            let Some((row, about)) = records.read(&path).await? else {
                return Ok(None);
            };
            let Label { first, last, .. } = row.label;
            let numbers = after.saturating_add(1).max(first)..=last;
            let read = |number| read_event(records, &self.place, number);
            let mut read = stream::iter(numbers).map(read).buffered(ABREAST);
            let (mut events, mut size) = (Vec::new(), 0);
            while events.len() < PAGE.0 && size <= PAGE.1 {
                match read.try_next().await? {
                    Some(Some(event)) => {
                        size += event.text.len();
                        events.push(event);
                    }
                    // The event was removed.
                    Some(None) => {}
                    None => break,
                }
            }
            Ok(Some(Found { node: row.label.node, about, ended: row.label.ended, events }))
        })
    }

    fn has_ended(&self, node: Uuid) -> BoxFuture<'_, bool> {
        Box::pin(std::future::ready(self.nodes.records().has_ended(node)))
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").finish_non_exhaustive()
    }
}

/// The path of a stream among all streams.
fn stream_place(session: &str, stream: &str) -> String {
    format!("{}.{}", place(session), utf8_percent_encode(stream, ESCAPED))
}

/// Removes a stream if its head is still the given one. Returns whether it was.
async fn drop_stream(records: &Records, place: &str, head: &Row) -> Result<bool, Unavailable> {
    if !records.end(&format!("head.{place}"), head).await? {
        return Ok(false);
    }
    let numbers = head.label.first.max(1)..head.label.last.saturating_add(1);
    drop_events(records, place, numbers).await?;
    Ok(true)
}

/// Regularly removes streams that are too old or whose sessions have ended.
async fn look(records: Arc<Records>, keep: Duration) {
    loop {
        // A failed removal is repeated by another node or later.
        let _ = records.catch_up().await;
        let old = records.now() - millis(keep);
        let over: Vec<_> = {
            let table = records.table();
            let over = table.group("head").filter(|(path, row)| {
                let session = path.split('.').nth(1).unwrap_or_default();
                let is_over = row.label.ended || records.has_ended_in(&table, row.label.node);
                row.label.used < old && is_over
                    || table.get(&format!("session.{session}")).is_none()
            });
            over.map(|(path, row)| (Arc::clone(path), row.clone())).collect()
        };
        for (path, row) in over {
            let place = path.strip_prefix("head.").unwrap_or_default();
            if drop_stream(&records, place, &row).await.is_err() {
                break;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}
