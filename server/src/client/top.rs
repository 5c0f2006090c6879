//! `top`

use std::collections::HashMap;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use bytesize::ByteSize;
use clap::Args;
use http::Method;
use serde::Serialize;
use tokio::time::Instant;

use super::connection::Summary;
use super::{ClientError, Common, Connection, Result, list, print};

/// Clears a terminal and moves the cursor to the first line.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// How many seconds are measured before figures are shown, and between them.
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0, value_parser = seconds)]
    interval: f64,

    /// Shows the figures of one interval and ends.
    #[arg(long)]
    once: bool,

    /// How many universes are shown.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,

    #[command(flatten)]
    pub(super) common: Common,
}

/// The metrics of a server at one moment.
struct Sample {
    at: Instant,
    figures: Figures,
    universes: Vec<Summary>,
}

/// Sums of the samples of `/metrics`, by name and by name with one label.
struct Figures(HashMap<String, f64>);

/// The activity between two samples.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    universes: usize,
    commands_per_second: f64,
    refused_per_second: f64,
    requests_per_second: f64,
    mcp_operations_per_second: f64,
    /// The mean time in which a batch became durable. Null if there was no batch.
    append_seconds: Option<f64>,
    feed_readers: f64,
    listeners: f64,
    sessions: f64,
    memory_bytes: u64,
    /// The size of the file of the universes, and how much of it is unused.
    store_bytes: u64,
    store_free_bytes: u64,
    active: Vec<Active>,
}

/// A universe, with the number of its changes between two samples.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Active {
    id: String,
    name: String,
    revision: u64,
    per_second: f64,
    updated_at: String,
}

impl Arguments {
    pub(super) async fn run(self, dir: &Path) -> Result<ExitCode> {
        let mut connection = Connection::to_server(&self.common, dir).await?;
        let mut before = Sample::take(&mut connection).await?;
        let clears = !self.once && !self.common.json && io::stdout().is_terminal();
        loop {
            tokio::time::sleep(Duration::from_secs_f64(self.interval)).await;
            let now = Sample::take(&mut connection).await?;
            let shown = Shown::between(&before, &now, self.limit);
            if self.common.json {
                print::json(&shown)?;
            } else {
                if clears {
                    io::stdout().lock().write_all(CLEAR.as_bytes())?;
                }
                service_host::print(&shown.summary())?;
            }
            if self.once {
                return Ok(ExitCode::SUCCESS);
            }
            before = now;
        }
    }
}

impl Sample {
    async fn take(connection: &mut Connection) -> Result<Self> {
        let asked = connection.ask(Method::GET, "/metrics", &[], Bytes::new());
        let figures = match asked.await {
            Ok(reply) => Figures::read(&String::from_utf8_lossy(&reply.body)),
            Err(ClientError::Refused { status: 404, .. }) => {
                let problem = "the server was started with --metrics off, so it has no figures";
                return Err(ClientError::Given(problem.to_owned()));
            }
            Err(error) => return Err(error),
        };
        Ok(Self { at: Instant::now(), figures, universes: list::all(connection).await? })
    }
}

impl Figures {
    fn read(text: &str) -> Self {
        let mut figures = HashMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((key, value)) = line.rsplit_once(' ') else {
                continue;
            };
            let Ok(value) = value.parse::<f64>() else {
                continue;
            };
            let (name, labels) = key.split_once('{').unwrap_or((key, ""));
            *figures.entry(name.to_owned()).or_insert(0.0) += value;
            if !labels.is_empty() {
                *figures.entry(key.to_owned()).or_insert(0.0) += value;
            }
        }
        Self(figures)
    }

    fn get(&self, name: &str) -> f64 {
        self.0.get(name).copied().unwrap_or_default()
    }
}

