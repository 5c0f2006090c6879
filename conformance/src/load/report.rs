//! What came of a load, for people and as data.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::Load;
use super::call::Call;
use super::figures::Figures;
use super::usage::Usage;
use crate::json::put;
use crate::probe::{Bench, Endpoint, Revision};

/// The share of a core above which the report warns that this program may have been the bottleneck.
const BUSY: f64 = 0.9;
/// The figures that are compared with another server's, in this order.
const COMPARED: [&str; 5] = ["perSecond", "p50", "p90", "p99", "cpuMicros"];

/// What came of a load.
#[derive(Debug, Clone)]
pub struct LoadReport {
    /// How many connections there were to each server.
    pub connections: usize,
    /// Requests a second that were due; nothing in a closed loop.
    pub rate: Option<f64>,
    /// How many cores this program itself used; nothing where that cannot be known.
    pub own_cores: Option<f64>,
    /// The servers, in the order in which they were given.
    pub targets: Vec<Measured>,
}

/// What was measured of one server.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The URL or the program.
    pub target: String,
    /// The name and version that it gives.
    pub server: Option<String>,
    /// The revision it was asked in.
    pub revision: Revision,
    /// The calls, and what came of each over all rounds.
    pub calls: Vec<(String, Figures)>,
    /// All calls together over all rounds.
    pub all: Figures,
    /// Each round.
    pub rounds: Vec<RoundFigures>,
    /// What its processes used in the rounds; nothing where that cannot be known.
    pub usage: Option<Usage>,
}

/// One round of one server.
#[derive(Debug, Clone)]
pub struct RoundFigures {
    /// All calls together.
    pub all: Figures,
    /// User and system time of the server for each request, in microseconds; nothing where that cannot be known.
    pub cpu_micros: Option<f64>,
}

impl RoundFigures {
    fn compared(&self, name: &str) -> Option<f64> {
        match name {
            "perSecond" => Some(self.all.per_second()),
            "p50" => Some(self.all.within(0.5)),
            "p90" => Some(self.all.within(0.9)),
            "p99" => Some(self.all.within(0.99)),
            _ => self.cpu_micros,
        }
    }
}

impl Measured {
    pub(super) fn new(endpoint: &Endpoint, bench: &Bench, calls: &[Call]) -> Self {
        let calls = calls.iter().map(|call| (call.to_string(), Figures::new()));
        Self {
            target: endpoint.to_string(),
            server: bench.server(),
            revision: bench.revision,
            calls: calls.collect(),
            all: Figures::new(),
            rounds: Vec::new(),
            usage: None,
        }
    }

    /// Adds a round, between two looks at what the server uses.
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52 requests")]
    pub(super) fn add(
        &mut self,
        all: Figures,
        each: &[Figures],
        before: Option<Usage>,
        after: Option<Usage>,
    ) -> RoundFigures {
        for ((_, sum), figures) in self.calls.iter_mut().zip(each) {
            sum.merge(figures);
        }
        self.all.merge(&all);
        let mut cpu_micros = None;
        if let (Some(before), Some(after)) = (before, after) {
            let used = after.cpu_seconds - before.cpu_seconds;
            let spent = self.usage.map_or(0.0, |usage| usage.cpu_seconds);
            self.usage = Some(Usage { cpu_seconds: spent + used, ..after });
            cpu_micros = (all.requests() > 0).then(|| used * 1e6 / all.requests() as f64);
        }
        let round = RoundFigures { all, cpu_micros };
        self.rounds.push(round.clone());
        round
    }

    /// The medians of the rounds.
    fn median(&self, name: &str) -> Option<f64> {
        median(self.rounds.iter().filter_map(|it| it.compared(name)))
    }
}

/// The middle one; of an even number the mean of both in the middle.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(f64::midpoint(*values.get(low)?, *values.get(high)?))
}

impl LoadReport {
    pub(super) fn new(load: &Load, own_cores: Option<f64>) -> Self {
        Self { connections: load.connections, rate: load.rate, own_cores, targets: Vec::new() }
    }

