//! Sessions of clients, beside the universes.
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use tokio::task::JoinSet;
use tokio::time::Instant;
use universe_store::adapter::keys::session_key;
use universe_store::adapter::lease::millis;
use universe_store::clients::nodes::Unavailable;
use universe_store::clients::sessions::{
    self, Change, LOOK, NOTED, SessionBounds, SessionError, TRIES,
};

use super::bodies::{self, Kind};
use super::events::drop_events;
use super::nodes::Nodes;
use super::records::{Label, Life, Records, Row, SESSIONS, share};

/// The number of longest message times after which pieces without a session are removed. It is more than one because a
/// node may be suspended for a moment between two messages.
const ABANDONED: u32 = 4;

/// The sessions of all nodes that use the same streams.
pub(super) struct Sessions {
    nodes: Arc<Nodes>,
    bounds: SessionBounds,
    _tasks: JoinSet<()>,
}

/// Whether there is room for one more session, or what must be done first.
enum Room {
    There,
    Ends(Arc<str>, Box<Row>),
    Full { is_share: bool },
}

impl Sessions {
    pub(super) fn start(nodes: Arc<Nodes>, bounds: SessionBounds) -> Self {
        let mut tasks = JoinSet::new();
        tasks.spawn(look(Arc::clone(nodes.records()), bounds.max_idle));
        Self { nodes, bounds, _tasks: tasks }
    }

    fn records(&self) -> &Records {
        self.nodes.records()
    }

    async fn insert(
        &self,
        name: &str,
        owner: Option<&str>,
        body: &[u8],
    ) -> Result<(), SessionError> {
        let records = self.records();
        for _ in 0..TRIES {
            records.catch_up().await?;
            match self.room(owner) {
                Room::There => {
                    let (body, inline) = records.keep(body, Life::Session(&place(name))).await?;
                    let label = Label { share: owner.map(str::to_owned), body, ..records.label() };
                    let put = records.put(&path(name), &label, inline, Some(0)).await?;
                    return put.map(drop).ok_or(SessionError::Unavailable);
                }
                // If it was used meanwhile, it stays and another session is ended.
                Room::Ends(path, row) => drop(end(records, &path, &row).await?),
                Room::Full { is_share } => {
                    let max = if is_share {
                        self.bounds.sessions_per_owner.max(1)
                    } else {
                        self.bounds.sessions
                    };
                    return Err(SessionError::Full { is_share, max });
                }
            }
        }
        Err(SessionError::Unavailable)
    }

    fn room(&self, owner: Option<&str>) -> Room {
        let table = self.records().table();
        let own = owner.map(|owner| share("session", owner));
        let has = own.as_ref().map_or(0, |own| table.count(own));
        let is_share = has >= self.bounds.sessions_per_owner.max(1);
        let is_full = table.count("session") >= self.bounds.sessions.max(1);
        let group = match (is_share, is_full, &own) {
            (true, _, Some(own)) => own,
            (_, true, _) => "session",
            _ => return Room::There,
        };
        let idle = self.records().now() - millis(self.bounds.in_use);
        let rows = table.group(group).filter(|(_, row)| row.label.used < idle);
        match rows.min_by_key(|(_, row)| row.label.used) {
            Some((path, row)) => Room::Ends(Arc::clone(path), Box::new(row.clone())),
            None => Room::Full { is_share },
        }
    }

    async fn load(&self, name: &str) -> Result<Option<Vec<u8>>, SessionError> {
        let (records, path) = (self.records(), path(name));
        let Some((row, body)) = self.read(&path).await? else {
            return Ok(None);
        };
        let noted = millis(NOTED.min(self.bounds.max_idle / 4));
        if row.label.used < records.now() - noted {
            let label = Label { by: records.id, used: records.now(), ..row.label.clone() };
            let after = Some(row.sequence);
            let inline = match label.body.pieces {
                Some(_) => Bytes::new(),
                None => body.clone(),
            };
            // If it was changed meanwhile, it was used. When the servers accept no writes, sessions still continue.
            let put = records.put(&path, &label, inline, after).await;
            if put.is_err() {
                tracing::warn!("the use of a session was not noted");
            }
        }
        Ok(Some(body.into()))
    }

    async fn change(
        &self,
        name: &str,
        change: &Change<'_>,
    ) -> Result<Option<Vec<u8>>, SessionError> {
        let (records, path) = (self.records(), path(name));
        for _ in 0..TRIES {
            let Some((row, found)) = self.read(&path).await? else {
                return Ok(None);
            };
            let Some(changed) = change(&found) else {
                return Ok(None);
            };
            let (body, inline) = records.keep(&changed, Life::Session(&place(name))).await?;
            let label = Label { by: records.id, used: records.now(), body, ..row.label.clone() };
            let put = records.put(&path, &label, inline, Some(row.sequence)).await?;
            if put.is_some() {
                records.forget(&row.label).await;
                return Ok(Some(changed));
            }
            records.forget(&label).await;
        }
        Err(SessionError::Unavailable)
    }

