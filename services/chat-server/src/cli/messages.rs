//! `chat-server messages`

use std::process::ExitCode;

use clap::Args;
use serde_json::Value;
use service_host::complain;

use super::CliError;
use super::output::{Format, Output};
use super::paths::{Paths, close};
use crate::chat_service::{Mode, Question};
use crate::view::{self, compact};

/// The columns of a message.
const COLUMNS: [&str; 9] =
    ["source", "chat_id", "chat", "id", "timestamp", "sender", "content", "reply_to", "edited"];

#[derive(Debug, Clone, Args)]
pub(super) struct MessagesArgs {
    #[command(flatten)]
    asked: Question,
    /// How to write it.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Search {
    /// Words or parts of words, "phrases", a OR b, -not, emoji.
    #[arg(required = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Search {
    /// The messages with these words.
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let service = paths.open(Mode::Reads).await?;
        let asked = Question {
            search: Some(self.words.join(" ")),
            stored: Some(true),
            ..Question::default()
        };
        let page = service.messages(&asked).await;
        close(&service).await;
        write(page?, Format::Text, false)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl MessagesArgs {
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let service = paths.open(Mode::Reads).await?;
        let asked = self.asked;
        let is_one = asked.chat.as_deref().is_some_and(|chat| chat != "*" && !chat.ends_with(":*"));
        let page = service.messages(&asked).await;
        close(&service).await;
        write(page?, self.format, is_one)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn write(page: view::Messages, format: Format, is_one: bool) -> Result<(), CliError> {
    let mut output = Output::new();
    match format {
        Format::Json => output.json(&compact::messages(&page))?,
        Format::Csv => {
            let rows: Vec<Value> = page.messages.iter().map(compact::one).collect();
            output.table(&COLUMNS, &rows)?;
        }
        Format::Text => {
            for message in page.messages {
                let message = if is_one { message } else { message.among_chats() };
                output.line(&message.line())?;
            }
            if let Some(note) = &page.note {
                complain(note);
            }
            if let Some(cursor) = &page.next_cursor {
                complain(&format!("there are more: --cursor {cursor}"));
            }
        }
    }
    output.finish()?;
    Ok(())
}
