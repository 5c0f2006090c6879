//! Sudden death of the whole server under writers of every dialect: nothing acknowledged is lost, nothing is done
//! twice, no revision is missing.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use crate::harness::{Client, Connection, Era, Reply, Server, Wire, scatter};

const KILLS: u64 = 20;
const UNIVERSES: usize = 3;
const WRITERS: usize = 9;
/// The most acknowledged commands before a kill.
const MOST: u64 = 1_000;
const SEED: u64 = 0xdead;

/// What the writers of one life of the server are answered.
struct Life {
    acknowledged: AtomicUsize,
    enough: usize,
    /// Opened when enough is acknowledged.
    done: Semaphore,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_keeps_what_it_acknowledged() {
    let dir = TempDir::new().unwrap();
    let mut universes = Vec::new();
    let mut sent: Vec<HashSet<u64>> = vec![HashSet::new(); UNIVERSES];
    let mut acknowledged = sent.clone();
    let mut total = 0;
    for kill in 0..=KILLS {
        let mut server = Server::on(dir.path()).await;
        for n in universes.len()..UNIVERSES {
            universes.push(server.client.create(&format!("u-{n}"), json!({})).await);
        }
        for (n, universe) in universes.iter().enumerate() {
            verify(server.client, universe, &sent[n], &acknowledged[n]).await;
        }
        if kill == KILLS {
            break;
        }
        let life = Arc::new(Life {
            acknowledged: AtomicUsize::new(0),
            enough: 1 + (scatter(SEED + kill) % MOST) as usize,
            done: Semaphore::new(0),
        });
        let mut writers = Vec::new();
        for n in 0..WRITERS {
            let universe = universes[n % UNIVERSES].clone();
            // Every command of every life has a number of its own.
            let first = (kill * WRITERS as u64 + n as u64) << 32;
            let writer = Writer::new(server.client, universe, n).await;
            writers.push((first, writer));
        }
        let writers = writers.into_iter().map(|(first, writer)| {
            let life = Arc::clone(&life);
            tokio::spawn(async move { (first, writer.write(first, &life).await) })
        });
        let writers: Vec<_> = writers.collect();
        let _reached = life.done.acquire().await.unwrap();
        server.kill().await;
        for (n, writer) in writers.into_iter().enumerate() {
            let (first, (tried, answered)) = writer.await.unwrap();
            sent[n % UNIVERSES].extend(first..first + tried);
            acknowledged[n % UNIVERSES].extend(first..first + answered);
            total += answered;
        }
    }
    println!("{KILLS} kills, {total} acknowledged");
    assert!(total > KILLS * MOST / 8, "{total}");
}

/// One who sends commands one after the other.
struct Writer {
    universe: String,
    connection: Connection,
    /// `None` for REST.
    mcp: Option<Wire>,
}

impl Writer {
    async fn new(client: Client, universe: String, n: usize) -> Self {
        let mcp = match n % 3 {
            0 => None,
            1 => Some(Wire::new(client, Era::Legacy).await),
            _ => Some(Wire::new(client, Era::Modern).await),
        };
        let connection = client.connect().await;
        Self { universe, connection, mcp }
    }

    /// Writes until the server is gone. Gives how many commands it tried and how many were acknowledged.
    async fn write(mut self, first: u64, life: &Life) -> (u64, u64) {
        let (mut tried, mut answered) = (0, 0);
        loop {
            // The number is an unknown member: the log keeps it.
            let command = json!({"type": "tick", "dt": 1, "number": first + tried});
            tried += 1;
            let Some(reply) = self.send(command).await else {
                return (tried, answered);
            };
            assert_eq!(reply.status, 200, "{reply:?}");
            assert_ne!(reply.json()["result"]["isError"], true, "{reply:?}");
            answered += 1;
            if life.acknowledged.fetch_add(1, Ordering::Relaxed) + 1 == life.enough {
                life.done.add_permits(1);
            }
        }
    }

    /// `None` when the server goes before it has answered.
    async fn send(&mut self, command: Value) -> Option<Reply> {
        let Self { universe, connection, mcp } = self;
        match mcp {
            None => {
                let path = format!("/universes/{universe}/commands?result=events");
                connection.try_call("POST", &path, &[], &command).await
            }
            Some(mcp) => {
                let arguments = json!({"universeId": universe, "command": command});
                let params = json!({"name": "send_universe_command", "arguments": arguments});
                mcp.try_send(connection, &json!(1), "tools/call", params).await
            }
        }
    }
}

/// The log has no gap, all that was acknowledged, nothing twice, nothing that was not sent; and the state is its sum.
async fn verify(client: Client, universe: &str, sent: &HashSet<u64>, acknowledged: &HashSet<u64>) {
    let record = client.universe(universe).await;
    let head = record["revision"].as_u64().unwrap();
    assert_eq!(record["state"]["time"].as_f64(), Some(head as f64));
    let mut found = HashSet::new();
    for (event, revision) in client.history(universe, head).await.iter().zip(1..) {
        assert_eq!(event.id, Some(revision));
        let number = event.data["number"].as_u64();
        let number = number.unwrap_or_else(|| panic!("{event:?}"));
        assert!(found.insert(number), "{number:x} was done twice");
        assert!(sent.contains(&number), "{number:x} was never sent");
    }
    let lost: Vec<&u64> = acknowledged.difference(&found).collect();
    assert_eq!(lost, Vec::<&u64>::new(), "acknowledged and gone");
}
