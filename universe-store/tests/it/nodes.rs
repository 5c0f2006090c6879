//! Several nodes on one database, and servers that die.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use universe_store::postgres::{PostgresError, PostgresOptions, PostgresStore};
use universe_store::{AppendError, CommandId, ReadError, Revision, TailError, UniverseLog};

use crate::cluster::{Cluster, database, open};
use crate::{HANG, after, entry, id, meta, next, next_entry};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_write_one_log_and_each_reads_all_of_it() {
    const EACH: u64 = 100;
    let Some(cluster) = Cluster::start(&["fsync=off"]) else {
        return;
    };
    let url = database(&cluster);
    let sol = id("sol");
    let nodes: Vec<_> = join_all((0..3).map(|_| open(&url))).await;
    nodes[0].create(meta(&sol, 1), Bytes::new()).await.unwrap();
    let writers = nodes.iter().map(|node| async {
        let (mut head, mut mine) = (0, Vec::new());
        while mine.len() < EACH as usize {
            let new = entry("x");
            let command = new.command_id;
            match node.append(&sol, after(head, vec![new])).await {
                Ok(revision) => {
                    mine.push((revision, command));
                    head = revision.0;
                }
                Err(AppendError::Conflict { head: found }) => head = found.revision.0,
                Err(problem) => panic!("{problem}"),
            }
        }
        mine
    });
    let readers = nodes.iter().map(|node| async {
        let mut tail = node.tail(&sol, Revision(0));
        let mut seen = Vec::new();
        for _ in 0..3 * EACH {
            let entry = next_entry(&mut tail).await;
            seen.push((entry.revision, entry.command_id));
        }
        seen
    });
    let (written, read) = tokio::join!(join_all(writers), join_all(readers));
    let mut written: Vec<(Revision, CommandId)> = written.concat();
    written.sort_unstable();
    let revisions: Vec<u64> = written.iter().map(|(revision, _)| revision.0).collect();
    assert_eq!(revisions, (1..=3 * EACH).collect::<Vec<_>>());
    for seen in read {
        assert_eq!(seen, written);
    }
}

#[tokio::test]
async fn a_reader_on_another_node_learns_of_the_end() {
    let Some(cluster) = Cluster::start(&["fsync=off"]) else {
        return;
    };
    let url = database(&cluster);
    let (one, other) = (open(&url).await, open(&url).await);
    one.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
    one.append(&id("sol"), after(0, vec![entry("x")]))
        .await
        .unwrap();
    let mut tail = other.tail(&id("sol"), Revision(0));
    next_entry(&mut tail).await;
    one.delete(&id("sol"), None).await.unwrap();
    assert_eq!(next(&mut tail).await, Some(Err(TailError::Deleted)));
    assert_eq!(other.record(&id("sol")).await, Err(ReadError::NotFound));
}

/// Every process of the server dies while 16 writers append, five times; then every acknowledged entry is there once, and
/// each that was called unknown is there once or not at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_the_server() {
    const WRITERS: u64 = 16;
    const KILLS: u64 = 5;
    let Some(mut cluster) = Cluster::start(&[]) else {
        return;
    };
    let url = database(&cluster);
    let node = Arc::new(open(&url).await);
    for n in 0..WRITERS {
        node.create(meta(&id(&format!("u{n}")), 1), Bytes::new())
            .await
            .unwrap();
    }
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| {
            let (node, stopped) = (Arc::clone(&node), stopped.clone());
            tokio::spawn(async move { write(&node, n, &stopped).await })
        })
        .collect();
    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(400)).await;
        // In a thread of its own: it waits for processes.
        cluster = tokio::task::spawn_blocking(move || {
            cluster.kill();
            cluster.restart(&[]);
            cluster
        })
        .await
        .unwrap();
    }
    tokio::time::sleep(Duration::from_millis(400)).await;
    stop.send_replace(true);
    let mut acknowledged = 0;
    for (n, writer) in writers.into_iter().enumerate() {
        let (done, unknown) = tokio::time::timeout(HANG, writer).await.unwrap().unwrap();
        let id = id(&format!("u{n}"));
        let head = node.record(&id).await.unwrap().head.revision;
        let mut tail = node.tail(&id, Revision(0));
        let mut there = Vec::new();
        for _ in 0..head.0 {
            there.push(next_entry(&mut tail).await.command_id);
        }
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

type Written = (Vec<(Revision, CommandId)>, Vec<CommandId>);

/// Appends one entry after another: what was acknowledged, and what the store could not say of.
async fn write(
    node: &PostgresStore,
    n: u64,
    stopped: &tokio::sync::watch::Receiver<bool>,
) -> Written {
    let (mut done, mut unknown, mut head) = (Vec::new(), Vec::new(), 0);
    let id = id(&format!("u{n}"));
    while !*stopped.borrow() {
        let new = entry("x");
        let command = new.command_id;
        match node.append(&id, after(head, vec![new])).await {
            Ok(revision) => {
                done.push((revision, command));
                head = revision.0;
            }
            Err(AppendError::Unknown) => {
                unknown.push(command);
                while let Err(ReadError::Unavailable) = node.record(&id).await.map(|it| {
                    head = it.head.revision.0;
                }) {}
            }
            Err(AppendError::Unavailable) => {}
            Err(AppendError::Conflict { head: found }) => head = found.revision.0,
            Err(problem) => panic!("{problem}"),
        }
    }
    (done, unknown)
}

#[tokio::test]
async fn what_cannot_be_opened_says_why() {
    let refused = |url: &'static str| async move {
        let options = PostgresOptions::default();
        PostgresStore::open(url, &options)
            .await
            .expect_err("it opens")
    };
    assert!(matches!(
        refused("postgres://h:x/d").await,
        PostgresError::Url(_)
    ));
    let missing = refused("postgres://nobody@%2Fnowhere/d").await;
    assert!(
        matches!(missing, PostgresError::Unreachable(_)),
        "{missing}"
    );
}
