//! How fast durable commands are on PostgreSQL, beside `pgbench` doing the same writes on the same server.
//!
//! 64 clients wait for every acknowledgement, at one node or at three. Either each has a universe of its own, and a
//! node puts what waits into one statement; or all write one universe, and a node appends what waits as one batch, as
//! the writer of the universe server does. `pgbench` has as many connections as there are nodes, and each of its
//! statements moves as many heads, appends as many entries of the same size and notifies as the statement of a node
//! whose clients all wait.
//!
//! `cargo bench -p universe-store --features postgres --bench postgres -- 9 5` makes 9 rounds of 5 seconds for each
//! side.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its table, and no caller takes its errors"
)]

mod beside;
#[expect(dead_code, reason = "the tests need more of it")]
#[path = "../tests/it/cluster.rs"]
mod cluster;

use std::cell::RefCell;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;
use universe_store::UniverseLog;
use universe_store::postgres::{PostgresOptions, PostgresStore};

use self::beside::{BODY, Rounds, Work, commands};
use self::cluster::Cluster;

fn main() {
    let Some(rounds) = Rounds::wanted(5, Duration::from_secs(3)) else {
        return;
    };
    let Some(cluster) = Cluster::start(&[]) else {
        return;
    };
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("nodes  universes    ours/s  pgbench/s  ratio (min-max)");
    for work in Work::SHARED {
        let url = RefCell::new(String::new());
        let row = format!("{:>5}  {:>9}", work.nodes, work.universes);
        let ours = || {
            url.replace(cluster.database());
            runtime.block_on(appends(&url.borrow(), work, rounds.each))
        };
        let mut bench = || pgbench(&url.borrow(), work, rounds.each);
        rounds.compare(&row, ours, &mut [&mut bench]);
    }
}

/// Commands a second by the port.
async fn appends(url: &str, work: Work, time: Duration) -> f64 {
    let options = PostgresOptions::default();
    let mut opened: Vec<Arc<dyn UniverseLog>> = Vec::new();
    for _ in 0..work.nodes {
        opened.push(Arc::new(PostgresStore::open(url, &options).await.unwrap()));
    }
    commands(opened, work, time).await
}

/// Entries a second by `pgbench`, in the tables that the port has made.
fn pgbench(url: &str, work: Work, time: Duration) -> f64 {
    let (nodes, entries) = (work.nodes, work.clients / work.nodes);
    let heads = match work.universes {
        1 => "uni = 1".to_owned(),
        _ => format!("uni > :client_id * {entries} AND uni <= (:client_id + 1) * {entries}"),
    };
    let each = match work.universes {
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
    let (host, database) = url.trim_start_matches("postgres://postgres@").rsplit_once('/').unwrap();
    let (socket, port) = host.rsplit_once(':').unwrap();
    let run = Command::new(cluster::installed("pgbench"))
        .args(["-n", "-M", "prepared", "-U", "postgres", "-h"])
        .arg(socket.replace("%2F", "/"))
        .args(["-p", port, "-c", &nodes.to_string(), "-T"])
        .args([&time.as_secs().to_string(), "-f"])
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
