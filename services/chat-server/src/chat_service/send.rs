//! Sending, into chats that the configuration names one by one. It is prepared first, so that the person can be asked,
//! and only then carried out.

use schemars::JsonSchema;
use serde::Deserialize;

use super::chats::{beginning, id_of};
use super::completeness::joined;
use super::redact::Redactor;
use super::scope::Scope;
use super::{ChatService, Failure, failure};
use crate::config::alike;
use crate::event::Event;
use crate::index::{ChatKey, ChatSummary, StoredMessage};
use crate::model::ChatKind;
use crate::outgoing::{Content, Outgoing, SendError};
use crate::query::Invalid;
use crate::registry::RegisteredSource;
use crate::source::Batch;
use crate::view;

/// The most characters of a message that is sent, which both networks take.
const MAX_TEXT: usize = 4_000;

/// The most bytes of an emoji: a family with skin tones has 41.
const MAX_EMOJI_BYTES: usize = 64;

/// The most chats that a refusal names.
const MAX_NAMED: usize = 20;

/// What to say, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendQuestion {
    /// Id of the source; may be left out if the chat is the only one of its name.
    pub source: Option<String>,
    /// Id or name of the chat.
    pub chat: String,
    /// The message, at most 4000 characters.
    pub text: String,
    /// The id of the message that it answers.
    pub reply_to: Option<String>,
}

/// How to react, and to which message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactQuestion {
    /// Id of the source; may be left out if the chat is the only one of its name.
    pub source: Option<String>,
    /// Id or name of the chat.
    pub chat: String,
    /// The id of the message.
    pub message_id: String,
    /// One emoji.
    pub emoji: String,
    /// Take it back; false by default.
    pub remove: Option<bool>,
}

/// Something that may be sent once the person agrees.
#[derive(Debug)]
pub struct Prepared {
    /// What the person is asked.
    pub question: String,
    source: String,
    /// The name of the chat as it is shown.
    chat: String,
    /// The entry of the configuration that allows it.
    entry: String,
    outgoing: Outgoing,
}

impl ChatService {
    /// Whether something may be sent into any chat.
    pub fn sends(&self) -> bool {
        self.registry().iter().any(|entry| !entry.send_to.is_empty())
    }

    /// Prepares a message.
    ///
    /// # Errors
    /// [`Failure`]: the chat is not known or not allowed, its source cannot send or is not connected, or the text is
    /// empty, too long, or has characters that the person would not see.
    pub async fn prepare_message(&self, asked: SendQuestion) -> Result<Prepared, Failure> {
        let characters = asked.text.chars().count();
        if asked.text.trim().is_empty() || characters > MAX_TEXT {
            let reason = format!("it has {characters} characters: give 1 to {MAX_TEXT}");
            return Err(Invalid::new("text", reason).into());
        }
        visible("text", &asked.text)?;
        let (entry, permit, to) = self.recipient(asked.source, &asked.chat).await?;
        let mut question = format!("Send this to {}?\n\n{}", self.described(&to), asked.text);
        let reply_to = match &asked.reply_to {
            None => None,
            Some(id) => {
                let answered = self.answered(&to.key(), id).await?;
                question = format!("{question}\n\nIt answers {}", self.quoted(&answered));
                Some(answered.message.id)
            }
        };
        let content = Content::Message { text: asked.text, reply_to };
        self.prepared(entry, permit, to, content, question).await
    }

    /// Prepares a reaction.
    ///
    /// # Errors
    /// [`Failure`] as for [`prepare_message`](Self::prepare_message), and `MESSAGE_NOT_FOUND`.
    pub async fn prepare_reaction(&self, asked: ReactQuestion) -> Result<Prepared, Failure> {
        let emoji = asked.emoji.trim().to_owned();
        let is_word = |c: char| c.is_alphabetic() || c.is_whitespace() || c.is_control();
        if emoji.is_empty() || emoji.len() > MAX_EMOJI_BYTES || emoji.contains(is_word) {
            return Err(Invalid::new("emoji", "it is not an emoji: give one, such as 👍").into());
        }
        visible("emoji", &emoji)?;
        let (entry, permit, to) = self.recipient(asked.source, &asked.chat).await?;
        let answered = self.answered(&to.key(), &asked.message_id).await?;
        let removed = asked.remove.unwrap_or(false);
        let (verb, quoted) =
            (if removed { "Take back" } else { "React with" }, self.quoted(&answered));
        let question = format!("{verb} {emoji} in {}?\n\nTo {quoted}", self.described(&to));
        let content = Content::Reaction { id: answered.message.id, emoji, removed };
        self.prepared(entry, permit, to, content, question).await
    }

    /// Sends what was prepared, and stores it. It is carried out even if the caller is gone.
    ///
    /// # Errors
    /// [`Failure`]: `NOT_SENT`, or `MAYBE_SENT` if the network has not answered or has failed.
    pub async fn send(&self, prepared: Prepared) -> Result<view::Sent, Failure> {
        let service = self.clone();
        let sending = tokio::spawn(async move { service.carry_out(prepared).await });
        match sending.await {
            Ok(sent) => sent,
            Err(failed) => Err(Failure::new("MAYBE_SENT", failed.to_string())),
        }
    }

