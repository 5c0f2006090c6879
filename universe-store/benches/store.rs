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
    reason = "a benchmark prints its table, and no caller takes its errors"
)]

#[expect(dead_code, reason = "engines that nodes share need more of it")]
mod beside;

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use universe_store::SqliteStore;
use universe_store::sqlite::Options;

use self::beside::{BODY, Rounds, Work, commands, rate};

const GROUP: usize = 512;

/// The contract with 64 producers.
const LEAST_RATIO: f64 = 0.6;

fn main() -> ExitCode {
    let Some(rounds) = Rounds::wanted(9, Duration::from_millis(700)) else {
        return ExitCode::SUCCESS;
    };
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    println!("producers    sqlite/s  bare file  ratio (min-max)");
    let mut kept = true;
    for producers in [64, 1] {
        let work = Work::new(1, producers, producers);
        let directory = || tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let sqlite = || {
            let dir = directory();
            let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
            runtime.block_on(commands(vec![Arc::new(store)], work, rounds.each))
        };
        let mut bare = || {
            let dir = directory();
            runtime.block_on(bare_file(dir.path(), producers, rounds.each))
        };
        let ratio = rounds.compare(&format!("{producers:>9}  "), sqlite, &mut [&mut bare]);
        kept &= producers == 1 || ratio >= LEAST_RATIO;
    }
    if kept {
        return ExitCode::SUCCESS;
    }
    println!("with 64 producers the ratio must be at least {LEAST_RATIO}");
    ExitCode::FAILURE
}

async fn bare_file(dir: &Path, producers: usize, time: Duration) -> f64 {
    let file = OpenOptions::new().create(true).append(true).open(dir.join("bare")).unwrap();
    let (queue, jobs) = mpsc::channel(1_024);
    let writer = std::thread::spawn(move || write_groups(file, jobs));
    let rate = rate(time, producers, |_, until: Instant| {
        let queue = queue.clone();
        async move {
            let mut done = 0;
            while Instant::now() < until {
                let (reply, written) = oneshot::channel();
                queue.send((Bytes::from_static(BODY), reply)).await.unwrap();
                written.await.unwrap();
                done += 1;
            }
            done
        }
    })
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
