//! Several nodes on one database.

use bytes::Bytes;
use futures_util::future::join_all;
use universe_store::postgres::{PostgresError, PostgresOptions, PostgresStore};
use universe_store::{
    AppendError, Appended, CommandId, ReadError, Revision, TailError, UniverseLog,
};

use crate::cluster::shared;
use crate::{Subject, after, entry, id, meta, next, next_entry};

/// Two nodes on one database. Opening it again is going on with the other node.
pub(crate) struct Nodes {
    nodes: [PostgresStore; 2],
    turn: usize,
}

impl Nodes {
    /// `None` where PostgreSQL is not installed.
    pub(crate) async fn new() -> Option<Self> {
        let url = shared()?.database();
        Some(Self {
            nodes: [open(&url).await, open(&url).await],
            turn: 0,
        })
    }
}

pub(crate) async fn open(url: &str) -> PostgresStore {
    let opened = PostgresStore::open(url, &PostgresOptions::default()).await;
    opened.unwrap_or_else(|problem| panic!("{problem}"))
}

impl Subject for Nodes {
    fn log(&self) -> &dyn UniverseLog {
        &self.nodes[self.turn]
    }

    fn reopen(&mut self) -> bool {
        self.turn = 1 - self.turn;
        // Readers on the node before go on.
        false
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_write_one_log_and_each_reads_all_of_it() {
    const EACH: u64 = 100;
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let sol = id("sol");
    // Opened at once: one of them makes the tables.
    let nodes: Vec<_> = join_all((0..3).map(|_| open(&url))).await;
    nodes[0].create(meta(&sol, 1), Bytes::new()).await.unwrap();
    let writers = nodes.iter().map(|node| async {
        let (mut head, mut mine) = (0, Vec::new());
        while mine.len() < EACH as usize {
            let new = entry("x");
            let command = new.command_id;
            match node.append(&sol, after(head, vec![new])).await {
                Ok(Appended { revision, stored }) => {
                    assert!(stored, "no other node knows the command");
                    mine.push((revision, command));
                    head = revision.0;
                }
                Err(AppendError::Conflict { head: found }) => {
                    assert_ne!(found.revision.0, head, "a conflict with what was expected");
                    head = found.revision.0;
                }
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
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
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

/// Notifications are hints only: without any, a look finds what they would have said.
#[tokio::test]
async fn a_reader_finds_what_nothing_notified_it_of() {
    let Some(cluster) = shared() else {
        return;
    };
    let url = cluster.database();
    let node = open(&url).await;
    node.create(meta(&id("sol"), 1), Bytes::new())
        .await
        .unwrap();
    let mut tail = node.tail(&id("sol"), Revision(0));
    node.append(&id("sol"), after(0, vec![entry("x")]))
        .await
        .unwrap();
    next_entry(&mut tail).await;
    // As another node writes it, but for the notification.
    let (client, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(driver);
    let silent = "WITH moved AS (UPDATE universe SET rev = 2 RETURNING uni) \
                  INSERT INTO log SELECT uni, 2, 0, gen_random_uuid(), false, 'silent' FROM moved";
    client.execute(silent, &[]).await.unwrap();
    assert_eq!(next_entry(&mut tail).await.body, "silent");
    client.execute("DELETE FROM universe", &[]).await.unwrap();
    assert_eq!(next(&mut tail).await, Some(Err(TailError::Deleted)));
}

#[tokio::test]
async fn what_cannot_be_opened_says_why_and_tells_no_password() {
    let Some(cluster) = shared() else {
        return;
    };
    let refused = |url: String| async move {
        let options = PostgresOptions::default();
        let problem = PostgresStore::open(&url, &options)
            .await
            .expect_err("it opens");
        assert!(!format!("{problem} {problem:?}").contains("geheim"));
        problem
    };
    for url in [
        "postgres://u:geheim@h:x/d",
        "postgres://u:geheim@h/d?sslmod=require",
    ] {
        let unreadable = refused(url.to_owned()).await;
        assert!(matches!(unreadable, PostgresError::Url(_)), "{unreadable}");
    }
    let missing = refused("postgres://nobody:geheim@%2Fnowhere/d".to_owned()).await;
    assert!(
        matches!(missing, PostgresError::Unreachable(_)),
        "{missing}"
    );
    let url = cluster.database();
    drop(open(&url).await);
    let (client, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(driver);
    client
        .execute("UPDATE universe_format SET format = 99", &[])
        .await
        .unwrap();
    let newer = refused(url.clone()).await;
    assert!(
        matches!(newer, PostgresError::Newer { found: 99, .. }),
        "{newer}"
    );
    // A database that has other things under these names is left as it is.
    client
        .batch_execute("DROP TABLE universe_format")
        .await
        .unwrap();
    let other = refused(url).await;
    assert!(matches!(other, PostgresError::Tables(_)), "{other}");
}
