//! The description of a chat in the file.

use crate::model::{Chat, ChatKind};

/// What is known about a chat before its messages.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) kind: Option<String>,
    /// Whether its id is not a number.
    pub(super) is_unusable: bool,
    /// Whether it was sent as an event.
    pub(super) is_reported: bool,
}

impl Head {
    /// The chat of this id in the file.
    pub(super) fn chat(&self, id: i64) -> Chat {
        let kind = self.kind.as_deref().unwrap_or_default();
        let kind_of = match kind {
            "saved_messages" | "replies" | "verification_codes" | "personal_chat" | "bot_chat" => {
                ChatKind::Direct
            }
            "private_group" | "private_supergroup" | "public_supergroup" => ChatKind::Group,
            "private_channel" | "public_channel" => ChatKind::Channel,
            _ => ChatKind::Unknown,
        };
        let id = match kind {
            "private_group" => format!("-{id}"),
            "private_supergroup" | "public_supergroup" | "private_channel" | "public_channel" => {
                format!("-100{id}")
            }
            _ => id.to_string(),
        };
        let name = match (&self.name, kind) {
            (Some(name), _) if !name.trim().is_empty() => name.clone(),
            (_, "saved_messages") => "Saved Messages".to_owned(),
            (_, "replies") => "Replies".to_owned(),
            (_, "verification_codes") => "Verification Codes".to_owned(),
            (_, "personal_chat" | "bot_chat") => "Deleted Account".to_owned(),
            _ => format!("Chat {id}"),
        };
        Chat { participants: (kind == "saved_messages").then_some(1), kind: kind_of, name, id }
    }
}