    /// Whether an answer was wrong, or no request was answered.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        let bad = |it: &Measured| it.all.failed() > 0 || it.all.requests() == 0;
        self.targets.iter().any(bad)
    }

    /// How the first server stands to the second: the median over the rounds of each one's figure, and the median of
    /// the ratios of rounds that were next to each other.
    #[must_use]
    pub fn ratios(&self) -> Vec<(&'static str, f64, f64, f64)> {
        let [one, two] = self.targets.as_slice() else {
            return Vec::new();
        };
        let ratio = |name: &'static str| {
            let pairs = one.rounds.iter().zip(&two.rounds);
            let ratios = pairs.filter_map(|(one, two)| {
                let (one, two) = (one.compared(name)?, two.compared(name)?);
                (two > 0.0).then_some(one / two)
            });
            Some((name, one.median(name)?, two.median(name)?, median(ratios)?))
        };
        COMPARED.into_iter().filter_map(ratio).collect()
    }

    /// As data; times are in milliseconds.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let ratios = self.ratios().into_iter().map(|(name, one, two, ratio)| {
            let value = json!({"first": round(one), "second": round(two), "ratio": round(ratio)});
            (name.to_owned(), value)
        });
        let ratios: Map<String, Value> = ratios.collect();
        json!({
            "load": 1,
            "version": env!("CARGO_PKG_VERSION"),
            "connections": self.connections,
            "rate": self.rate,
            "ownCores": self.own_cores.map(round),
            "targets": self.targets.iter().map(Measured::to_json).collect::<Vec<_>>(),
            "medians": (!ratios.is_empty()).then_some(ratios),
        })
    }

    /// For people.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_text(&self, mut out: impl Write) -> io::Result<()> {
        let loop_ = self
            .rate
            .map_or("closed loop".to_owned(), |rate| format!("open loop, {rate} requests/s"));
        for measured in &self.targets {
            measured.write_text(self.connections, &loop_, &mut out)?;
        }
        let ratios = self.ratios();
        if !ratios.is_empty() {
            writeln!(
                out,
                "Medians of the rounds (first server, second server), and the median ratio of first to second:"
            )?;
            for (name, one, two, ratio) in ratios {
                let what = match name {
                    "perSecond" => "answers/s",
                    "cpuMicros" => "CPU µs/request",
                    percentile => percentile,
                };
                writeln!(out, "  {what:<15} {one:>12.2} {two:>12.2}   × {ratio:.2}")?;
            }
            writeln!(out)?;
        }
        match self.own_cores {
            Some(own) if own > BUSY => writeln!(
                out,
                "mcp-conformance itself used {own:.2} of a CPU core: the server may handle more than it could send."
            ),
            Some(own) => writeln!(out, "mcp-conformance itself used {own:.2} of a CPU core."),
            None => Ok(()),
        }
    }
}

/// To what is worth reading.
fn round(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

impl Figures {
    fn to_json(&self) -> Value {
        json!({
            "requests": self.requests(),
            "failed": self.failed(),
            "unsent": self.unsent,
            "perSecond": round(self.per_second()),
            "p50": self.within(0.5),
            "p90": self.within(0.9),
            "p99": self.within(0.99),
            "max": self.within(1.0),
        })
    }

    fn row(&self, name: &str, out: &mut impl Write) -> io::Result<()> {
        let [p50, p90, p99, max] = [0.5, 0.9, 0.99, 1.0].map(|part| self.within(part));
        let (requests, failed) = (self.requests(), self.failed());
        writeln!(
            out,
            "  {name:<32} {requests:>9} {:>10.1} {p50:>9.3} {p90:>9.3} {p99:>9.3} {max:>9.3} {failed:>7}",
            self.per_second()
        )
    }
}

impl Measured {
    fn to_json(&self) -> Value {
        let calls = self.calls.iter().map(|(call, figures)| {
            let mut value = figures.to_json();
            put(&mut value, "call", call.as_str());
            value
        });
        let rounds = self.rounds.iter().map(|round| {
            let mut value = round.all.to_json();
            put(&mut value, "cpuMicros", round.cpu_micros);
            value
        });
        json!({
            "target": self.target,
            "server": self.server,
            "revision": self.revision.as_str(),
            "all": self.all.to_json(),
            "calls": calls.collect::<Vec<_>>(),
            "rounds": rounds.collect::<Vec<_>>(),
            "failures": self.all.failures,
            "usage": self.usage,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    fn write_text(&self, connections: usize, loop_: &str, out: &mut impl Write) -> io::Result<()> {
        let server = self.server.as_ref().map_or(String::new(), |it| format!(", {it}"));
        writeln!(out, "{}{server}, {}", self.target, self.revision)?;
        let (seconds, rounds) = (self.all.seconds, self.rounds.len());
        writeln!(out, "{connections} connections, {loop_}, {seconds:.1} s in {rounds} rounds\n")?;
        let [call, requests, second, p50, p90, p99, max, failed] =
            ["", "requests", "answers/s", "p50 ms", "p90", "p99", "max", "failed"];
        writeln!(
            out,
            "  {call:<32} {requests:>9} {second:>10} {p50:>9} {p90:>9} {p99:>9} {max:>9} {failed:>7}"
        )?;
        for (call, figures) in &self.calls {
            figures.row(call, out)?;
        }
        self.all.row("all", out)?;
        writeln!(out)?;
        if self.all.unsent > 0 {
            writeln!(
                out,
                "  {} requests were due but not sent: no connection was free.",
                self.all.unsent
            )?;
        }
        if let Some(usage) = self.usage {
            let each = usage.cpu_seconds * 1e6 / self.all.requests().max(1) as f64;
            writeln!(
                out,
                "  CPU {:.2} s, {each:.0} µs a request; memory {:.1} MiB, {:.1} at its peak",
                usage.cpu_seconds,
                usage.bytes as f64 / 1_048_576.0,
                usage.peak_bytes as f64 / 1_048_576.0,
            )?;
        }
        for (problem, count) in &self.all.failures {
            writeln!(out, "  failed {count} times: {problem}")?;
        }
        writeln!(out)
    }
}
