//! The costs of the index: writing, memory, size and every filter of `get_messages`, as a Markdown table.
//!
//! ```sh
//! cargo run --release -p chat-server --example figures -- 100000 1000000
//! ```
//!
//! The messages are made from a seed. Files go below the directory for temporary files and are removed.

#[path = "figures/made.rs"]
mod made;
#[path = "figures/questions.rs"]
mod questions;

use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};

use chat_server::index::{Index, Options};
use chat_server::source::Batch;

use self::made::{Made, SOURCES};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Result<()> {
    let counts = std::env::args().skip(1).map(|count| count.parse());
    let mut counts = counts.collect::<std::result::Result<Vec<u64>, _>>()?;
    if counts.is_empty() {
        counts.push(100_000);
    }
    for count in counts {
        measure(count).await?;
    }
    Ok(())
}

async fn measure(count: u64) -> Result<()> {
    let dir = tempfile::TempDir::new()?;
    let index = Index::open(dir.path(), Options::default())?;
    let (start, cpu) = (Instant::now(), cpu_time()?);
    let bytes = write(&index, count).await?;
    let (took, cpu) = (start.elapsed(), cpu_time()?.saturating_sub(cpu));
    say(&format!("\n## {count} messages\n"))?;
    say("| what | figure |\n|---|---|")?;
    let rate = count as f64 / took.as_secs_f64();
    row("written, durably, in batches of 1,000", &format!("{rate:.0} messages/s"))?;
    let each = cpu.as_secs_f64() * 1e6 / count as f64;
    row("CPU time of it, making the messages too", &format!("{each:.0} µs a message"))?;
    row("text", &mebibytes(bytes))?;
    row("most memory of the process so far", &peak()?)?;
    index.close();
    drop(index);
    row("file", &mebibytes(std::fs::metadata(dir.path().join("chats.db"))?.len()))?;
    let start = Instant::now();
    let index = Index::open(dir.path(), Options::default())?;
    row("opened in", &millis(start.elapsed()))?;
    say("\n| question | found | p50 | p99 | CPU |\n|---|---|---|---|---|")?;
    questions::measure(&index, count).await?;
    row("most memory of the process so far", &peak()?)
}

/// Two sources write at once, as in the server.
async fn write(index: &Index, count: u64) -> Result<u64> {
    let mut tasks = Vec::new();
    for (source, part) in SOURCES.into_iter().zip(0..) {
        let sink = index.sink(source);
        let mut made = Made::new(part, count / SOURCES.len() as u64);
        tasks.push(tokio::spawn(async move {
            let mut bytes = 0;
            while let Some(events) = made.batch() {
                bytes += made::text_bytes(&events);
                let batch = Batch { events, ..Batch::default() };
                sink.keep(batch).await.map_err(|error| error.to_string())?;
            }
            Ok::<u64, String>(bytes)
        }));
    }
    let mut bytes = 0;
    for task in tasks {
        bytes += task.await??;
    }
    Ok(bytes)
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// The CPU time of all threads. The ticks of Linux are hundredths of a second.
fn cpu_time() -> Result<Duration> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no process state")?;
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks =
        times.map(str::parse::<u64>).sum::<std::result::Result<u64, std::num::ParseIntError>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

fn peak() -> Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.unwrap_or("unknown").trim().to_owned())
}

fn row(name: &str, value: &str) -> Result<()> {
    say(&format!("| {name} | {value} |"))
}

fn say(line: &str) -> Result<()> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}
