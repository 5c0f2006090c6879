//! The port of records: what is counted is known here, what one record has is read from the leader, and a write names
//! the message that it replaces.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use universe_store::adapter::keys::Key;
use universe_store::adapter::table::{self, Room, path, path_of};
use universe_store::clients::nodes::Unavailable;
use universe_store::clients::records::{
    self as port, Answer, Change, Events, Found, Id, Kind, Limits, New, Put, Stream, Write,
};

use super::events::ABREAST;
use super::logs;
use super::nodes::Node;
use super::records::{Label, Life, Row, TRIES};
use super::sweep::end;

impl Node {
    /// Whether there is room for a record, as far as anything was acknowledged before.
    async fn room(&self, new: &New<'_>) -> Result<Room, Unavailable> {
        let is_limited = new.share.is_some() || new.limits.all != Limits::default().all;
        if is_limited || new.above.is_some() {
            self.records.catch_up().await?;
        }
        Ok(self.records.table().room(new, self.records.now()))
    }

    /// The record with a path, unless its time is over.
    async fn row(&self, path: &str) -> Result<Option<Row>, Unavailable> {
        let got = self.records.living(path).await?;
        let now = self.records.now();
        Ok(got.map(|got| got.row).filter(|row| row.ends() > now))
    }

    /// The same with its body.
    async fn found(&self, kind: Kind, path: &str) -> Result<Option<Found>, Unavailable> {
        let Some((row, body)) = self.records.read(path).await? else {
            return Ok(None);
        };
        let left = row.ends().saturating_sub(self.records.now());
        let ttl = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        let found = Found {
            number: row.number(),
            version: version(kind, &row),
            ttl,
            node: row.label.node,
            is_orphaned: self.records.has_ended(row.label.node),
            body: body.into(),
            name: row.label.name,
            owner: row.label.owner,
        };
        Ok(Some(found).filter(|_| left > 0))
    }

    /// Reads records by their numbers and paths.
    async fn all(
        &self,
        kind: Kind,
        mut paths: Vec<(u64, Arc<str>)>,
        max: usize,
    ) -> Result<Vec<Found>, Unavailable> {
        paths.sort_unstable();
        paths.truncate(max);
        let read = |(_, path): (u64, Arc<str>)| async move { self.found(kind, &path).await };
        let found = stream::iter(paths).map(read).buffered(ABREAST);
        found.try_filter_map(async |found| Ok(found)).try_collect().await
    }
}

impl port::Records for Node {
    fn put<'a>(&'a self, new: New<'a>) -> Answer<'a, Put> {
        Box::pin(async move {
            let records = &self.records;
            for _ in 0..TRIES {
                let share = match self.room(&new).await? {
                    Room::Free(share) => share,
                    Room::Replaces(path) => {
                        let row = records.table().get(&path).cloned();
                        // If it was used meanwhile, it stays and another one gives way.
                        if let Some(row) = row {
                            end(records, &path, &row).await?;
                        }
                        continue;
                    }
                    Room::Full { is_share } => return Ok(Put::Full { is_share }),
                    Room::Missing => return Ok(Put::Missing),
                };
                let mut label = Label {
                    share,
                    owner: new.owner.map(str::to_owned),
                    name: new.name.map(str::to_owned),
                    bytes: new.body.len() as u64,
                    ..records.label()
                };
                records.lengthen(&mut label, new.id.kind, new.lives);
                let inline;
                let place = HEXLOWER.encode(&new.id.key);
                (label.body, inline) = records.keep(new.body, life(&label, &place)).await?;
                let put = records.put(&path_of(&new), &label, inline, Some(0)).await?;
                return put.map(Put::Stored).ok_or(Unavailable);
            }
            Err(Unavailable)
        })
    }

