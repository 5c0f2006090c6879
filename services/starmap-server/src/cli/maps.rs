//! `build`, `verify` and `stats`: maps as files.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::load::{self, Losses};
use crate::{stats, verify};

use super::tool::shown;
use super::{Failure, MapArguments, PROGRAM, print, report};

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
    let target = output.canonicalize().ok();
    let is_source = target.is_some() && target == arguments.source.canonicalize().ok();
    let problem = match () {
        () if output.is_dir() => Some("is a folder: --output names the file to write"),
        () if is_source => Some("is the source itself: --output names another file"),
        () if !arguments.force && output.exists() => {
            Some("is there already: --force writes over it, --output names another")
        }
        () => None,
    };
    if let Some(problem) = problem {
        return Err(Failure::Other(format!("{} {problem}", output.display())));
    }
    let losses = Losses::accepted(arguments.accept_losses);
    let loaded = super::load(Some(&arguments.source), losses)?;
    load::write(&loaded.map, &output)?;
    print(&format!(
        "{}: {} systems, {} connections, data {}, from {}",
        output.display(),
        loaded.map.systems().len(),
        loaded.map.connections(),
        loaded.map.version(),
        loaded.format
    ))?;
    if loaded.map.systems().iter().all(|it| it.position.is_none()) {
        let warning = "the source has no positions: jump_range needs them, and pictures are drawn in order without them";
        report(PROGRAM, warning);
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn verify(arguments: &Verify) -> Result<ExitCode, Failure> {
    let checks = verify::verify(&arguments.map.load()?.map);
    let lines: Vec<String> = checks.iter().map(ToString::to_string).collect();
    print(&if arguments.json { format!("{:#}", json!(checks)) } else { lines.join("\n") })?;
    if verify::passed(&checks) {
        return Ok(ExitCode::SUCCESS);
    }
    report(PROGRAM, "the map does not pass");
    Ok(ExitCode::FAILURE)
}

pub(super) fn stats(arguments: &Stats) -> Result<ExitCode, Failure> {
    let mut stats = json!(stats::stats(&arguments.map.load()?.map));
    if arguments.json {
        print(&format!("{stats:#}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let regions = stats.as_object_mut().and_then(|it| it.remove("by_region"));
    let mut text = shown(&stats);
    let regions = regions.as_ref().and_then(|it| it.as_array());
    for region in regions.into_iter().flatten().filter(|_| arguments.detailed) {
        text.push_str(&format!("\n{}", shown(region)));
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

impl MapArguments {
    fn load(&self) -> Result<load::Loaded, Failure> {
        super::load(self.graph.as_deref(), Losses::accepted(self.accept_losses))
    }
}
