//! `build`, `verify` and `stats`: maps as files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::load;
use crate::{stats, verify};

use super::print;
use super::tool::shown;
use super::{Failure, MapArguments, PROGRAM};

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
    /// Builds also from a source that has lost much of itself, or whose parts do not agree.
    #[arg(long)]
    accept_losses: bool,
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
    let loaded = super::load(Some(&arguments.source), super::losses(arguments.accept_losses))?;
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
    let loaded = super::load(arguments.map.graph.as_deref(), arguments.map.losses())?;
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
    let loaded = super::load(arguments.map.graph.as_deref(), arguments.map.losses())?;
    let mut stats = json!(stats::stats(&loaded.map));
    if arguments.json {
        print::json(&stats)?;
        return Ok(ExitCode::SUCCESS);
    }
    let regions = stats.as_object_mut().and_then(|it| it.remove("by_region"));
    let mut text = shown(&stats);
    let regions = regions.as_ref().and_then(|it| it.as_array());
    for region in regions.into_iter().flatten().filter(|_| arguments.detailed) {
        text.push_str(&format!("\n{}", shown(region)));
    }
    print::out(&text)?;
    Ok(ExitCode::SUCCESS)
}
