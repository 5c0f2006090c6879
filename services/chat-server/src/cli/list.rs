//! `chat-server sources` and `chat-server chats`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use service_host::complain;

use super::CliError;
use super::output::{Format, Output};
use super::paths::{Paths, close};
use crate::chat_service::{ChatFilter, ChatQuestion, ChatService, Mode};
use crate::view;

/// The columns of a source and of a chat.
const SOURCE: [&str; 7] = ["id", "name", "is_connected", "streams", "chats", "messages", "status"];
const CHAT: [&str; 8] = [
    "source",
    "id",
    "name",
    "type",
    "participant_count",
    "counted",
    "message_count",
    "last_activity",
];

#[derive(Debug, Clone, Args)]
pub(super) struct Sources {
    /// How to write it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Chats {
    /// The id of the source; all sources if it is left out.
    source: Option<String>,
    #[command(flatten)]
    filter: ChatFilter,
    /// How many at most.
    #[arg(long)]
    limit: Option<i64>,
    /// How many of the first to pass over.
    #[arg(long)]
    offset: Option<i64>,
    /// How to write it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Sources {
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let service = paths.open(Mode::Reads).await?;
        let sources = service.sources().await?;
        close(&service).await;
        let mut output = Output::new();
        match self.format {
            Format::Json => output.json(&json!({ "sources": sources }))?,
            Format::Csv => output.table(&SOURCE, &sources)?,
            Format::Text => {
                for source in &sources {
                    output.line(&source_line(source))?;
                }
            }
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }
}

fn source_line(source: &view::Source) -> String {
    let doubtful = source.date_doubts.len() as u64 + source.more_date_doubts;
    let doubtful = (doubtful > 0).then(|| format!("dates of {doubtful} chats are in doubt"));
    let said = source.not_served.iter().chain(&source.status);
    let said: String = said
        .chain(&doubtful)
        .chain(&source.cut)
        .chain(&source.twice)
        .map(|it| format!(" ({it})"))
        .collect();
    format!("{}: {} chats, {} messages{said}", source.id, source.chats, source.messages)
}

impl Chats {
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let service = paths.open(Mode::Reads).await?;
        let chats = self.ask(&service).await;
        close(&service).await;
        let chats = chats?;
        let mut output = Output::new();
        match self.format {
            Format::Json => output.json(&chats)?,
            Format::Csv => output.table(&CHAT, &chats.chats)?,
            Format::Text => {
                for chat in &chats.chats {
                    output.line(&chat_line(chat))?;
                }
                if let Some(note) = &chats.note {
                    complain(note);
                }
            }
        }
        output.finish()?;
        Ok(ExitCode::SUCCESS)
    }

    async fn ask(&self, service: &ChatService) -> Result<view::Chats, CliError> {
        let asked = ChatQuestion {
            source: self.source.clone(),
            filter: Some(self.filter.clone()),
            limit: self.limit,
            offset: self.offset,
            stored: Some(true),
        };
        Ok(service.chats(&asked).await?)
    }
}

fn chat_line(chat: &view::Chat) -> String {
    let last = chat.last_activity.as_deref().unwrap_or("never");
    let doubt = match &chat.date_doubt {
        Some(doubt) => {
            format!(", dates {} or perhaps {}", doubt.read_as.name(), doubt.or_perhaps.name())
        }
        None => String::new(),
    };
    format!(
        "{}:{}  {}  ({}, {} messages, last {last}{doubt})",
        chat.source, chat.id, chat.name, chat.kind, chat.message_count
    )
}
