//! Sudden death of a process that imports: nothing acknowledged is lost, nothing is doubled, no number is missing.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chat_server::index::{Index, MAX_LIMIT, MessageQuery, Options};
use chat_server::model::Body;
use chat_server::source::Batch;
use tempfile::TempDir;

use super::samples::{chat, message, said};

const KILLS: u64 = 20;
const SOURCES: [&str; 3] = ["telegram", "signal", "whatsapp"];
/// The most acknowledged batches before a kill.
const MOST: u64 = 40;
const DIRECTORY: &str = "CHAT_INDEX_CRASH_DIRECTORY";

/// SplitMix64, by Steele, Lea and Flood, 2014.
fn scatter(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[tokio::test]
async fn an_import_that_is_killed_keeps_what_it_acknowledged() {
    let dir = TempDir::new().unwrap();
    let mut acknowledged: HashMap<String, u64> = HashMap::new();
    let mut slowest = Duration::ZERO;
    for kill in 0..KILLS {
        let lines = scatter(kill) % MOST;
        for (source, next) in killed_after(dir.path(), lines, scatter(kill + 1_000) % 2_000) {
            acknowledged.insert(source, next);
        }
        let start = Instant::now();
        let index = Index::open(dir.path(), Options::default()).unwrap();
        slowest = slowest.max(start.elapsed());
        assert!(index.is_writer());
        for source in SOURCES {
            let told = acknowledged.get(source).copied().unwrap_or(0);
            verify(&index, source, told).await;
        }
        index.close();
        sound(dir.path());
    }
    let total: u64 = acknowledged.values().sum();
    println!("{KILLS} kills, {total} acknowledged, opened within {slowest:?}");
    assert!(total > KILLS * 20, "{total}");
}

/// Lets the import run until it has acknowledged so many batches and a little longer. Gives what it said last of each
/// source: how many of its messages are kept.
fn killed_after(dir: &Path, lines: u64, micros: u64) -> HashMap<String, u64> {
    let mut import = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "index::crash::import", "--ignored", "--nocapture"])
        .env(DIRECTORY, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = HashMap::new();
    let mut count = 0;
    let mut output = BufReader::new(import.stdout.take().unwrap());
    let mut line = String::new();
    let mut read_line = |output: &mut BufReader<_>| {
        line.clear();
        let read = output.read_line(&mut line).unwrap();
        // A line that was cut off by the kill acknowledges nothing.
        if let Some(kept) = line.strip_suffix('\n').and_then(|line| line.strip_prefix("kept ")) {
            let (source, next) = kept.split_once(' ').unwrap();
            said.insert(source.to_owned(), next.parse().unwrap());
            count += 1;
        }
        (read > 0, count)
    };
    while read_line(&mut output).1 < lines {}
    std::thread::sleep(Duration::from_micros(micros));
    import.kill().unwrap();
    import.wait().unwrap();
    while read_line(&mut output).0 {}
    said
}

/// Its messages are 0 to n without a gap, each once, in order, and n is its mark and no less than what was reported.
async fn verify(index: &Index, source: &str, told: u64) {
    let mark = index.sink(source).mark().await.unwrap();
    let mark: u64 = mark.map_or(0, |mark| mark.parse().unwrap());
    assert!(mark >= told, "{source}: {told} were acknowledged, {mark} are there");
    let mut query = MessageQuery {
        source: Some(source.to_owned()),
        limit: MAX_LIMIT,
        cursor: index.cursor_after(source, 0).await.unwrap(),
        ..MessageQuery::default()
    };
    if query.cursor.is_none() {
        assert_eq!(mark, 0);
        return;
    }
    let mut count = 0;
    loop {
        let page = index.messages(&query).await.unwrap();
        for found in page.messages {
            assert_eq!(found.message.id, count.to_string());
            count += 1;
            assert_eq!(found.sequence, count);
            assert_eq!(found.message.body, Body::Text(text(count - 1)));
        }
        query.cursor = page.next;
        if query.cursor.is_none() {
            break;
        }
    }
    assert_eq!(count, mark);
    let chats = index.chats(Some(source)).await.unwrap();
    assert_eq!(chats.iter().map(|chat| chat.messages).sum::<u64>(), count);
    for n in [0, count / 2, count.saturating_sub(1)] {
        let query = MessageQuery {
            source: Some(source.to_owned()),
            search: Some(text(n)),
            ..MessageQuery::default()
        };
        let found = index.messages(&query).await.unwrap().messages;
        assert_eq!(found.len(), usize::from(n < count), "{source} {n}");
    }
}

/// SQLite finds nothing wrong with the file, nor FTS5 with its table.
fn sound(dir: &Path) {
    let connection = rusqlite::Connection::open(dir.join("chats.db")).unwrap();
    let verdict: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(verdict, "ok");
    let sql = "INSERT INTO word (word, rank) VALUES ('integrity-check', 0)";
    connection.execute_batch(sql).unwrap();
}

fn text(n: u64) -> String {
    format!("message {n} {:016x}", scatter(n))
}

#[test]
#[ignore = "it is the process that the other test kills"]
fn import() {
    let dir = std::env::var_os(DIRECTORY).expect("the other test starts this one");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let index = Index::open(Path::new(&dir), Options::default()).unwrap();
        assert!(index.is_writer());
        let imports = SOURCES.map(|source| {
            let sink = index.sink(source);
            tokio::spawn(async move {
                let mark = sink.mark().await.unwrap();
                let mut next: u64 = mark.map_or(0, |mark| mark.parse().unwrap());
                loop {
                    // A few come again.
                    let first = next.saturating_sub(scatter(next) % 8);
                    next += 1 + scatter(next) % 50;
                    let mut events = vec![chat("1", "Antti")];
                    events
                        .extend((first..next).map(|n| {
                            said("1", message(&n.to_string(), n as i64, "Bob", &text(n)))
                        }));
                    let mark = Some(next.to_string());
                    sink.keep(Batch { events, mark, ..Batch::default() }).await.unwrap();
                    let mut out = std::io::stdout().lock();
                    writeln!(out, "kept {source} {next}").unwrap();
                    out.flush().unwrap();
                }
            })
        });
        futures_util::future::join_all(imports).await;
    });
}
