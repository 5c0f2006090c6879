//! What a long history takes on the disk: ticks by the command service, of whose log only the last are kept.
//!
//! `cargo bench -p universe-server --bench retention -- 100000000 100000` makes 100 million ticks and keeps 100,000
//! revisions; without numbers it is one million. A line for every twentieth part says what the store tells of its size,
//! as `/metrics` and `top` show it, and what its files take. It fails if they take more than twice what they took at
//! the first line.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its table and has nobody to hand an error to"
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use universe_core::{Command, State};
use universe_server::commands::{CommandService, Keep, MAX_COMMANDS, Request, ServiceLimits};
use universe_server::store::sqlite::Options;
use universe_server::store::{SqliteStore, UniverseId, UniverseLog};

/// Requests that wait at the same time, so that the store never does.
const WAITING: usize = 8;

/// How many lines the table has.
const LINES: u64 = 20;

/// The most that the files may grow by from the first line to the last.
const MOST_GROWTH: f64 = 2.0;

fn main() -> ExitCode {
    // `cargo test` runs benchmarks too, without this argument and in a hurry.
    if !std::env::args().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let ticks = numbers.next().unwrap_or(1_000_000);
    let keep = numbers.next().unwrap_or(10_000);
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let growth = runtime.block_on(grow(ticks, keep));
    if growth <= MOST_GROWTH {
        return ExitCode::SUCCESS;
    }
    println!("the files may grow to {MOST_GROWTH} times what they took, and grew to {growth:.1}");
    ExitCode::FAILURE
}

/// Gives the largest size of the files after the first line, as a multiple of that at the first.
async fn grow(ticks: u64, keep: u64) -> f64 {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Arc::new(SqliteStore::open(dir.path(), Options::default()).unwrap());
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    let id = UniverseId::new("year").unwrap();
    let empty = State::default();
    service
        .create(id.clone(), String::new(), empty)
        .await
        .unwrap();
    let kept = service.clone();
    let retention = tokio::spawn(async move { kept.keep_history(Keep::Revisions(keep)).await });

    println!("revision     oldest       ticks/s  size MB  free MB  files MB");
    let start = Instant::now();
    let (mut first, mut most) = (0, 0);
    for line in 1..=LINES {
        tick(&service, &id, ticks / LINES).await;
        let record = store.record(&id).await.unwrap();
        let size = store.size().await.unwrap().unwrap();
        let files = files(dir.path());
        let rate = record.head.revision.0 as f64 / start.elapsed().as_secs_f64();
        println!(
            "{:<12} {:<12} {rate:>7.0} {:>8.1} {:>8.1} {:>9.1}",
            record.head.revision.0,
            record.oldest.0,
            mega(size.file),
            mega(size.free),
            mega(files)
        );
        match line {
            1 => first = files,
            _ => most = most.max(files),
        }
    }
    retention.abort();
    service.close().await;
    store.close();
    println!("closed: {:.1} MB", mega(self::files(dir.path())));
    most as f64 / first as f64
}

/// So many ticks, as many at a time as a request may have.
async fn tick(service: &CommandService, id: &UniverseId, count: u64) {
    let command = Command::from_value(json!({"type": "tick", "dt": 1})).unwrap();
    let waiting = Arc::new(Semaphore::new(WAITING));
    for _ in 0..count.div_ceil(MAX_COMMANDS as u64) {
        let place = Arc::clone(&waiting).acquire_owned().await.unwrap();
        let request = Request {
            commands: vec![command.clone(); MAX_COMMANDS],
            ..Request::default()
        };
        let (service, id) = (service.clone(), id.clone());
        tokio::spawn(async move {
            service.process(&id, request).await.unwrap();
            drop(place);
        });
    }
    let all = waiting.acquire_many(WAITING as u32).await;
    drop(all.unwrap());
}

/// What the files of a directory take, the log of the database among them.
fn files(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap();
    let sizes = entries.map(|entry| entry.unwrap().metadata().unwrap().len());
    sizes.sum()
}

fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
