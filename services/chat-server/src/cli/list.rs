//! `chat-server sources` and `chat-server chats`

use std::process::ExitCode;

use clap::Args;
use serde_json::json;
use service_host::complain;

use super::error::CliError;
use super::output::{Format, Output};
use super::paths::Paths;
use crate::chat_service::{ChatFilter, ChatQuestion};
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
    /// The format of the answer.
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
    /// The format of the answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

impl Sources {
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let sources = paths.ask(async |service| service.sources().await).await?;
        let all = json!({ "sources": sources });
        Output::new().answer(self.format, &all, &SOURCE, &sources, source_line)
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
        let asked = ChatQuestion {
            source: self.source,
            filter: Some(self.filter),
            limit: self.limit,
            offset: self.offset,
            stored: Some(true),
        };
        let chats = paths.ask(async |service| service.chats(&asked).await).await?;
        if self.format == Format::Text {
            chats.note.iter().for_each(|note| complain(note));
        }
        Output::new().answer(self.format, &chats, &CHAT, &chats.chats, chat_line)
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
