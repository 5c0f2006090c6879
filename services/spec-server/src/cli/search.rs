//! `spec-server search`, and how a server searches.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::CliError;
use super::output::{Ink, Output};
use crate::project::Project;
use crate::search::{Freshness, Searcher, Settings, TOP_K, Thresholds};
use crate::view::SearchResults;

/// The most answers of one search.
pub(crate) const MAX_TOP_K: usize = 100;

#[derive(Debug, Clone, Args)]
pub(super) struct Arguments {
    /// The question, or some words.
    #[arg(required = true, value_name = "QUERY")]
    query: Vec<String>,

    /// How many answers, at most 100.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = TOP_K as u64,
        value_parser = clap::value_parser!(u64).range(1..=MAX_TOP_K as u64))]
    top_k: u64,

    /// Prints JSON.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    options: Options,
}

/// How to search.
#[derive(Debug, Clone, Args)]
pub(super) struct Options {
    /// When the search index is made: with every search as far as specs have changed, or by `spec-server index` alone.
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    index: When,

    /// A folder with a sentence-embedding model (model.safetensors, config.json, tokenizer.json), to find what says
    /// the same in other words. Needs a program built with the feature `semantic`.
    #[arg(long, value_name = "DIR")]
    model_dir: Option<PathBuf>,

    /// The least score of an answer found by its words, from 0 to 1. At 0 one of the words occurs.
    #[arg(long, value_name = "SCORE", default_value_t = Thresholds::default().bm25, value_parser = score)]
    threshold: f64,

    /// The least score of an answer found by its sense, from 0 to 1. Texts that have nothing to do with each other
    /// mostly have less than 0.2.
    #[arg(long, value_name = "SCORE", default_value_t = Thresholds::default().semantic, value_parser = score)]
    semantic_threshold: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum When {
    /// With every search.
    Auto,
    /// By the command `index`.
    Explicit,
}

impl Arguments {
    pub(super) fn run<W: Write>(
        &self,
        project: &Project,
        output: &mut Output<W>,
    ) -> Result<u8, CliError> {
        let searcher = Searcher::open(project.root(), self.options.settings()?)?;
        let specs = project.specs()?;
        searcher.update(&specs.items)?;
        searcher.finish();
        let query = self.query.join(" ");
        let found = searcher.search(&query, usize::try_from(self.top_k).unwrap_or(MAX_TOP_K))?;
        let results = SearchResults::of(&found, specs.unreadable.len());
        if self.json {
            output.json(&results)?;
            return Ok(0);
        }
        if results.results.is_empty() {
            output.line("Nothing found.")?;
        }
        for hit in &results.results {
            let name = match &hit.requirement {
                Some(requirement) => format!("{} › {requirement}", hit.spec_id),
                None => hit.spec_id.clone(),
            };
            let name = output.paint(Ink::Cyan, &name);
            let line = output.paint(Ink::Dim, &format!("line {}", hit.line));
            output.line(format_args!("{:.2}  {name}  {line}", hit.score))?;
            output.line(format_args!("      {}", output.safe(&hit.snippet)))?;
        }
        if let Some(note) = &results.note {
            output.line(output.paint(Ink::Yellow, note))?;
        }
        Ok(0)
    }
}

impl Options {
    /// What they mean.
    ///
    /// # Errors
    /// A model that cannot be used, as far as that is seen without reading it.
    pub(super) fn settings(&self) -> Result<Settings, CliError> {
        if let Some(folder) = &self.model_dir {
            let problem = if !cfg!(feature = "semantic") {
                Some(
                    "this program is built without semantic search; build it with `cargo build --release -p spec-server \
                     --features semantic`, or leave --model-dir out: search by words needs no model"
                        .to_owned(),
                )
            } else if !folder.is_dir() {
                Some(format!("{} is no folder", folder.display()))
            } else {
                None
            };
            if let Some(problem) = problem {
                return Err(CliError::Usage(format!("--model-dir: {problem}")));
            }
        }
        Ok(Settings {
            freshness: match self.index {
                When::Auto => Freshness::Always,
                When::Explicit => Freshness::Explicit,
            },
            model: self.model_dir.clone(),
            thresholds: Thresholds {
                bm25: self.threshold,
                semantic: self.semantic_threshold,
            },
            ..Settings::default()
        })
    }
}

/// A score from 0 to 1.
fn score(given: &str) -> Result<f64, String> {
    let score: f64 = given.parse().map_err(|_| "it is no number".to_owned())?;
    match (0.0..=1.0).contains(&score) {
        true => Ok(score),
        false => Err("it is not between 0 and 1".to_owned()),
    }
}
