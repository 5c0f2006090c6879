//! The content of a message as one text: `[Image] Our boat`.

use std::fmt::Write as _;

use crate::model::{Attachment, AttachmentKind, Body, Message};

/// The content of a message. Anything but text becomes a word in brackets before its caption or its name.
pub fn content(message: &Message) -> String {
    if message.deleted {
        return "[Deleted]".to_owned();
    }
    let mut parts: Vec<String> = message.attachments.iter().map(attached).collect();
    let said = said(&message.body);
    if !said.is_empty() {
        parts.push(said);
    }
    parts.join(" ")
}

fn attached(attachment: &Attachment) -> String {
    let transcript = attachment.transcript.as_deref().filter(|said| !said.is_empty());
    match (attachment.kind, &attachment.name) {
        (AttachmentKind::Audio, _) if let Some(said) = transcript => {
            format!("[Audio] [Transcript] {said}")
        }
        (AttachmentKind::Image, _) => "[Image]".to_owned(),
        (AttachmentKind::Video, _) => "[Video]".to_owned(),
        (AttachmentKind::Audio, _) => "[Audio]".to_owned(),
        // Stickers are named by their emoji or as files are.
        (AttachmentKind::Sticker, Some(emoji)) if !emoji.is_empty() && !emoji.contains('.') => {
            format!("[Sticker] {emoji}")
        }
        (AttachmentKind::Sticker, _) => "[Sticker]".to_owned(),
        (AttachmentKind::File, Some(name)) => format!("[File] {name}"),
        (AttachmentKind::File, None) => "[File]".to_owned(),
    }
}

fn said(body: &Body) -> String {
    match body {
        Body::Text(text) | Body::Unknown(text) | Body::Service { text, .. } => text.clone(),
        Body::Location { latitude, longitude, name } => {
            let place = format!("[Location] {latitude}, {longitude}");
            match name {
                Some(name) => format!("{place} ({name})"),
                None => place,
            }
        }
        Body::Contact { name, phone } => {
            let phone = phone.as_deref().unwrap_or_default();
            format!("[Contact] {name} {phone}").trim_end().to_owned()
        }
        Body::Poll { question, answers } => {
            let mut text = format!("[Poll] {question}");
            for (answer, votes) in answers {
                // Writing into a text does not fail.
                let _ = match votes {
                    Some(votes) => write!(text, "\n- {answer} ({votes})"),
                    None => write!(text, "\n- {answer}"),
                };
            }
            text
        }
    }
}
