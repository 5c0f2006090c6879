//! How fast durable commands are on PostgreSQL, beside `pgbench` doing the same writes on the same server.
//!
//! 64 clients wait for every acknowledgement, at one node or at three. Either each has a universe of its own, and a
//! node puts what waits into one statement; or all write one universe, and a node appends what waits as one batch, as
//! the writer of the universe server does. `pgbench` has as many connections as there are nodes, and each of its
//! statements moves as many heads, appends as many entries of the same size and notifies as the statement of a node
//! whose clients all wait. Both run in turn, so that a noisy machine disturbs them alike; what counts is the ratio
//! within a round, of which the median is given. Server and clients share the processors of this machine.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints its table and has nobody to hand an error to"
)]

#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../tests/it/cluster.rs"]
mod cluster;

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::runtime::Builder;
use universe_store::postgres::{PostgresOptions, PostgresStore};
use universe_store::{
    Append, AppendError, CommandId, Meta, NewEntry, Revision, Timestamp, UniverseId, UniverseLog,
};

use self::cluster::Cluster;

const BODY: &[u8] = &[b'x'; 300];
const CLIENTS: usize = 64;
const ROUNDS: usize = 5;
const ROUND: Duration = Duration::from_secs(3);

fn main() {
    // `cargo test` runs benchmarks too, without this argument and in a hurry.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("nodes  universes  pgbench/s  ours/s  ratio (min-max)");
    for (nodes, universes) in [(1, CLIENTS), (3, CLIENTS), (1, 1), (3, 1)] {
        let (mut plain, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let url = cluster.database();
            let rate = runtime.block_on(appends(&url, nodes, universes));
            let floor = pgbench(&url, nodes, universes);
            plain.push(floor);
            ours.push(rate);
            ratios.push(rate / floor);
        }
        let (plain, ours, ratio) = (median(&mut plain), median(&mut ours), median(&mut ratios));
        let (least, most) = (ratios[0], ratios[ROUNDS - 1]);
        println!(
            "{nodes:>5}  {universes:>9}  {plain:>9.0}  {ours:>6.0}  {ratio:.2} ({least:.2}-{most:.2})"
        );
    }
}

/// The median, of what is sorted in passing.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Commands a second by the port.
async fn appends(url: &str, nodes: usize, universes: usize) -> f64 {
    let options = PostgresOptions::default();
    let mut opened = Vec::new();
    for _ in 0..nodes {
        opened.push(Arc::new(PostgresStore::open(url, &options).await.unwrap()));
    }
    for n in 0..universes {
        let meta = Meta {
            id: id(n),
            name: String::new(),
            created_at: Timestamp::now(),
        };
        let body = Bytes::from_static(BODY);
        opened[0].create(meta, body).await.unwrap();
    }
    let start = Instant::now();
    // With a universe for each client, each appends by itself; with one, a node appends for all of its clients.
    let writers = match universes {
        1 => nodes,
        _ => CLIENTS,
    };
    let tasks = (0..writers).map(|n| {
        let store = Arc::clone(&opened[n % nodes]);
        let batch = CLIENTS / writers;
        tokio::spawn(write(store, id(n % universes), batch, start + ROUND))
    });
    let done = join_all(tasks).await;
    let total: usize = done.into_iter().map(Result::unwrap).sum();
    total as f64 / start.elapsed().as_secs_f64()
}

/// Appends batches until the time is over; after a conflict the same batch to what was found.
async fn write(store: Arc<PostgresStore>, id: UniverseId, batch: usize, until: Instant) -> usize {
    let (mut head, mut done) = (Revision::GENESIS, 0);
    while Instant::now() < until {
        let entry = || NewEntry {
            command_id: CommandId::random(),
            at: Timestamp::now(),
            body: Bytes::from_static(BODY),
            keyed: false,
        };
        let append = Append {
            expected: head,
            entries: (0..batch).map(|_| entry()).collect(),
            name: None,
        };
        match store.append(&id, append).await {
            Ok(appended) => {
                head = appended.revision;
                done += batch;
            }
            Err(AppendError::Conflict { head: found }) => head = found.revision,
            Err(error) => panic!("{error}"),
        }
    }
    done
}

fn id(n: usize) -> UniverseId {
    UniverseId::new(format!("universe {n}")).unwrap()
}

/// Entries a second by `pgbench`, in the tables that the port has made.
fn pgbench(url: &str, nodes: usize, universes: usize) -> f64 {
    let entries = CLIENTS / nodes;
    let heads = match universes {
        1 => "uni = 1".to_owned(),
        _ => format!("uni > :client_id * {entries} AND uni <= (:client_id + 1) * {entries}"),
    };
    let each = match universes {
        1 => entries,
        _ => 1,
    };
    let script = format!(
        "WITH held AS MATERIALIZED (SELECT uni FROM universe WHERE {heads} ORDER BY uni FOR NO KEY UPDATE), \
         moved AS (UPDATE universe u SET rev = rev + {each}, command = gen_random_uuid(), updated_at = 1 \
           FROM held WHERE u.uni = held.uni RETURNING u.uni, u.rev), \
         written AS (INSERT INTO log (uni, rev, at, command, keyed, body) \
           SELECT uni, rev - n, 1, gen_random_uuid(), false, decode(repeat('78', {}), 'hex') \
           FROM moved, generate_series(0, {each} - 1) AS n), \
         told AS (SELECT pg_notify('universe_log', string_agg(uni || ':' || rev, ' '))::text AS sent \
           FROM moved HAVING count(*) > 0) \
         SELECT moved.uni, told.sent FROM moved LEFT JOIN told ON true;\n",
        BODY.len()
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), script).unwrap();
    let (host, database) = url
        .trim_start_matches("postgres://postgres@")
        .rsplit_once('/')
        .unwrap();
    let (socket, port) = host.rsplit_once(':').unwrap();
    let run = Command::new(cluster::installed("pgbench"))
        .args(["-n", "-M", "prepared", "-U", "postgres", "-h"])
        .arg(socket.replace("%2F", "/"))
        .args(["-p", port, "-c", &nodes.to_string(), "-T"])
        .args([&ROUND.as_secs().to_string(), "-f"])
        .arg(file.path())
        .arg(database)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = "));
    let rate = rate.and_then(|rate| rate.split_whitespace().next());
    let rate: f64 = rate.unwrap_or_else(|| panic!("{run:?}")).parse().unwrap();
    rate * entries as f64
}
