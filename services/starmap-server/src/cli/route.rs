//! `route`: the way between two systems, as a table, JSON or a picture.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;

use crate::activity::Measure;
use crate::errors::UniverseError;
use crate::map::{Map, SystemIndex, shown_security};
use crate::mcp::Snapshot;
use crate::mcp::arguments::{Common, Ways};
use crate::mcp::tools::{self, RouteArguments};
use crate::name::{List, Name};
use crate::picture;

use super::print::{self, Table};
use super::{Failure, Sources};

/// Arguments of `route`.
#[derive(Debug, Args)]
pub(super) struct Route {
    /// The system to start from.
    origin: String,
    /// The system to go to.
    destination: String,
    /// What to prefer: shortest, safe, unsafe, safer or less-secure. The last two are the game's autopilot settings.
    #[arg(long, default_value = "shortest", value_parser = mode)]
    mode: String,
    /// With safer and less-secure: how much of a detour that is worth.
    #[arg(long, value_parser = clap::value_parser!(u8).range(0..=100), value_name = "0-100")]
    penalty: Option<u8>,
    /// A system not to pass through. Repeatable.
    #[arg(long, value_name = "SYSTEM")]
    avoid: Vec<String>,
    /// A region not to pass through. Repeatable.
    #[arg(long, value_name = "REGION")]
    avoid_region: Vec<String>,
    /// A rule of the game to lift: zarzakh. Repeatable.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Avoids systems with at least so many kills in the last hour; needs --activity.
    #[arg(long, value_name = "KILLS")]
    avoid_kills: Option<u32>,
    /// How many jumps each recent kill in a system costs; needs --activity.
    #[arg(long, value_name = "JUMPS")]
    danger_weight: Option<f64>,
    /// How many routes to give, the best first.
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=10), default_value_t = 1, value_name = "1-10")]
    alternatives: u8,
    /// Also compares the shortest route with the safe one.
    #[arg(long)]
    cost_of_safety: bool,
    /// Replaces an unknown name by the only one that is a letter away, and reports it.
    #[arg(long)]
    correct: bool,
    #[command(flatten)]
    sources: Sources,
    /// Prints JSON, as the tool returns it.
    #[arg(long)]
    json: bool,
    /// Draws it into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// A word for a mode, as the tool takes it.
fn mode(word: &str) -> Result<String, UniverseError> {
    tools::mode(Some(word), None).map(|_| word.to_owned())
}

pub(super) fn run(arguments: &Route) -> Result<ExitCode, Failure> {
    let now = super::snapshot(
        &arguments.sources.map,
        arguments.sources.activity.as_deref(),
        arguments.sources.connections.as_deref(),
    )?;
    let asked = RouteArguments {
        origin: arguments.origin.as_str().into(),
        destination: arguments.destination.as_str().into(),
        mode: Some(arguments.mode.clone()),
        penalty: arguments.penalty,
        avoid_systems: names(&arguments.avoid),
        avoid_regions: names(&arguments.avoid_region),
        alternatives: Some(arguments.alternatives),
        cost_of_safety: Some(arguments.cost_of_safety),
        avoid_kills: arguments.avoid_kills,
        danger_weight: arguments.danger_weight,
        ways: Ways { allow: Some(names(&arguments.allow)), ..Ways::default() },
        common: Common { correct: Some(arguments.correct), detail: None },
        ..RouteArguments::default()
    };
    let answer = tools::route(&now, &asked)?;
    let (systems, mode) = (&answer.body.way, answer.body.mode);
    if let Some(path) = &arguments.svg {
        let title = tools::route_title(&now.map, systems, mode);
        print::picture(path, &picture::route(&now.map, systems, &title))?;
    }
    if arguments.json {
        print::json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(age) = now.activity.as_ref().and_then(|it| it.kills_age(SystemTime::now())) {
        print::report(super::PROGRAM, &format!("kills as of {} min ago", age / 60));
    }
    let mut text = format!("{}\n", tools::route_title(&now.map, systems, mode));
    // Writing to a string does not fail.
    for (typed, used) in &answer.corrections {
        let _ = writeln!(text, "{typed:?} is taken for {used}");
    }
    text.push('\n');
    text.push_str(&table(&now, systems));
    let security = &answer.body.security_summary;
    let _ = writeln!(
        text,
        "\n{} systems of high security, {} of low, {} of null; lowest {} in {}; cost {}; data {}",
        security.highsec_jumps,
        security.lowsec_jumps,
        security.nullsec_jumps,
        shown_security(security.lowest_security),
        security.lowest_security_system,
        answer.body.cost.unwrap_or(answer.body.jumps as f64),
        answer.data_version
    );
    for step in &answer.body.connections_used {
        let _ = writeln!(text, "not by a gate: {} to {}", step.from, step.to);
    }
    for warning in &answer.warnings {
        let _ = writeln!(text, "! {warning}");
    }
    for other in answer.body.alternatives.iter().flatten() {
        let _ = writeln!(
            text,
            "\nanother, {} jumps, cost {}: {}",
            other.jumps,
            other.cost,
            other.names.join(" > ")
        );
    }
    if let Some(both) = &answer.body.cost_of_safety {
        let _ = writeln!(
            text,
            "\nsafe takes {} jumps more: {} instead of {}",
            both.more_jumps, both.safe.jumps, both.shortest.jumps
        );
    }
    print::out(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Systems in order, a row each.
pub(super) fn table(now: &Snapshot, systems: &[SystemIndex]) -> String {
    let map = &*now.map;
    let region = |map: &Map, system| map.region(map.system(system).region).name.to_string();
    let cells = |at: usize, system: SystemIndex| {
        let record = map.system(system);
        [
            at.to_string(),
            record.name.to_string(),
            format!("{:.1}", shown_security(record.security)),
            record.class.to_string(),
            region(map, system),
        ]
    };
    let Some(activity) = now.activity.as_deref() else {
        let mut table = Table::new(["#", "system", "sec", "class", "region"]);
        for (at, &system) in systems.iter().enumerate() {
            table.row(cells(at, system));
        }
        return table.text();
    };
    let mut table = Table::new(["#", "system", "sec", "class", "region", "kills", "jumps"]);
    for (at, &system) in systems.iter().enumerate() {
        let [at, name, security, class, region] = cells(at, system);
        let figures = activity.figures(map.system(system).id);
        // Figures missing from the dump are not zero.
        let count = |measure| {
            if activity.counts(measure) {
                figures.count(measure).to_string()
            } else {
                "-".to_owned()
            }
        };
        let (kills, jumps) = (count(Measure::Kills), count(Measure::Jumps));
        table.row([at, name, security, class, region, kills, jumps]);
    }
    table.text()
}

fn names(names: &[String]) -> List {
    names.iter().map(|name| Name::from(name.as_str())).collect()
}
