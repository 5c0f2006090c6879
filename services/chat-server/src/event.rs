//! What sources and exports report: chats, messages, and what happens to them.

use jiff::Timestamp;

use crate::model::{Chat, Message, Reaction};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A chat exists, or has a new name. Comes before the first message of the chat.
    Chat(Chat),
    /// A message.
    Message {
        /// The chat's id.
        chat: String,
        /// The message.
        message: Box<Message>,
    },
    /// A message is sent again as a whole, without its reactions: known ones stay. Stored if it is not known.
    Revised {
        /// The chat's id.
        chat: String,
        /// The message.
        message: Box<Message>,
    },
    /// Something has happened to a message. Ignored if the message is not known.
    Changed {
        /// The chat's id.
        chat: String,
        /// The message's id.
        id: String,
        /// What.
        change: Change,
    },
}

/// What happens to a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It was edited.
    Edited {
        /// The new text.
        text: String,
        /// When.
        at: Timestamp,
    },
    /// It was deleted.
    Deleted,
    /// A person voted in a poll; earlier votes of that person no longer count.
    Voted {
        /// The name of the person.
        by: String,
        /// The numbers of the answers, from 0.
        options: Vec<usize>,
    },
    /// What is said in a recording is known. Ignored if the message has no such file.
    Transcribed {
        /// Which of its files, from 0.
        file: usize,
        /// The words; empty if nothing is said.
        text: String,
    },
    /// A person reacted, or removed the reaction (`removed`).
    Reacted {
        /// The reaction of one person: its count is 1. With an empty emoji and `removed`: any reaction of that person,
        /// for networks with one reaction each.
        reaction: Reaction,
        /// Whether it was removed.
        removed: bool,
    },
}

impl Event {
    /// The events of a reaction, for networks in which a person has one for each message: it takes the place of
    /// another.
    pub fn only_reaction(
        chat: &str,
        id: &str,
        by: &str,
        emoji: &str,
        removed: bool,
    ) -> impl Iterator<Item = Self> {
        let event = |emoji: &str, removed| {
            let reaction = Reaction { emoji: emoji.to_owned(), count: 1, by: vec![by.to_owned()] };
            Self::changed(chat, id, Change::Reacted { reaction, removed })
        };
        let added = (!removed).then(|| event(emoji, false));
        [event("", true)].into_iter().chain(added)
    }

    /// A change of this message.
    pub fn changed(chat: &str, id: &str, change: Change) -> Self {
        Self::Changed { chat: chat.to_owned(), id: id.to_owned(), change }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Chat(chat) => chat.id.len() + chat.name.len(),
            Self::Message { chat, message } | Self::Revised { chat, message } => {
                chat.len() + message.bytes()
            }
            Self::Changed { chat, id, change } => chat.len() + id.len() + change.bytes(),
        }
    }
}

impl Change {
    fn bytes(&self) -> usize {
        match self {
            Self::Edited { text, .. } | Self::Transcribed { text, .. } => text.len(),
            Self::Deleted => 0,
            Self::Voted { by, options } => by.len() + options.len() * size_of::<usize>(),
            Self::Reacted { reaction, .. } => {
                reaction.emoji.len() + reaction.by.iter().map(String::len).sum::<usize>()
            }
        }
    }
}