    async fn remove(&self, name: &str) -> Result<bool, SessionError> {
        let (records, path) = (self.records(), path(name));
        // All records of the session must be known.
        records.catch_up().await?;
        for _ in 0..TRIES {
            let Some(got) = records.living(&path).await? else {
                return Ok(false);
            };
            if end(records, &path, &got.row).await? {
                return Ok(got.row.label.used > records.now() - millis(self.bounds.max_idle));
            }
        }
        Err(SessionError::Unavailable)
    }

    /// The session with a path, if it has not ended.
    async fn read(&self, path: &str) -> Result<Option<(Row, Bytes)>, Unavailable> {
        let dead = self.records().now() - millis(self.bounds.max_idle);
        let found = self.records().read(path).await?;
        Ok(found.filter(|(row, _)| row.label.used > dead))
    }
}

impl sessions::Sessions for Sessions {
    fn insert<'a>(
        &'a self,
        name: &'a str,
        owner: Option<&'a str>,
        body: &'a [u8],
    ) -> BoxFuture<'a, Result<(), SessionError>> {
        Box::pin(self.insert(name, owner, body))
    }

    fn load<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>> {
        Box::pin(self.load(name))
    }

    fn change<'a>(
        &'a self,
        name: &'a str,
        change: &'a Change<'a>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, SessionError>> {
        Box::pin(self.change(name, change))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<bool, SessionError>> {
        Box::pin(self.remove(name))
    }

    fn hints(&self, name: &str) -> BoxStream<'static, ()> {
        self.records().hints(&path(name))
    }

    fn count(&self) -> usize {
        self.records().table().count("session")
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

/// The hash of a session's id, as used in paths.
pub(super) fn place(name: &str) -> String {
    HEXLOWER.encode(&session_key(name))
}

pub(super) fn path(name: &str) -> String {
    format!("session.{}", place(name))
}

/// Ends a session with all its records, if it has not changed. Returns whether it did.
async fn end(records: &Records, path: &str, row: &Row) -> Result<bool, Unavailable> {
    let place = path.strip_prefix("session.").unwrap_or_default();
    let below: Vec<(Arc<str>, Row)> = {
        let table = records.table();
        let below = ["letter", "head"].map(|kind| format!("{kind}.{place}."));
        let below = below.iter().flat_map(|path| table.below(path));
        below.map(|(path, row)| (Arc::clone(path), row.clone())).collect()
    };
    if !records.end(path, row).await? {
        return Ok(false);
    }
    if below.is_empty() {
        return Ok(true);
    }
    let (link, names) = (records.link(), &records.engine.names);
    for (path, row) in &below {
        records.forget(&row.label).await;
        if let Some(place) = path.strip_prefix("head.") {
            let numbers = row.label.first.max(1)..row.label.last.saturating_add(1);
            drop_events(records, place, numbers).await?;
        }
    }
    let stream = names.records();
    for kind in ["letter", "head"] {
        let subject = names.record(&format!("{kind}.{place}.*"));
        link.purge(&stream, &subject, None).await?;
    }
    let events = names.event(place, None);
    link.purge(&names.events(), &events, None).await?;
    Ok(true)
}

/// Regularly removes ended sessions and leftover pieces.
async fn look(records: Arc<Records>, max_idle: Duration) {
    let mut left = HashMap::new();
    loop {
        // A failed removal is repeated by another node or later.
        let _ = records.catch_up().await;
        let dead = records.now() - millis(max_idle);
        let dead: Vec<_> = {
            let table = records.table();
            let rows = table.group("session");
            let rows = rows.filter(|(_, row)| row.label.used < dead);
            rows.map(|(path, row)| (Arc::clone(path), row.clone())).collect()
        };
        for (path, row) in dead {
            if end(&records, &path, &row).await.is_err() {
                break;
            }
        }
        let _ = drop_left(&records, &mut left).await;
        tokio::time::sleep(LOOK.min(max_idle)).await;
    }
}

/// Removes pieces whose sessions do not exist, because a node died while it stored them or while it ended the session.
/// A session that is being stored will soon have more pieces or exist. So pieces are only removed if their number has
/// not changed for a while: `left` has the number of pieces of each body and the time since when it is the same.
async fn drop_left(
    records: &Records,
    left: &mut HashMap<String, (usize, Instant)>,
) -> Result<(), Unavailable> {
    let (link, names) = (records.link(), &records.engine.names);
    let mut found = bodies::named(link, names, SESSIONS).await?;
    // Data that was stored before the pieces were counted must be known.
    records.catch_up().await?;
    {
        let table = records.table();
        found.retain(|name, _| {
            let place = Kind::session_in(name).unwrap_or_default();
            table.get(&format!("session.{place}")).is_none()
        });
    }
    left.retain(|name, (count, _)| found.get(name) == Some(count));
    for (name, count) in found {
        let (_, since) = left.entry(name.clone()).or_insert_with(|| (count, Instant::now()));
        if since.elapsed() >= link.latest() * ABANDONED {
            bodies::drop_named(link, names, SESSIONS, &name).await;
        }
    }
    Ok(())
}
