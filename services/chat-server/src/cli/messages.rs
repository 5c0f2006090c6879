//! `chat-server messages` and `chat-server search`

use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use service_host::complain;

use super::error::CliError;
use super::output::{Format, Output};
use super::paths::Paths;
use crate::chat_service::Question;
use crate::view::compact;

/// The columns of a message.
const COLUMNS: [&str; 9] =
    ["source", "chat_id", "chat", "id", "timestamp", "sender", "content", "reply_to", "edited"];

#[derive(Debug, Clone, Args)]
pub(super) struct MessagesArgs {
    #[command(flatten)]
    asked: Question,
    /// The format of the answer.
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Clone, Args)]
pub(super) struct Search {
    /// Words or parts of words, "phrases", a OR b, -not, emoji.
    #[arg(required = true, allow_hyphen_values = true, value_parser = word)]
    words: Vec<String>,
}

/// A word, which may begin with a dash. Two of them are an option, which would be looked for as a word.
fn word(text: &str) -> Result<String, &'static str> {
    match text.strip_prefix("--") {
        None => Ok(text.to_owned()),
        Some(_) => {
            Err("search takes only words; with options: chat-server messages [CHAT] --search WORDS")
        }
    }
}

impl Search {
    /// The messages with these words.
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let search = Some(self.words.join(" "));
        let asked = Question { search, stored: Some(true), ..Question::default() };
        MessagesArgs { asked, format: Format::Text }.run(paths).await
    }
}

impl MessagesArgs {
    pub(super) async fn run(self, paths: &Paths) -> Result<ExitCode, CliError> {
        let Self { asked, format } = self;
        let page = paths.ask(async |service| service.messages(&asked).await).await?;
        let is_one = asked.chat.as_deref().is_some_and(|chat| chat != "*" && !chat.ends_with(":*"));
        let rows = page.messages.iter().map(|message| Row {
            table: compact::one(message),
            line: if is_one { message.line() } else { message.clone().among_chats().line() },
        });
        let rows: Vec<Row> = rows.collect();
        let all = compact::messages(&page);
        let done = Output::new().answer(format, &all, &COLUMNS, &rows, |row| row.line.clone());
        if format == Format::Text {
            page.note.iter().for_each(|note| complain(note));
            if let Some(cursor) = &page.next_cursor {
                complain(&format!("there are more: --cursor {cursor}"));
            }
        }
        done
    }
}

/// A message in a table, and as a line.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    table: Value,
    #[serde(skip)]
    line: String,
}
