//! What a long history takes on the disk: ticks by the command service, of whose log only the last are kept.
//!
//! `cargo bench -p universe-server --bench retention -- 100000000 100000` makes 100 million ticks and keeps 100,000
//! revisions; without numbers it is one million and 10,000. A line for every twentieth part says what the store tells
//! of its size, as `/metrics` does, and what its files take. The last line is about the store at rest: it fails if
//! more is kept by then than was asked for.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints its table and has no caller for an error"
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Builder;
use tokio::sync::Semaphore;
use universe_core::{Command, State};
use universe_server::commands::{
    CommandService, Keep, MAX_COMMANDS, Request, ServiceLimits, TRIMMED_AT_ONCE,
};
use universe_server::store::sqlite::Options;
use universe_server::store::{Size, SqliteStore, UniverseId, UniverseLog};

/// Requests that wait at the same time, so that the store never does.
const WAITING: usize = 8;

/// How many lines the table has.
const LINES: u64 = 20;

/// How long the store may take to come to rest.
const REST: Duration = Duration::from_secs(300);

/// The share of the file that stays free, and the least bytes that do.
const FREE: (u64, u64) = (8, 1 << 20);

fn main() -> ExitCode {
    // `cargo test` runs benchmarks too, without this argument and in a hurry.
    if !std::env::args().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<u64>().ok());
    let ticks = numbers.next().unwrap_or(1_000_000);
    let keep = numbers.next().unwrap_or(10_000);
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    if runtime.block_on(grow(ticks, keep)) {
        ExitCode::SUCCESS
    } else {
        println!("after {} s at rest more is kept than was asked for", REST.as_secs());
        ExitCode::FAILURE
    }
}

/// Makes the ticks, and gives whether the store came to rest with what is to be kept.
async fn grow(ticks: u64, keep: u64) -> bool {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let store = Arc::new(SqliteStore::open(dir.path(), Options::default()).unwrap());
    let service = CommandService::new(Arc::clone(&store) as Arc<_>, ServiceLimits::default());
    let id = UniverseId::new("year").unwrap();
    let empty = State::default();
    service.create(id.clone(), String::new(), empty).await.unwrap();
    let kept = service.clone();
    let retention = tokio::spawn(async move { kept.keep_history(Keep::Revisions(keep)).await });

    println!("revision     oldest       ticks/s  size MB  free MB   log MB  files MB");
    let start = Instant::now();
    for _ in 0..LINES {
        tick(&service, &id, ticks / LINES).await;
        show(&store, &id, start.elapsed(), dir.path()).await;
    }
    let resting = Instant::now();
    let mut is_at_rest = false;
    while !is_at_rest && resting.elapsed() < REST {
        tokio::time::sleep(Duration::from_millis(100)).await;
        is_at_rest = has_only(&store, &id, keep).await;
    }
    println!("at rest after {:.1} s", resting.elapsed().as_secs_f64());
    show(&store, &id, start.elapsed(), dir.path()).await;
    retention.abort();
    service.close().await;
    store.close();
    is_at_rest
}

/// Whether no more is kept than was asked for, and no more room.
async fn has_only(store: &SqliteStore, id: &UniverseId, keep: u64) -> bool {
    let record = store.record(id).await.unwrap();
    let Size { file, free, .. } = store.size().await.unwrap().unwrap();
    let (share, least) = FREE;
    record.head.revision.0 - record.oldest.0 <= keep + 2 * TRIMMED_AT_ONCE
        && free <= least.max(file / share)
}

async fn show(store: &SqliteStore, id: &UniverseId, elapsed: Duration, dir: &Path) {
    let record = store.record(id).await.unwrap();
    let Size { file, free, log } = store.size().await.unwrap().unwrap();
    let revision = record.head.revision.0;
    let rate = revision as f64 / elapsed.as_secs_f64();
    let [file, free, log, files] = [file, free, log, files(dir)].map(|bytes| bytes as f64 / 1e6);
    println!(
        "{revision:<12} {:<12} {rate:>7.0} {file:>8.1} {free:>8.1} {log:>8.1} {files:>9.1}",
        record.oldest.0
    );
}

/// So many ticks, as many at a time as a request may have.
async fn tick(service: &CommandService, id: &UniverseId, count: u64) {
    let command = Command::from_value(json!({"type": "tick", "dt": 1})).unwrap();
    let waiting = Arc::new(Semaphore::new(WAITING));
    for _ in 0..count.div_ceil(MAX_COMMANDS as u64) {
        let place = Arc::clone(&waiting).acquire_owned().await.unwrap();
        let request =
            Request { commands: vec![command.clone(); MAX_COMMANDS], ..Request::default() };
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