    fn read(&self, id: Id) -> Answer<'_, Option<Found>> {
        Box::pin(async move { self.found(id.kind, &path(id)).await })
    }

    fn result(&self, id: Id) -> Answer<'_, Option<Vec<u8>>> {
        Box::pin(async move {
            let path = path(id);
            let mut before = None;
            while let Some(row) = self.row(&path).await? {
                let Some(result) = &row.label.result else {
                    return Ok(None);
                };
                match self.records.load(result, Bytes::new()).await {
                    Ok(result) => return Ok(Some(result.into())),
                    // It was replaced meanwhile.
                    Err(Unavailable) if before.replace(row.sequence) != Some(row.sequence) => {}
                    Err(Unavailable) => return Err(Unavailable),
                }
            }
            Ok(None)
        })
    }

    fn replace<'a>(&'a self, id: Id, change: Change<'a>) -> Answer<'a, bool> {
        Box::pin(async move {
            let (records, path) = (&self.records, path(id));
            let is_it = |row: &Row| version(id.kind, row) == change.version;
            // What is known here needs no question; if it is old, it is not what is replaced.
            let mut known = {
                let (now, table) = (records.now(), records.table());
                table.get(&path).filter(|row| is_it(row) && row.ends() > now).cloned()
            };
            for _ in 0..TRIES {
                let row = match known.take() {
                    Some(row) => Some(row),
                    None => self.row(&path).await?.filter(is_it),
                };
                let Some(row) = row else {
                    return Ok(false);
                };
                let mut label = Label {
                    by: records.id,
                    version: row.label.version.saturating_add(1),
                    number: row.number(),
                    ..row.label.clone()
                };
                if let Some(lives) = change.lives {
                    records.lengthen(&mut label, id.kind, lives);
                }
                let (inline, result);
                let place = HEXLOWER.encode(&id.key);
                (label.body, inline) = records.keep(change.body, life(&label, &place)).await?;
                result = match change.result {
                    Some(result) => Some(records.keep_apart(result, life(&label, &place)).await?),
                    None => None,
                };
                label.result = result;
                let bytes = change.body.len() + change.result.map_or(0, <[u8]>::len);
                label.bytes = bytes as u64;
                if records.put(&path, &label, inline, Some(row.sequence)).await?.is_some() {
                    records.forget(&row.label).await;
                    return Ok(true);
                }
                records.forget(&label).await;
            }
            Err(Unavailable)
        })
    }

    fn extend(&self, id: Id, lives: Duration) -> Answer<'_, ()> {
        Box::pin(async move {
            let (records, path) = (&self.records, path(id));
            if let Some(got) = records.living(&path).await? {
                let mut label = Label { by: records.id, ..got.row.label };
                records.lengthen(&mut label, id.kind, lives);
                // If it was changed meanwhile, it was used.
                records.put(&path, &label, got.inline, Some(got.row.sequence)).await?;
            }
            Ok(())
        })
    }

    fn remove(&self, id: Id) -> Answer<'_, bool> {
        Box::pin(async move {
            let (records, path) = (&self.records, path(id));
            if id.kind == Kind::Session {
                // All that is below it must be known.
                records.catch_up().await?;
            }
            for _ in 0..TRIES {
                let Some(got) = records.living(&path).await? else {
                    return Ok(false);
                };
                if end(records, &path, &got.row).await? {
                    return Ok(got.row.ends() > records.now());
                }
            }
            Err(Unavailable)
        })
    }

    fn owned<'a>(&'a self, owner: &'a str, after: u64, max: usize) -> Answer<'a, Vec<Found>> {
        Box::pin(async move {
            self.records.catch_up().await?;
            let paths = {
                let (now, table) = (self.records.now(), self.records.table());
                let own = table.group(&table::owner(owner));
                let own = own.filter(|(_, row)| row.ends() > now && row.number() > after);
                own.map(|(path, row)| (row.number(), Arc::clone(path))).collect()
            };
            self.all(Kind::Task, paths, max).await
        })
    }

    fn below(&self, session: Key, after: u64) -> Answer<'_, Option<Vec<Found>>> {
        Box::pin(async move {
            let paths = {
                let table = self.records.table();
                if table.get(&path(Kind::Session.id(session))).is_none() {
                    return Ok(None);
                }
                let below = table.below(&format!("{}.", path(Kind::Letter.id(session))));
                let below = below.filter(|(_, row)| row.number() > after);
                below.map(|(path, row)| (row.number(), Arc::clone(path))).collect()
            };
            self.all(Kind::Letter, paths, usize::MAX).await.map(Some)
        })
    }

    fn newest(&self) -> u64 {
        self.records.known_until()
    }

    fn count(&self) -> usize {
        self.records.table().count(Kind::Session.name())
    }

    fn hints(&self, id: Id) -> BoxStream<'static, ()> {
        self.records.hints(&path(id))
    }

    fn stream_hints(&self, stream: Stream<'_>) -> BoxStream<'static, ()> {
        let head = format!("head.{}", logs::place(stream));
        let paths = [head, path(Kind::Session.id(stream.session))];
        stream::select_all(paths.map(|path| self.records.hints(&path))).boxed()
    }

    fn write<'a>(&'a self, writes: &'a [Write<'a>], keep: Duration) -> Answer<'a, ()> {
        Box::pin(logs::write(&self.records, writes, keep))
    }

    fn events<'a>(&'a self, stream: Stream<'a>, after: u64) -> Answer<'a, Option<Events>> {
        Box::pin(logs::read(&self.records, logs::place(stream), after))
    }
}

/// What a record shows as its version. A session that is used is written again, without another version.
fn version(kind: Kind, row: &Row) -> u64 {
    match kind {
        Kind::Session => row.sequence,
        Kind::Letter | Kind::Task => row.label.version,
    }
}

/// How long the bodies of a record are needed; `place` is the hash of its session if it is one.
fn life<'a>(label: &Label, place: &'a str) -> Life<'a> {
    match label.until {
        0 => Life::Session(place),
        until => Life::Until(until),
    }
}
