//! `build`, `verify`, `stats` and `diff`: maps as files.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::load;
use crate::stats::Classes;
use crate::{diff, stats, verify};

use super::print::{self, Table};
use super::{Failure, MapArguments, PROGRAM};

/// How many lines of each kind a difference prints. With --json it prints all.
const MAX_LINES: usize = 50;

/// Arguments of `build`.
#[derive(Debug, Args)]
pub(super) struct Build {
    /// ARIA's universe_cache.json, a folder of CSV files, or the zip of the official Static Data Export (JSON Lines).
    source: PathBuf,
    /// The file to write. Default: ARIA_UNIVERSE_GRAPH, else the user's data directory, where the server looks for it.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Writes over a file that is there.
    #[arg(long)]
    force: bool,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub(super) struct Verify {
    #[command(flatten)]
    map: MapArguments,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `stats`.
#[derive(Debug, Args)]
pub(super) struct Stats {
    #[command(flatten)]
    map: MapArguments,
    /// Counts each region too.
    #[arg(long)]
    detailed: bool,
    /// Prints all of it as JSON.
    #[arg(long)]
    json: bool,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(super) struct Diff {
    /// The older map.
    old: PathBuf,
    /// The newer map.
    new: PathBuf,
    /// Prints all of it as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn build(arguments: &Build) -> Result<ExitCode, Failure> {
    let output = load::graph_path(arguments.output.as_deref());
    if output.is_dir() {
        return Err(Failure::Other(format!(
            "{} is a folder: --output names the file to write",
            output.display()
        )));
    }
    let target = output.canonicalize().ok();
    if target.is_some() && target == arguments.source.canonicalize().ok() {
        return Err(Failure::Other(format!(
            "{} is the source itself: --output names another file",
            output.display()
        )));
    }
    if !arguments.force && output.exists() {
        return Err(Failure::Other(format!(
            "{} is there already: --force writes over it, --output names another",
            output.display()
        )));
    }
    let loaded = super::load(Some(&arguments.source))?;
    load::write(&loaded.map, &output)?;
    print::out(&format!(
        "{}: {} systems, {} connections, data {}, from {}\n",
        output.display(),
        loaded.map.systems().len(),
        loaded.map.connections(),
        loaded.map.version(),
        loaded.format
    ))?;
    if loaded.map.systems().iter().all(|it| it.position.is_none()) {
        let warning = "the source has no positions: jump_range needs them, and pictures are drawn in order without them";
        print::report(PROGRAM, warning);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn verify(arguments: &Verify) -> Result<ExitCode, Failure> {
    let loaded = super::load(arguments.map.graph.as_deref())?;
    let checks = verify::verify(&loaded.map);
    if arguments.json {
        print::json(&checks)?;
    } else {
        let lines: String = checks.iter().map(|check| format!("{check}\n")).collect();
        print::out(&lines)?;
    }
    if verify::passed(&checks) {
        return Ok(ExitCode::SUCCESS);
    }
    print::report(PROGRAM, "the map does not pass");
    Ok(ExitCode::FAILURE)
}

pub(super) fn stats(arguments: &Stats) -> Result<ExitCode, Failure> {
    let stats = stats::stats(&super::load(arguments.map.graph.as_deref())?.map);
    if arguments.json {
        print::json(&stats)?;
        return Ok(ExitCode::SUCCESS);
    }
    let classes = |it: Classes| format!("{} high, {} low, {} null", it.high, it.low, it.null);
    let mut table = Table::new(["data", &stats.version]);
    let released = stats.released.as_deref().unwrap_or("unknown");
    table.row(["released".to_owned(), released.to_owned()]);
    table.row(["systems".to_owned(), format!("{} ({})", stats.systems, classes(stats.classes))]);
    table.row(["with gates".to_owned(), classes(stats.gated)]);
    table.row(["border systems".to_owned(), stats.borders.to_string()]);
    table.row(["with positions".to_owned(), stats.positions.to_string()]);
    table.row(["connections".to_owned(), stats.connections.to_string()]);
    table.row(["constellations".to_owned(), stats.constellations.to_string()]);
    table.row(["regions".to_owned(), stats.regions.to_string()]);
    let parts = stats.parts.iter();
    let parts: Vec<String> =
        parts.map(|part| format!("{} ({})", part.systems, part.first)).collect();
    table.row(["parts, with a system of each".to_owned(), parts.join(", ")]);
    table.row(["systems without gates".to_owned(), stats.alone.to_string()]);
    let mut text = table.text();
    if arguments.detailed {
        let mut table =
            Table::new(["region", "constellations", "high", "low", "null", "borders", "exits"]);
        for region in &stats.by_region {
            table.row([
                region.name.clone(),
                region.constellations.to_string(),
                region.classes.high.to_string(),
                region.classes.low.to_string(),
                region.classes.null.to_string(),
                region.borders.to_string(),
                region.exits.to_string(),
            ]);
        }
        text.push('\n');
        text.push_str(&table.text());
    }
    print::out(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn diff(arguments: &Diff) -> Result<ExitCode, Failure> {
    let old = super::load(Some(&arguments.old))?;
    let new = super::load(Some(&arguments.new))?;
    let diff = diff::diff(&old.map, &new.map);
    if arguments.json {
        print::json(&diff)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("data {} to {}\n", diff.old_version, diff.new_version);
    let mut list = |what: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "\n{what} ({}):", lines.len());
        for line in lines.iter().take(MAX_LINES) {
            let _ = writeln!(text, "  {line}");
        }
        if let Some(more) = lines.len().checked_sub(MAX_LINES).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} more; --json lists all");
        }
    };
    let named = |list: &[diff::Named]| list.iter().map(|it| it.name.clone()).collect();
    for (what, changes) in [
        ("regions", &diff.regions),
        ("constellations", &diff.constellations),
        ("systems", &diff.systems),
    ] {
        list(&format!("{what} added"), named(&changes.added));
        list(&format!("{what} removed"), named(&changes.removed));
        let renamed = changes.renamed.iter();
        let renamed = renamed.map(|it| format!("{} is now {}", it.old, it.new));
        list(&format!("{what} renamed"), renamed.collect());
    }
    let gates = |gates: &[diff::Gate]| {
        let gates = gates.iter();
        gates.map(|it| format!("{} - {}", it.from.name, it.to.name)).collect()
    };
    list("gates added", gates(&diff.gates_added));
    list("gates removed", gates(&diff.gates_removed));
    let security = diff.security.iter();
    let security = security.map(|it| format!("{}: {} to {}", it.name, it.old, it.new));
    list("security changed", security.collect());
    let moved = diff.moved.iter();
    let moved =
        moved.map(|it| format!("{}: {} to {}", it.name, it.old.join(", "), it.new.join(", ")));
    list("in another constellation or region", moved.collect());
    list("elsewhere in space", named(&diff.positions.moved));
    for (count, what) in [
        (diff.positions.became_known, "became known"),
        (diff.positions.became_unknown, "are no longer known"),
    ] {
        if count > 0 {
            list("positions", vec![format!("{count} {what}")]);
        }
    }
    if text.lines().count() == 1 {
        text.push_str("nothing is different\n");
    }
    print::out(&text)?;
    Ok(ExitCode::SUCCESS)
}