impl Shown {
    fn between(before: &Sample, now: &Sample, limit: usize) -> Self {
        let elapsed = (now.at - before.at).as_secs_f64().max(f64::EPSILON);
        // The counters of a server that was restarted in between begin at zero.
        let more = |name: &str| (now.figures.get(name) - before.figures.get(name)).max(0.0);
        let rate = |name: &str| more(name) / elapsed;
        let bytes = |name: &str| now.figures.get(name) as u64;
        let append = "universe_store_append_duration_seconds";
        let batches = more(&format!("{append}_count"));
        let append = more(&format!("{append}_sum")) / batches;
        Self {
            universes: now.universes.len(),
            commands_per_second: rate("universe_commands_total{outcome=\"done\"}"),
            refused_per_second: rate("universe_commands_total{outcome=\"refused\"}"),
            requests_per_second: rate("http_server_request_duration_seconds_count"),
            mcp_operations_per_second: rate("mcp_server_operation_duration_seconds_count"),
            append_seconds: (batches > 0.0).then_some(append),
            feed_readers: now.figures.get("universe_feed_readers"),
            listeners: now.figures.get("universe_budget_used{bound=\"listeners\"}"),
            sessions: now.figures.get("mcp_server_sessions"),
            memory_bytes: bytes("process_resident_memory_bytes"),
            store_bytes: bytes("universe_store_size_bytes") + bytes("universe_store_log_bytes"),
            store_free_bytes: bytes("universe_store_free_bytes"),
            active: active(before, now, elapsed, limit),
        }
    }

    fn summary(&self) -> String {
        let append = match self.append_seconds {
            Some(seconds) => format!("{:.1} ms to be durable", seconds * 1e3),
            None => "none to be durable".to_owned(),
        };
        let head = format!(
            "{} {}, {} feed readers, {} listeners in all, {} sessions, {} of \
             memory, {} on the disk ({} free)\n{:.1} commands/s ({append}), \
             {:.1} refused/s, {:.1} requests/s, {:.1} MCP operations/s",
            self.universes,
            if self.universes == 1 { "universe" } else { "universes" },
            self.feed_readers,
            self.listeners,
            self.sessions,
            ByteSize(self.memory_bytes),
            ByteSize(self.store_bytes),
            ByteSize(self.store_free_bytes),
            self.commands_per_second,
            self.refused_per_second,
            self.requests_per_second,
            self.mcp_operations_per_second,
        );
        let row = |it: &Active| {
            [
                it.id.clone(),
                it.name.clone(),
                it.revision.to_string(),
                format!("{:.1}", it.per_second),
                it.updated_at.clone(),
            ]
        };
        let rows: Vec<_> = self.active.iter().map(row).collect();
        let heads = ["ID", "NAME", "REVISION", "CHANGES/S", "UPDATED"];
        format!("{head}\n{}", service_host::table(&heads, &rows))
    }
}

/// The universes that changed most, followed by unchanged ones with the longest histories.
fn active(before: &Sample, now: &Sample, elapsed: f64, limit: usize) -> Vec<Active> {
    let was: HashMap<&str, u64> =
        before.universes.iter().map(|it| (it.id.as_str(), it.revision)).collect();
    let mut found: Vec<(u64, &Summary)> = now
        .universes
        .iter()
        .map(|it| {
            let was = was.get(it.id.as_str()).copied().unwrap_or_default();
            (it.revision.saturating_sub(was), it)
        })
        .collect();
    found.sort_by_key(|(more, it)| std::cmp::Reverse((*more, it.revision)));
    let shown = found.into_iter().take(limit).map(|(more, it)| Active {
        id: it.id.clone(),
        name: it.name.clone(),
        revision: it.revision,
        per_second: f64::from(u32::try_from(more).unwrap_or(u32::MAX)) / elapsed,
        updated_at: it.updated_at.clone(),
    });
    shown.collect()
}

fn seconds(text: &str) -> Result<f64, String> {
    let given: Option<f64> = text.parse().ok();
    let given = given.filter(|given| (0.1..=3_600.0).contains(given));
    given.ok_or_else(|| "a number of seconds from 0.1 to 3600 was expected".to_owned())
}
