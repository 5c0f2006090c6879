//! A sample, made by hand, for each trap of the formats that no other test has.

mod signal;
mod telegram;
mod whatsapp;
mod whatsapp_words;

use chat_server::model::{Body, Message};

use super::read_text;

/// A text of WhatsApp's, sent by Anna from Android or from iOS.
fn from_anna(ios: bool, text: &str) -> Message {
    let head = if ios { "[13/12/2023, 18:05:09] Anna: " } else { "13/12/2023, 18:05 - Anna: " };
    let mut read = read_text("WhatsApp Chat with Anna.txt", &format!("{head}{text}\n"));
    assert_eq!(read.messages.len(), 1, "{text}");
    read.messages.remove(0).1
}

fn text(message: &Message) -> &str {
    match &message.body {
        Body::Text(text) => text,
        other => panic!("{other:?} is not a text"),
    }
}
