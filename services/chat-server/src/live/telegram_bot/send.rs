//! Sending by the bot.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Failed, TelegramBot, update};
use crate::event::Event;
use crate::outgoing::{Content, Outgoing, SendError, Sent};

/// How long Telegram may take.
const SEND_TIME: Duration = Duration::from_secs(40);

impl TelegramBot {
    /// Sends something, and waits until Telegram has it.
    pub(super) async fn deliver(&self, outgoing: &Outgoing) -> Result<Sent, SendError> {
        let chat = number(&outgoing.chat.id)?;
        let (method, question) = match &outgoing.content {
            Content::Message { text, reply_to } => {
                let mut question = json!({ "chat_id": chat, "text": text });
                if let (Some(id), Some(members)) = (reply_to, question.as_object_mut()) {
                    let answered = json!({ "message_id": number(id)? });
                    members.insert("reply_parameters".to_owned(), answered);
                }
                ("sendMessage", question)
            }
            Content::Reaction { id, emoji, removed } => {
                let emoji = json!({ "type": "emoji", "emoji": emoji });
                let reaction = if *removed { json!([]) } else { json!([emoji]) };
                let id = number(id)?;
                let question = json!({ "chat_id": chat, "message_id": id, "reaction": reaction });
                ("setMessageReaction", question)
            }
        };
        let api = self.api().await.map_err(|failed| SendError::Refused(failed.problem))?;
        let result = api.ask(method, &question, SEND_TIME).await.map_err(|it| failed(&it))?;
        Ok(Sent { events: events(outgoing, &result), note: None })
    }
}

fn number(id: &str) -> Result<i64, SendError> {
    id.parse().map_err(|_| SendError::Refused("its id is not one of Telegram".to_owned()))
}

fn failed(failed: &Failed) -> SendError {
    let problem = format!("the Bot API answers: {}", failed.problem);
    if failed.is_refusal { SendError::Refused(problem) } else { SendError::Unclear(problem) }
}

/// What Telegram says it has sent.
fn events(outgoing: &Outgoing, result: &Value) -> Vec<Event> {
    if let Content::Reaction { id, emoji, removed } = &outgoing.content {
        return outgoing.reacted(id, emoji, *removed);
    }
    let mut events = Vec::new();
    update::read(&json!({ "message": result }), &mut events);
    for event in &mut events {
        if let Event::Message { message, .. } = event {
            message.sender.iter_mut().for_each(|sender| sender.is_me = true);
        }
    }
    events
}
