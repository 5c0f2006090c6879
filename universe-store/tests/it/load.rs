//! Writers on one node and readers on another one, while something happens to the store; and whether all is there that
//! was acknowledged, once.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::sync::watch;
use universe_store::{
    AppendError, Appended, CommandId, ReadError, Revision, TailError, UniverseId, UniverseLog,
};

use crate::{HANG, after, entry, id, meta};

const WRITERS: u64 = 16;

/// How long writers work between two mishaps.
pub(crate) const WHILE: Duration = Duration::from_millis(400);

/// What one who writes knows.
#[derive(Default)]
struct Written {
    done: Vec<(Revision, CommandId)>,
    /// What the store could not say of.
    unknown: Vec<CommandId>,
}

/// Two nodes: writers on the one, readers on the other.
pub(crate) struct Load {
    universes: Vec<UniverseId>,
    nodes: [Arc<dyn UniverseLog>; 2],
    stop: watch::Sender<bool>,
    writers: Vec<tokio::task::JoinHandle<Written>>,
    readers: Vec<tokio::task::JoinHandle<Vec<CommandId>>>,
    /// How far each reader is to read, as soon as that is known.
    ends: Vec<watch::Sender<u64>>,
}

impl Load {
    pub(crate) async fn start(nodes: [Arc<dyn UniverseLog>; 2]) -> Self {
        let universes: Vec<_> = (0..WRITERS).map(|n| id(&format!("u{n}"))).collect();
        let (stop, _) = watch::channel(false);
        let (mut writers, mut readers, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for universe in &universes {
            let [one, other] = nodes.clone();
            one.create(meta(universe, 1), Bytes::new()).await.unwrap();
            let (id, stopped) = (universe.clone(), stop.subscribe());
            writers.push(tokio::spawn(async move { write(&*one, &id, &stopped).await }));
            let (id, (end, ended)) = (universe.clone(), watch::channel(u64::MAX));
            ends.push(end);
            readers.push(tokio::spawn(async move { read(&*other, &id, ended).await }));
        }
        Self { universes, nodes, stop, writers, readers, ends }
    }

    /// Stops it: every acknowledged entry is there once, each that was called unknown is there once or not at all, and
    /// the readers have seen what is there, in order and once.
    pub(crate) async fn judge(self) {
        self.stop.send_replace(true);
        let (mut acknowledged, mut open) = (0, 0);
        let all = self.universes.iter().zip(self.writers).zip(self.ends).zip(self.readers);
        for (((universe, writer), end), reader) in all {
            let Written { done, unknown } =
                tokio::time::timeout(HANG, writer).await.unwrap().unwrap();
            let head = back(&*self.nodes[0], universe).await;
            end.send_replace(head.0);
            let seen = tokio::time::timeout(HANG, reader).await.unwrap().unwrap();
            let there = history(&*self.nodes[0], universe, head).await;
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
            open += unknown.len();
        }
        println!("{acknowledged} acknowledged, {open} not known to be; 0 lost, 0 doubled");
        assert!(acknowledged > 100, "{acknowledged}");
    }
}

/// The head, as soon as the store is back: while it is away, it refuses at once.
async fn back(node: &dyn UniverseLog, id: &UniverseId) -> Revision {
    let found = async {
        loop {
            match node.record(id).await {
                Ok(record) => return record.head.revision,
                Err(ReadError::Unavailable) => tokio::time::sleep(Duration::from_millis(20)).await,
                Err(problem) => panic!("{problem}"),
            }
        }
    };
    tokio::time::timeout(HANG, found).await.expect("the store comes back")
}

/// Appends one entry after another.
async fn write(
    node: &dyn UniverseLog,
    id: &UniverseId,
    stopped: &watch::Receiver<bool>,
) -> Written {
    let (mut written, mut head) = (Written::default(), 0);
    while !*stopped.borrow() {
        let new = entry("x");
        let command = new.command_id;
        match node.append(id, after(head, vec![new])).await {
            Ok(Appended { revision, .. }) => {
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

/// Reads up to the given revision, and goes on after what it has seen whenever the store was away.
async fn read(
    node: &dyn UniverseLog,
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

async fn history(node: &dyn UniverseLog, id: &UniverseId, head: Revision) -> Vec<CommandId> {
    let entries = node.tail(id, Revision(0)).take(head.0 as usize);
    entries.map(|entry| entry.unwrap().command_id).collect().await
}
