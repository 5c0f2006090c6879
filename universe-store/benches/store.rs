//! How fast durable commands are, beside the least that any store must do.
//!
//! Each producer has a universe of its own and waits for every acknowledgement. The floor is a bare
//! file to which one thread appends whatever is queued and calls `fdatasync`. Both run in turn, so
//! that a noisy machine disturbs them alike; what counts is the ratio within a round, of which the
//! median is given. It fails if that is less than the contract says.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its table and has nobody to hand an error to"
)]

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use universe_store::sqlite::Options;
use universe_store::{
    Append, CommandId, Meta, NewEntry, Revision, SqliteStore, Timestamp, UniverseId, UniverseLog,
};

const BODY: &[u8] = &[b'x'; 300];
const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(700);
const GROUP: usize = 512;

/// The contract with 64 producers.
const LEAST_RATIO: f64 = 0.6;

fn main() -> ExitCode {
    // `cargo test` runs benchmarks too, without this argument and in a hurry.
    if !std::env::args().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("producers  bare file/s  sqlite/s  ratio (min-max)");
    let mut kept = true;
    for producers in [64, 1] {
        let (mut bare, mut sqlite, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let floor = runtime.block_on(bare_file(dir.path(), producers));
            let rate = runtime.block_on(universes(dir.path(), producers));
            bare.push(floor);
            sqlite.push(rate);
            ratios.push(rate / floor);
        }
        let (bare, sqlite, ratio) = (median(&mut bare), median(&mut sqlite), median(&mut ratios));
        let (least, most) = (ratios[0], ratios[ROUNDS - 1]);
        println!("{producers:>9}  {bare:>11.0}  {sqlite:>8.0}  {ratio:.2} ({least:.2}-{most:.2})");
        kept &= producers == 1 || ratio >= LEAST_RATIO;
    }
    if kept {
        return ExitCode::SUCCESS;
    }
    println!("with 64 producers the ratio must be at least {LEAST_RATIO}");
    ExitCode::FAILURE
}

/// The median, of what is sorted in passing.
fn median(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

async fn universes(dir: &Path, producers: usize) -> f64 {
    let store = Arc::new(SqliteStore::open(&dir.join("store"), Options::default()).unwrap());
    let ids: Vec<_> = (0..producers)
        .map(|n| UniverseId::new(format!("universe {n}")).unwrap())
        .collect();
    for id in &ids {
        let meta = Meta {
            id: id.clone(),
            name: String::new(),
            created_at: Timestamp::now(),
        };
        store.create(meta, Bytes::from_static(BODY)).await.unwrap();
    }
    let rate = rate(ids.into_iter().map(|id| {
        let store = Arc::clone(&store);
        move |until| async move {
            let mut head = Revision::GENESIS;
            while Instant::now() < until {
                let entry = NewEntry {
                    command_id: CommandId::random(),
                    at: Timestamp::now(),
                    body: Bytes::from_static(BODY),
                    keyed: false,
                };
                let append = Append {
                    expected: head,
                    entries: vec![entry],
                    name: None,
                };
                head = store.append(&id, append).await.unwrap().revision;
            }
            head.0
        }
    }));
    rate.await
}

async fn bare_file(dir: &Path, producers: usize) -> f64 {
    let file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join("bare"))
        .unwrap();
    let (queue, jobs) = mpsc::channel(1_024);
    let writer = std::thread::spawn(move || write_groups(file, jobs));
    let rate = rate((0..producers).map(|_| {
        let queue = queue.clone();
        move |until| async move {
            let mut done = 0;
            while Instant::now() < until {
                let (reply, written) = oneshot::channel();
                queue.send((Bytes::from_static(BODY), reply)).await.unwrap();
                written.await.unwrap();
                done += 1;
            }
            done
        }
    }))
    .await;
    drop(queue);
    writer.join().unwrap();
    rate
}

fn write_groups(mut file: File, mut jobs: mpsc::Receiver<(Bytes, oneshot::Sender<()>)>) {
    let (mut bytes, mut group) = (Vec::new(), Vec::new());
    while let Some((body, reply)) = jobs.blocking_recv() {
        bytes.extend_from_slice(&body);
        group.push(reply);
        while group.len() < GROUP
            && let Ok((body, reply)) = jobs.try_recv()
        {
            bytes.extend_from_slice(&body);
            group.push(reply);
        }
        file.write_all(&bytes).unwrap();
        file.sync_data().unwrap();
        bytes.clear();
        for reply in group.drain(..) {
            let _ = reply.send(());
        }
    }
}

/// Commands per second of all producers together. Each gets the time to stop and gives its count.
async fn rate<P, F>(producers: impl Iterator<Item = P>) -> f64
where
    P: FnOnce(Instant) -> F,
    F: Future<Output = u64> + Send + 'static,
{
    let start = Instant::now();
    let tasks: Vec<_> = producers
        .map(|producer| tokio::spawn(producer(start + ROUND)))
        .collect();
    let mut total = 0;
    for task in tasks {
        total += task.await.unwrap();
    }
    total as f64 / start.elapsed().as_secs_f64()
}
