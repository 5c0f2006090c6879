//! Several nodes on one store.

use bytes::Bytes;
use futures_util::future::join_all;
use universe_store::{
    AppendError, Appended, CommandId, ReadError, Revision, TailError, UniverseLog,
};

use crate::engines::{self, Node, urls};
use crate::{Subject, after, entry, id, meta, next, next_entry};

/// Two nodes on one store. Opening it again is going on with the other node.
pub(crate) struct Nodes {
    nodes: [Node; 2],
    turn: usize,
}

impl Nodes {
    pub(crate) async fn on(url: &str) -> Self {
        Self { nodes: [engines::open(url).await, engines::open(url).await], turn: 0 }
    }

    /// Such nodes on a new store of each engine.
    pub(crate) async fn all() -> Vec<Box<dyn Subject>> {
        let mut all: Vec<Box<dyn Subject>> = Vec::new();
        for url in urls() {
            all.push(Box::new(Self::on(&url).await));
        }
        all
    }
}

impl Subject for Nodes {
    fn log(&self) -> &dyn UniverseLog {
        &*self.nodes[self.turn]
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
    for url in urls() {
        let sol = id("sol");
        // Opened at once: one of them makes what it is kept in.
        let nodes: Vec<_> = join_all((0..3).map(|_| engines::open(&url))).await;
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
}

#[tokio::test]
async fn a_reader_on_another_node_learns_of_the_end() {
    for url in urls() {
        let (one, other) = (engines::open(&url).await, engines::open(&url).await);
        one.create(meta(&id("sol"), 1), Bytes::new()).await.unwrap();
        one.append(&id("sol"), after(0, vec![entry("x")])).await.unwrap();
        let mut tail = other.tail(&id("sol"), Revision(0));
        next_entry(&mut tail).await;
        one.delete(&id("sol"), None).await.unwrap();
        assert_eq!(next(&mut tail).await, Some(Err(TailError::Deleted)));
        assert_eq!(other.record(&id("sol")).await, Err(ReadError::NotFound));
    }
}
