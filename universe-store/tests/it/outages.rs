//! What becomes of entries when servers of PostgreSQL die, are replaced, or cannot be written to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use universe_store::postgres::PostgresStore;
use universe_store::{
    AppendError, CommandId, ReadError, Revision, TailError, UniverseId, UniverseLog,
};

use crate::cluster::Cluster;
use crate::nodes::open;
use crate::{HANG, after, entry, id, meta};
use futures_util::StreamExt as _;

const WRITERS: u64 = 16;

/// How long writers work between two mishaps.
const WHILE: Duration = Duration::from_millis(400);

/// What one who writes knows.
#[derive(Default)]
struct Written {
    done: Vec<(Revision, CommandId)>,
    /// What the store could not say of.
    unknown: Vec<CommandId>,
}

/// Two nodes: writers on the one, readers on the other.
struct Load {
    universes: Vec<UniverseId>,
    nodes: [Arc<PostgresStore>; 2],
    stop: watch::Sender<bool>,
    writers: Vec<tokio::task::JoinHandle<Written>>,
    readers: Vec<tokio::task::JoinHandle<Vec<CommandId>>>,
    /// How far each reader is to read, as soon as that is known.
    ends: Vec<watch::Sender<u64>>,
}

impl Load {
    async fn start(url: &str) -> Self {
        let nodes = [Arc::new(open(url).await), Arc::new(open(url).await)];
        let universes: Vec<_> = (0..WRITERS).map(|n| id(&format!("u{n}"))).collect();
        let (stop, _) = watch::channel(false);
        let (mut writers, mut readers, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for universe in &universes {
            let [one, other] = nodes.clone();
            one.create(meta(universe, 1), Bytes::new()).await.unwrap();
            let (id, stopped) = (universe.clone(), stop.subscribe());
            writers.push(tokio::spawn(
                async move { write(&one, &id, &stopped).await },
            ));
            let (id, (end, ended)) = (universe.clone(), watch::channel(u64::MAX));
            ends.push(end);
            readers.push(tokio::spawn(async move { read(&other, &id, ended).await }));
        }
        Self {
            universes,
            nodes,
            stop,
            writers,
            readers,
            ends,
        }
    }

    /// Stops it: every acknowledged entry is there once, each that was called unknown is there once or not at all, and the
    /// readers have seen what is there, in order and once.
    async fn judge(self) {
        self.stop.send_replace(true);
        let mut acknowledged = 0;
        let all = self
            .universes
            .iter()
            .zip(self.writers)
            .zip(self.ends)
            .zip(self.readers);
        for (((universe, writer), end), reader) in all {
            let Written { done, unknown } =
                tokio::time::timeout(HANG, writer).await.unwrap().unwrap();
            let head = self.nodes[0].record(universe).await.unwrap().head.revision;
            end.send_replace(head.0);
            let seen = tokio::time::timeout(HANG, reader).await.unwrap().unwrap();
            let there = history(&self.nodes[0], universe, head).await;
            assert_eq!(seen, there);
            let mut once = there.clone();
            once.sort_unstable();
            once.dedup();
            assert_eq!(once.len(), there.len(), "an entry is there twice");
            for (revision, command) in &done {
                assert_eq!(there[revision.0 as usize - 1], *command);
            }
            for command in there {
                assert!(done.iter().any(|(_, it)| *it == command) || unknown.contains(&command));
            }
            acknowledged += done.len();
        }
        assert!(acknowledged > 100, "{acknowledged}");
    }
}

/// Appends one entry after another.
async fn write(node: &PostgresStore, id: &UniverseId, stopped: &watch::Receiver<bool>) -> Written {
    let (mut written, mut head) = (Written::default(), 0);
    while !*stopped.borrow() {
        let new = entry("x");
        let command = new.command_id;
        match node.append(id, after(head, vec![new])).await {
            Ok(revision) => {
                written.done.push((revision, command));
                head = revision.0;
            }
            Err(AppendError::Unknown) => {
                written.unknown.push(command);
                while let Err(ReadError::Unavailable) = node.record(id).await.map(|it| {
                    head = it.head.revision.0;
                }) {}
            }
            Err(AppendError::Unavailable) => {}
            Err(AppendError::Conflict { head: found }) => head = found.revision.0,
            Err(problem) => panic!("{problem}"),
        }
    }
    written
}

/// Reads up to where it is told, and goes on after what it has seen whenever the store was away.
async fn read(
    node: &PostgresStore,
    id: &UniverseId,
    mut end: watch::Receiver<u64>,
) -> Vec<CommandId> {
    let mut seen = Vec::new();
    loop {
        let mut tail = node.tail(id, Revision(seen.len() as u64));
        loop {
            if seen.len() as u64 >= *end.borrow() {
                return seen;
            }
            let item = tokio::select! {
                item = tail.next() => item.unwrap(),
                changed = end.changed() => {
                    changed.unwrap();
                    continue;
                }
            };
            match item {
                Ok(entry) => {
                    assert_eq!(entry.revision.0, seen.len() as u64 + 1);
                    seen.push(entry.command_id);
                }
                Err(TailError::Unavailable) => break,
                Err(problem) => panic!("{problem}"),
            }
        }
    }
}

async fn history(node: &PostgresStore, id: &UniverseId, head: Revision) -> Vec<CommandId> {
    let entries = node.tail(id, Revision(0)).take(head.0 as usize);
    entries
        .map(|entry| entry.unwrap().command_id)
        .collect()
        .await
}

/// Does what waits for processes, in a thread of its own.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_every_death_of_the_server() {
    const KILLS: u64 = 4;
    let Some(mut cluster) = aside(|| Cluster::start(&[])).await else {
        return;
    };
    let load = Load::start(&cluster.database()).await;
    for _ in 0..KILLS {
        tokio::time::sleep(WHILE).await;
        cluster = aside(move || {
            cluster.kill();
            cluster.restart();
            cluster
        })
        .await;
    }
    tokio::time::sleep(WHILE).await;
    load.judge().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_is_on_the_standby_that_takes_over() {
    let Some((mut cluster, url)) = aside(|| {
        let cluster = Cluster::start(&[])?;
        let url = cluster.database();
        Some((cluster, url))
    })
    .await
    else {
        return;
    };
    let standby;
    (cluster, standby) = aside(move || {
        let standby = cluster.standby();
        (cluster, standby)
    })
    .await;
    let url = url.replacen('@', &format!("@{},", standby.host()), 1);
    let load = Load::start(&url).await;
    tokio::time::sleep(WHILE).await;
    let _ended = aside(move || {
        cluster.kill();
        standby.promote();
        (cluster, standby)
    })
    .await;
    tokio::time::sleep(WHILE).await;
    load.judge().await;
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_read_and_refuses_clearly() {
    let Some(cluster) = aside(|| Cluster::start(&["fsync=off"])).await else {
        return;
    };
    let node = open(&cluster.database()).await;
    let sol = id("sol");
    node.create(meta(&sol, 1), Bytes::new()).await.unwrap();
    cluster.sql("ALTER SYSTEM SET default_transaction_read_only = on");
    cluster.sql("SELECT pg_reload_conf()");
    // From some moment on.
    let mut head = 0;
    let refused = loop {
        match node.append(&sol, after(head, vec![entry("x")])).await {
            Ok(revision) => head = revision.0,
            Err(problem) => break problem,
        }
    };
    assert_eq!(refused, AppendError::Unavailable);
    assert_eq!(
        node.record(&sol).await.unwrap().head.revision,
        Revision(head)
    );
    cluster.sql("ALTER SYSTEM RESET default_transaction_read_only");
    cluster.sql("SELECT pg_reload_conf()");
    loop {
        match node.append(&sol, after(head, vec![entry("x")])).await {
            Ok(revision) => break assert_eq!(revision.0, head + 1),
            Err(problem) => assert_eq!(problem, AppendError::Unavailable),
        }
    }
}
