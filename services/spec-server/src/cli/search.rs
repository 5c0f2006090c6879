//! `spec-server search`, and how a server searches.

use std::path::PathBuf;

use clap::Args;

use super::CliError;
use super::output::{Ink, Output};
use crate::project::Project;
use crate::search::{Freshness, MAX_TOP_K, Scope, Searcher, Settings, TOP_K};
use crate::validate::Touching;
use crate::view::SearchResults;

#[derive(Debug, Clone, Args)]
pub(super) struct SearchArgs {
    /// The question, or some words.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,

    /// How many answers, at most 100.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = TOP_K as u64,
        value_parser = clap::value_parser!(u64).range(1..=MAX_TOP_K as u64))]
    top_k: u64,

    /// Where to search.
    #[arg(long = "in", value_enum, default_value_t, value_name = "WHERE")]
    scope: Scope,

    /// Prints JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: Options,
}

/// How to search.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    /// When specs can be searched: always, or only after `spec-server index` has run once.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    index: Freshness,

    /// A folder with a sentence-embedding model (model.safetensors, config.json, tokenizer.json), to find what says
    /// the same in other words. By default spec-server/model in the user's data folder ($XDG_DATA_HOME, else
    /// ~/.local/share), if it is there.
    #[arg(long, value_name = "DIR", env = "SPEC_SERVER_MODEL_DIR")]
    model_dir: Option<PathBuf>,

    /// Searches by words alone, even if there is a model.
    #[arg(long, conflicts_with = "model_dir")]
    no_model: bool,

    /// The least score, from 0 to 1, of an answer found by its words. At 0 one word of the query is enough.
    #[arg(long, value_name = "SCORE", default_value_t = 0.0, value_parser = score)]
    threshold: f64,
}

impl SearchArgs {
    pub(super) fn run(&self, project: &Project, output: &mut Output<'_>) -> Result<u8, CliError> {
        let query = self.query.join(" ");
        let top_k = usize::try_from(self.top_k).unwrap_or(MAX_TOP_K);
        let mut settings = self.options.settings()?;
        let archived = self.scope.archived();
        if archived.is_some() {
            // Reading a model takes time, and it is not needed here.
            settings.model = None;
        }
        let searcher = Searcher::open(project.root(), settings)?;
        let results = match archived {
            None => {
                let specs = project.specs()?;
                searcher.update(&specs.items)?;
                searcher.finish();
                let touching = Touching::of(&project.changes()?.items);
                let found = searcher.search(&query, top_k)?;
                SearchResults::of(&found, specs.unreadable.len(), &touching)
            }
            Some(archived) => {
                let listing = project.changes_in(archived)?;
                let found = searcher.search_changes(&listing.items, archived, &query, top_k)?;
                SearchResults::of(&found, listing.unreadable.len(), &Touching::default())
            }
        };
        if self.json {
            output.json(&results)?;
            return Ok(0);
        }
        if results.results.is_empty() {
            output.line("Nothing found.")?;
        }
        for hit in &results.results {
            let place = [&hit.change_id, &hit.file].into_iter().flatten();
            let place = place.map(String::as_str).collect::<Vec<_>>().join("/");
            let place = if place.is_empty() { &hit.spec_id } else { &place };
            let name = match hit.requirement.as_ref().or(hit.section.as_ref()) {
                Some(part) => format!("{place} › {part}"),
                None => place.clone(),
            };
            let name = output.paint(Ink::Cyan, &name);
            let line = output.paint(Ink::Dim, &format!("line {}", hit.line));
            output.line(format_args!("{:.3}  {name}  {line}", hit.score))?;
            output.line(format_args!("      {}", output.safe(&hit.snippet)))?;
        }
        if let Some(note) = &results.note {
            output.line(output.paint(Ink::Yellow, note))?;
        }
        Ok(0)
    }
}

impl Options {
    /// The settings that these options ask for.
    ///
    /// # Errors
    /// A model that is seen to be unusable without reading it.
    pub(super) fn settings(&self) -> Result<Settings, CliError> {
        if let Some(folder) = self.model_dir.as_ref().filter(|folder| !folder.is_dir()) {
            let problem = format!("--model-dir: {} is not a folder", folder.display());
            return Err(CliError::Usage(problem));
        }
        let found = || model_of_user().filter(|_| !self.no_model);
        Ok(Settings {
            freshness: self.index,
            model: self.model_dir.clone().or_else(found),
            threshold: self.threshold,
        })
    }
}

/// The model in the user's data folder, if there is one (XDG Base Directory Specification).
fn model_of_user() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let data = folder("XDG_DATA_HOME").map(PathBuf::from);
    let data = data.or_else(|| Some(PathBuf::from(folder("HOME")?).join(".local/share")));
    let model = data?.join("spec-server/model");
    model.join("model.safetensors").is_file().then_some(model)
}

/// A score from 0 to 1.
fn score(given: &str) -> Result<f64, String> {
    let score: f64 = given.parse().map_err(|_| "it is not a number".to_owned())?;
    if (0.0..=1.0).contains(&score) {
        Ok(score)
    } else {
        Err("it is not between 0 and 1".to_owned())
    }
}
