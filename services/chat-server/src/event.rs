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
    /// A message was edited. Ignored if it is not known.
    Edited {
        /// The chat's id.
        chat: String,
        /// The message's id.
        id: String,
        /// The new text.
        text: String,
        /// When.
        at: Timestamp,
    },
    /// A message was deleted. Ignored if it is not known.
    Deleted {
        /// The chat's id.
        chat: String,
        /// The message's id.
        id: String,
    },
    /// A person voted in a poll; earlier votes of that person no longer count. Ignored if the message is not known.
    Voted {
        /// The chat's id.
        chat: String,
        /// The message's id.
        id: String,
        /// The name of the person.
        by: String,
        /// The numbers of the answers, from 0.
        options: Vec<usize>,
    },
    /// What is said in the recording of a message is known. Ignored if the message is not known or has no such file.
    Transcribed {
        /// The chat's id.
        chat: String,
        /// The message's id.
        id: String,
        /// Which of its files, from 0.
        file: usize,
        /// The words; empty if nothing is said.
        text: String,
    },
    /// A person reacted, or removed the reaction (`removed`). Ignored if the message is not known.
    Reacted {
        /// The chat's id.
        chat: String,
        /// The message's id.
        id: String,
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
        let event = |emoji: &str, removed| Self::Reacted {
            chat: chat.to_owned(),
            id: id.to_owned(),
            reaction: Reaction { emoji: emoji.to_owned(), count: 1, by: vec![by.to_owned()] },
            removed,
        };
        let added = (!removed).then(|| event(emoji, false));
        [event("", true)].into_iter().chain(added)
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Chat(chat) => chat.id.len() + chat.name.len(),
            Self::Message { chat, message } | Self::Revised { chat, message } => {
                chat.len() + message.bytes()
            }
            Self::Edited { chat, id, text, .. } => chat.len() + id.len() + text.len(),
            Self::Deleted { chat, id } => chat.len() + id.len(),
            Self::Voted { chat, id, by, options } => {
                chat.len() + id.len() + by.len() + options.len() * size_of::<usize>()
            }
            Self::Transcribed { chat, id, file: _, text } => chat.len() + id.len() + text.len(),
            Self::Reacted { chat, id, reaction, .. } => {
                let by = reaction.by.iter().map(String::len);
                chat.len() + id.len() + reaction.emoji.len() + by.sum::<usize>()
            }
        }
    }
}
