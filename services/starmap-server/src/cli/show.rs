//! `show`: a system, a constellation or a region, as a table, JSON or a picture.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::map::{Space, shown_security};
use crate::mcp::views::{ConstellationView, Counts, Exit, RegionView, SystemView};
use crate::mcp::{Snapshot, known_constellation, known_region, resolve_system_name};
use crate::picture;

use super::print::{self, Table};
use super::route::table;
use super::{Failure, MapArguments};

/// Arguments of `show`.
#[derive(Debug, Args)]
pub(super) struct Show {
    /// What to show.
    #[arg(value_enum)]
    kind: Kind,
    /// Its name, in any case; of a system also its id.
    name: String,
    #[command(flatten)]
    map: MapArguments,
    /// A dump of the public API: kills are shown with the systems.
    #[arg(long, value_name = "PATH")]
    activity: Option<PathBuf>,
    /// Prints JSON, as the resource returns it.
    #[arg(long)]
    json: bool,
    /// Draws it into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    System,
    Constellation,
    Region,
}

pub(super) fn run(arguments: &Show) -> Result<ExitCode, Failure> {
    let now = super::snapshot(&arguments.map, arguments.activity.as_deref(), None)?;
    match arguments.kind {
        Kind::System => system(&now, arguments),
        Kind::Constellation => constellation(&now, arguments),
        Kind::Region => region(&now, arguments),
    }
}

fn system(now: &Snapshot, arguments: &Show) -> Result<ExitCode, Failure> {
    let map = &*now.map;
    let index =
        resolve_system_name(map, &arguments.name).map_err(|error| Failure::Query(error.into()))?;
    let record = map.system(index);
    let mut text = format!(
        "{} ({}): security {:.1} ({}, {}), {}, {}{}\n\n",
        record.name,
        record.id,
        shown_security(record.security),
        record.security,
        Space::described(map, index),
        map.constellation(record.constellation).name,
        map.region(record.region).name,
        if record.border { ", border system" } else { "" }
    );
    match map.neighbours(index) {
        [] => text.push_str("no gates\n"),
        around => text.push_str(&table(now, around)),
    }
    let view = SystemView::of(now, index);
    finish(arguments, || picture::system(map, index), &view, &text)
}

fn constellation(now: &Snapshot, arguments: &Show) -> Result<ExitCode, Failure> {
    let map = &*now.map;
    let index =
        known_constellation(map, &arguments.name).map_err(|it| Failure::Other(it.message))?;
    let view = ConstellationView::of(now, index);
    let mut text = format!("{}: {}\n\n", view.name, counts(view.counts));
    text.push_str(&table(now, &map.constellation(index).systems));
    text.push_str(&exits(&view.exits));
    finish(arguments, || picture::constellation(map, index), &view, &text)
}

fn region(now: &Snapshot, arguments: &Show) -> Result<ExitCode, Failure> {
    let map = &*now.map;
    let index = known_region(map, &arguments.name).map_err(|it| Failure::Other(it.message))?;
    let view = RegionView::of(now, index);
    let mut text = format!("{}: {}\n\n", view.name, counts(view.counts));
    let mut parts = Table::new(["constellation", "high", "low", "null", "systems"]);
    for part in &view.constellations {
        parts.row([
            part.name.clone(),
            part.counts.high.to_string(),
            part.counts.low.to_string(),
            part.counts.null.to_string(),
            part.systems.join(", "),
        ]);
    }
    text.push_str(&parts.text());
    text.push_str(&exits(&view.exits));
    finish(arguments, || picture::region(map, index), &view, &text)
}

fn finish(
    arguments: &Show,
    draw: impl FnOnce() -> String,
    view: &impl Serialize,
    text: &str,
) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.svg {
        print::picture(path, &draw())?;
    }
    if arguments.json {
        print::json(view)?
    } else {
        print::out(text)?
    }
    Ok(ExitCode::SUCCESS)
}

fn counts(counts: Counts) -> String {
    format!(
        "{} systems ({} high, {} low, {} null), {} border systems",
        counts.systems, counts.high, counts.low, counts.null, counts.borders
    )
}

fn exits(exits: &[Exit]) -> String {
    if exits.is_empty() {
        return "\nno gate leads out\n".to_owned();
    }
    let mut text = format!("\n{} gates lead out:\n", exits.len());
    for exit in exits {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {} - {} ({})", exit.from, exit.to, exit.region);
    }
    text
}
