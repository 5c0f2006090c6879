//! What each layer of the server costs: the store alone, the command service, REST and MCP, in one interleaved run.
//!
//! `cargo bench -p universe-server --bench layers -- commands 9 700` makes nine rounds of 700 ms for each row of the
//! first table. Without a name all three tables are made:
//!
//! - `commands`: durable commands of 64 clients, on a universe each and on one.
//! - `sizes`: commands on universes of 100 and 100,000 bodies, answered by changes.
//! - `state`: whole states, beside plain hyper that writes as many bytes from memory.
//!
//! Rows of a table run in turn in each round, so that a noisy machine disturbs them alike. What counts are the ratios
//! within a round, of which the median is given with the least and the most. Servers and clients share the processors
//! of this machine; all clients over HTTP are one thread. The processor time is that of all other threads for one of
//! what is counted, and includes that of starting the server.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a benchmark prints its table, and no caller takes its errors"
)]

#[expect(dead_code, reason = "the benchmarks of stores need more of it")]
#[path = "../../../universe-store/benches/beside/mod.rs"]
mod beside;
mod commands;
mod cpu;
mod host;
mod sizes;
mod state;
mod wire;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use self::beside::median;

/// How many rounds there are, and how long each row has in one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    pub(crate) each: Duration,
}

/// Measures the rows of a table and prints it.
type Table = fn(&Runtime, Rounds);

/// One row of a table.
pub(crate) struct Row<'r> {
    pub(crate) name: String,
    /// What was done in a second, in one round.
    pub(crate) run: Box<dyn FnMut() -> f64 + 'r>,
}

impl<'r> Row<'r> {
    pub(crate) fn new(name: impl Into<String>, run: impl FnMut() -> f64 + 'r) -> Self {
        Self { name: name.into(), run: Box::new(run) }
    }
}

impl Rounds {
    /// Runs the rows in turn and prints them, each beside the row that `base` gives for it.
    pub(crate) fn print(self, title: &str, mut rows: Vec<Row<'_>>, base: impl Fn(usize) -> usize) {
        let (mut rates, mut costs) = (vec![Vec::new(); rows.len()], vec![Vec::new(); rows.len()]);
        for _ in 0..self.count {
            for (index, row) in rows.iter_mut().enumerate() {
                let (before, start) = (cpu::of_server(), Instant::now());
                let rate = (row.run)();
                let spent = cpu::of_server().saturating_sub(before).as_secs_f64();
                rates[index].push(rate);
                costs[index].push(spent * 1e6 / (rate * start.elapsed().as_secs_f64()));
            }
        }
        println!("{title:<44} per second  CPU µs  ratio (min-max)");
        for (index, row) in rows.iter().enumerate() {
            let pairs = rates[index].iter().zip(&rates[base(index)]);
            let mut ratios: Vec<_> = pairs.map(|(rate, base)| rate / base).collect();
            let ratio = median(&mut ratios);
            let (least, most) = (ratios[0], ratios[ratios.len() - 1]);
            let rate = median(&mut rates[index].clone());
            let cost = median(&mut costs[index]);
            let name = &row.name;
            println!("{name:<44} {rate:>10.1}  {cost:>6.0}  {ratio:.2} ({least:.2}-{most:.2})");
        }
    }
}

/// A runtime with the settings of the server's.
fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.enable_all().global_queue_interval(2);
    builder.event_interval(16).build().unwrap()
}

fn main() -> ExitCode {
    // `cargo test` runs benchmarks too, without this argument and in a hurry.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let numbers: Vec<u64> = std::env::args().filter_map(|it| it.parse().ok()).collect();
    let rounds = Rounds {
        count: numbers.first().map_or(9, |count| *count as usize).max(1),
        each: Duration::from_millis(numbers.get(1).copied().unwrap_or(700)),
    };
    let tables: [(&str, Table); 3] =
        [("commands", commands::table), ("sizes", sizes::table), ("state", state::table)];
    let named = |name: &str| std::env::args().any(|argument| argument == name);
    let is_all = !tables.iter().any(|(name, _)| named(name));
    let runtime = runtime();
    for (_, table) in tables.iter().filter(|(name, _)| is_all || named(name)) {
        table(&runtime, rounds);
    }
    ExitCode::SUCCESS
}