    async fn carry_out(&self, prepared: Prepared) -> Result<view::Sent, Failure> {
        let Prepared { source, chat, entry, outgoing, question: _ } = prepared;
        let kind = match &outgoing.content {
            Content::Message { .. } => "message",
            Content::Reaction { .. } => "reaction",
        };
        let sent = std::sync::Arc::clone(&self.source(&source)?.source).send(outgoing).await;
        let (outcome, sent) = match sent {
            Ok(sent) => ("sent", Ok(sent)),
            Err(SendError::Refused(why)) => {
                let message = format!("nothing was sent: {why}");
                ("not sent", Err(Failure::new("NOT_SENT", message)))
            }
            Err(SendError::Unclear(why)) => {
                let advice = "look into the chat before you send it again";
                let message = format!("it may have been sent or not ({why}): {advice}");
                ("maybe sent", Err(Failure::new("MAYBE_SENT", message)))
            }
        };
        // The entry is the person's own: no other name of a chat comes into the log.
        tracing::info!(target: "audit", source, send_to = entry, kind, outcome, "sent");
        let sent = sent?;
        let mut message_id = sent.events.iter().find_map(|event| match event {
            Event::Message { message, .. } => Some(message.id.clone()),
            Event::Changed { id, .. } => Some(id.clone()),
            _ => None,
        });
        message_id.iter_mut().for_each(|id| self.0.redactor.message_id(id));
        let batch = Batch { events: sent.events, ..Batch::default() };
        let kept = self.registry().sink(&source, self.index()).keep(batch).await;
        let not_kept = "it is not stored here, since the index could not be written".to_owned();
        let note = joined(sent.note.into_iter().chain(kept.is_err().then_some(not_kept)));
        Ok(view::Sent { sent: true, source, chat, message_id, note })
    }

    /// The chat that a caller names, if something may be sent into it, and the entry that allows it.
    async fn recipient(
        &self,
        source: Option<String>,
        chat: &str,
    ) -> Result<(&RegisteredSource, String, ChatSummary), Failure> {
        let source = id_of(&source);
        let Scope { chats, .. } = self.scope(source.as_deref(), Some(chat), false).await?;
        let Some([key]) = chats.as_deref() else {
            return Err(Invalid::new("chat", "give one chat, by id or name").into());
        };
        let entry = self.source(&key.source)?;
        can_send(entry)?;
        self.connected(&key.source, false).await?;
        let chats = self.index().chats(Some(&key.source)).await?;
        let to = chats.iter().find(|chat| chat.key() == *key);
        let to = to.ok_or_else(|| failure::chat_not_found(chat, Some(&key.source), &[]))?;
        match permit(entry, to, &chats) {
            Some(permit) => Ok((entry, permit, to.clone())),
            None => Err(self.not_allowed(entry, to)),
        }
    }

    async fn prepared(
        &self,
        entry: &RegisteredSource,
        permit: String,
        to: ChatSummary,
        content: Content,
        question: String,
    ) -> Result<Prepared, Failure> {
        let source = entry.source.id().to_owned();
        let mut chat = to.chat.name.clone();
        self.0.redactor.name(&mut chat);
        let me = self.index().me(&source).await?;
        let outgoing = Outgoing { chat: to.chat, content, me };
        Ok(Prepared { question, source, chat, entry: permit, outgoing })
    }

    /// A message that is answered, by its visible id.
    async fn answered(&self, chat: &ChatKey, shown: &str) -> Result<StoredMessage, Failure> {
        let id = self.message_id(chat, shown).await?;
        let found = self.index().message(chat, &id).await?;
        found.ok_or_else(|| failure::message_not_found(chat, shown))
    }

    /// A message in one line for the person.
    fn quoted(&self, stored: &StoredMessage) -> String {
        let shown = self.shown(stored.clone());
        format!("{}: {}", shown.sender.name, beginning(&shown.content))
    }

    /// A chat for the person: its name may be someone else's choice, its id is not.
    fn described(&self, to: &ChatSummary) -> String {
        let mut shown = to.clone();
        self.0.redactor.chat(&mut shown);
        let kind = match (to.chat.kind, to.chat.participants) {
            (ChatKind::Group, Some(members)) => format!("group of {members}"),
            (kind, _) => format!("{} chat", kind.name()),
        };
        format!("{} ({kind} in {}, id {})", shown.chat.name, to.source, shown.chat.id)
    }

    fn not_allowed(&self, entry: &RegisteredSource, to: &ChatSummary) -> Failure {
        let mut allowed = entry.send_to.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>();
        allowed.iter_mut().for_each(|name| self.0.redactor.name(name));
        let allowed = match allowed.as_slice() {
            [] => "none is named".to_owned(),
            names => format!("it names {}", names.join(", ")),
        };
        let message = format!(
            "nothing may be sent to {}: the person names the chats for it in `send_to` of the source, each by its \
             id, or by a name that no other chat has; {allowed}",
            self.described(to)
        );
        Failure::invalid("NOT_ALLOWED", message)
    }
}

fn can_send(entry: &RegisteredSource) -> Result<(), Failure> {
    if entry.source.sends() {
        return Ok(());
    }
    let message = format!(
        "Source '{}' is an export, into which nothing can be sent: sources of the kinds signal-cli and telegram-bot can",
        entry.source.id()
    );
    Err(Failure::invalid("CANNOT_SEND", message))
}

/// The entry of the configuration that names a chat: by its id, or by its name if that is neither the name nor the id
/// of another chat, since others choose the names of groups and their own.
fn permit(entry: &RegisteredSource, to: &ChatSummary, chats: &[ChatSummary]) -> Option<String> {
    let (id, name) = (alike(&to.chat.id), alike(&to.chat.name));
    let fits = |it: &&ChatSummary| alike(&it.chat.name) == name || alike(&it.chat.id) == name;
    let is_only = chats.iter().filter(fits).count() == 1;
    [id].into_iter().chain(is_only.then_some(name)).find(|known| entry.send_to.contains(known))
}

/// What is sent must be what the person sees.
fn visible(parameter: &'static str, text: &str) -> Result<(), Failure> {
    if Redactor::hides(text) {
        let reason = "it has characters that cannot be seen: leave them out";
        return Err(Invalid::new(parameter, reason).into());
    }
    Ok(())
}
