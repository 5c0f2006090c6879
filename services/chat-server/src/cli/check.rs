//! `chat-server check-config` and `chat-server day-order`

use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::Args;
use toml_edit::value;

use super::document::{Document, text};
use super::error::CliError;
use super::import::ImportArgs;
use super::output::Output;
use super::paths::Paths;
use crate::config::{SourceConfig, SourceKind, forms};
use crate::import;
use crate::model::Chat;
use crate::source::Event;

/// How many names similar to an entry are listed.
const NEAREST: usize = 3;

#[derive(Debug, Clone, Args)]
pub(super) struct DayOrderArgs {
    /// The id of the source.
    source: String,
    /// day-first (31/12/2023), month-first (12/31/2023) or year-first (2023/12/31).
    #[arg(value_parser = ["day-first", "month-first", "year-first"])]
    order: String,
}

/// Reads the names of all chats of the exports, and compares the lists with them.
pub(super) async fn run(paths: &Paths) -> Result<ExitCode, CliError> {
    let mut output = Output::new();
    let mut is_fine = true;
    for source in paths.config()?.sources {
        let id = source.id.clone();
        let problems = tokio::task::spawn_blocking(move || check(&source)).await?;
        is_fine &= problems.is_empty();
        for problem in problems {
            output.line(&format!("{id}: {problem}"))?;
        }
    }
    if is_fine {
        output.line("the configuration is fine")?;
    }
    output.finish()?;
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong with a source.
fn check(source: &SourceConfig) -> Vec<String> {
    let SourceKind::Export { format, path, options, .. } = &source.kind else {
        return Vec::new();
    };
    let mut chats: Vec<Chat> = Vec::new();
    let mut take = |event| {
        if let Event::Chat(chat) = event {
            chats.push(chat);
        }
        ControlFlow::Continue(())
    };
    if let Err(error) = import::read(path, Some(*format), options, &mut take, &mut |_, _| {}) {
        return vec![error.to_string()];
    }
    let named = chats.iter().flat_map(|chat| source.chats.entries_for(&chat.id, &chat.name));
    let matched = named.cloned().collect();
    let unmatched = source.chats.unmatched(&matched);
    unmatched.into_iter().map(|entry| advice(entry, &chats)).collect()
}

/// The chats that an entry may have meant, with all forms of their ids.
fn advice(entry: &str, chats: &[Chat]) -> String {
    let mut near: Vec<(f64, &Chat)> = chats
        .iter()
        .map(|chat| (strsim::jaro_winkler(entry, &chat.name.to_lowercase()), chat))
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    let near: Vec<String> = near
        .into_iter()
        .take(NEAREST)
        .map(|(_, chat)| format!("{:?} (id {})", chat.name, forms(&chat.id).join(" or ")))
        .collect();
    format!(
        "the entry {entry:?} of `allow` or `deny` matches no chat, so nothing of this source is served; the nearest are {}",
        near.join(", ")
    )
}

impl DayOrderArgs {
    /// Writes the order into the configuration, without changing anything else, and reads the export again.
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let mut document = Document::open(paths)?;
        let source = document.source(&self.source)?;
        if text(source, "kind") != Some("whatsapp-export") {
            let problem = "is not a whatsapp-export: its dates are not in doubt";
            return Err(format!("{:?} {problem}", self.source).into());
        }
        source.insert("day_order", value(&self.order));
        document.write()?;
        ImportArgs::of(self.source).run(paths).await
    }
}
