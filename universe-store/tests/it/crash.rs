//! Sudden death: a process with 64 producers is killed at random moments, again and again, and the
//! store must have every entry that it acknowledged.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use tempfile::TempDir;
use universe_store::sqlite::Options;
use universe_store::{
    AppendError, Appended, CommandId, Revision, SqliteStore, UniverseId, UniverseLog,
};
use uuid::Uuid;

use super::{after, entry, id, meta, next_entry};

const UNIVERSES: u64 = 16;
const PRODUCERS: u64 = 64;
const KILLS: u64 = 20;
const SEED: u64 = 0x5eed;

/// Tells the victim where to write.
const DIR: &str = "UNIVERSE_STORE_CRASH_DIR";

type Acknowledged = HashMap<UniverseId, HashMap<Revision, CommandId>>;

#[test]
fn what_was_acknowledged_survives_kill_9() {
    let dir = TempDir::new().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        for n in 0..UNIVERSES {
            store.create(meta(&name(n), 1), Bytes::from_static(b"genesis")).await.unwrap();
        }
    });
    let (mut acknowledged, mut opened) = (Acknowledged::new(), Vec::new());
    let (mut verified, mut total) = (HashMap::new(), 0);
    for kill in 0..KILLS {
        let acks = 1 + scatter(SEED + kill) % 4_000;
        total += run_and_kill(dir.path(), acks, &mut acknowledged);
        let start = Instant::now();
        let store = SqliteStore::open(dir.path(), Options::default()).unwrap();
        opened.push(start.elapsed());
        runtime.block_on(verify(&store, &mut acknowledged, &mut verified));
        assert!(acknowledged.values().all(HashMap::is_empty), "entries beyond the head");
    }
    opened.sort();
    let (median, slowest) = (opened[opened.len() / 2], opened[opened.len() - 1]);
    println!("{KILLS} kills, {total} acknowledged; opened in {median:?}, at most {slowest:?}");
    assert!(median < Duration::from_millis(100), "opening takes {median:?}");
}

/// Lets the victim acknowledge some entries, kills it, and notes all that it acknowledged.
fn run_and_kill(dir: &Path, acks: u64, acknowledged: &mut Acknowledged) -> u64 {
    let mut victim: Child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "crash::victim", "--nocapture"])
        .env(DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut seen = 0;
    for line in BufReader::new(victim.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let Some(ack) = line.strip_prefix("acknowledged ") else {
            continue;
        };
        let mut words = ack.split(' ');
        let (Some(who), Some(revision), Some(command), Some(".")) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let revision = Revision(revision.parse().unwrap());
        let command = CommandId(Uuid::parse_str(command).unwrap());
        let before = acknowledged.entry(id(who)).or_default().insert(revision, command);
        assert_eq!(before, None, "{who} {revision} was acknowledged twice");
        seen += 1;
        if seen == acks {
            victim.kill().unwrap();
        }
    }
    victim.wait().unwrap();
    assert!(seen >= acks, "the victim died by itself after {seen} acknowledgements");
    seen
}

/// Reads on from what was verified before: no gap, no double, and all that was acknowledged.
async fn verify(
    store: &SqliteStore,
    acknowledged: &mut Acknowledged,
    verified: &mut HashMap<UniverseId, Revision>,
) {
    for n in 0..UNIVERSES {
        let name = name(n);
        let head = store.record(&name).await.unwrap().head;
        let expected = acknowledged.entry(name.clone()).or_default();
        let last = verified.entry(name.clone()).or_default();
        let mut tail = store.tail(&name, *last);
        while *last < head.revision {
            let found = next_entry(&mut tail).await;
            assert_eq!(found.revision, last.next());
            if let Some(command) = expected.remove(&found.revision) {
                assert_eq!(found.command_id, command, "{name} {}", found.revision);
            }
            *last = found.revision;
        }
    }
}

/// The process to be killed: appends until it dies.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test that kills it"]
async fn victim() {
    let dir = std::env::var_os(DIR).expect("the test that kills this sets the directory");
    let store = Arc::new(SqliteStore::open(Path::new(&dir), Options::default()).unwrap());
    let producers = (0..PRODUCERS).map(|n| produce(Arc::clone(&store), name(n % UNIVERSES)));
    producers.collect::<futures_util::stream::FuturesUnordered<_>>().collect::<Vec<()>>().await;
}

/// Appends in competition with others.
async fn produce(store: Arc<SqliteStore>, name: UniverseId) {
    let mut head = store.record(&name).await.unwrap().head.revision;
    loop {
        let new = entry(vec![b'x'; 300]);
        let command = new.command_id;
        match store.append(&name, after(head.0, vec![new])).await {
            Ok(Appended { revision, .. }) => {
                head = revision;
                let line = format!("acknowledged {name} {revision} {command} .\n");
                std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
            }
            Err(AppendError::Conflict { head: found }) => head = found.revision,
            Err(error) => panic!("{error}"),
        }
    }
}

fn name(n: u64) -> UniverseId {
    id(&format!("universe-{n}"))
}

/// Numbers without a pattern (SplitMix64).
fn scatter(n: u64) -> u64 {
    let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
