//! What goes out: a message or a reaction, into one chat of a source that is connected.

use crate::event::Event;
use crate::model::{Chat, Participant};

/// Something to send, and into which chat.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// The chat.
    pub chat: Chat,
    /// What.
    pub content: Content,
    /// The owner as the index knows them; `None` if nothing of theirs is stored yet.
    pub me: Option<Participant>,
}

/// What is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Words.
    Message {
        /// The words.
        text: String,
        /// The id of the message that they answer.
        reply_to: Option<String>,
    },
    /// A reaction to a message, in place of an earlier one of the owner.
    Reaction {
        /// The id of the message.
        id: String,
        /// The emoji.
        emoji: String,
        /// Whether it is taken back.
        removed: bool,
    },
}

/// What was sent, as the network says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sent {
    /// The same as events of the source.
    pub events: Vec<Event>,
    /// How many recipients it did not reach, and why; `None` if it reached all.
    pub note: Option<String>,
}

/// Why something was not sent, in words that contain nothing of a message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// Nothing was sent.
    #[error("{0}")]
    Refused(String),
    /// The network has not answered, or has failed: it may have been sent.
    #[error("{0}")]
    Unclear(String),
}

impl Outgoing {
    /// The events of the owner's reaction.
    pub fn reacted(&self, id: &str, emoji: &str, removed: bool) -> Vec<Event> {
        let by = self.me.as_ref().map_or("me", |me| &me.name);
        Event::only_reaction(&self.chat.id, id, by, emoji, removed).collect()
    }
}
