//! Exports, read as their programs wrote them.

mod hostile;
mod made;
mod samples;
mod signal;
mod telegram;
mod whatsapp;

pub(crate) use hostile::worked;

use std::ops::ControlFlow;
use std::path::Path;

use chat_server::import::{self, ImportError, Options, Summary};
use chat_server::model::{Body, Chat, Message};
use chat_server::source::Event;
use jiff::tz::TimeZone;

/// What was read, in the order in which it came.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) chats: Vec<Chat>,
    /// With the id of the chat of each.
    pub(crate) messages: Vec<(String, Message)>,
    pub(crate) summary: Summary,
}

impl Read {
    /// What each message says, in words.
    pub(crate) fn texts(&self) -> Vec<&str> {
        self.messages.iter().map(|(_, message)| words(&message.body)).collect()
    }

    pub(crate) fn senders(&self) -> Vec<&str> {
        self.messages
            .iter()
            .map(|(_, message)| message.sender.as_ref().map_or("", |it| &*it.name))
            .collect()
    }

    pub(crate) fn times(&self) -> Vec<String> {
        self.messages.iter().map(|(_, message)| message.timestamp.to_string()).collect()
    }
}

pub(crate) fn words(body: &Body) -> &str {
    match body {
        Body::Text(text) | Body::Unknown(text) | Body::Service { text, .. } => text,
        Body::Poll { question, .. } => question,
        Body::Contact { name, .. } => name,
        Body::Location { .. } => "[place]",
    }
}

pub(crate) fn options() -> Options {
    Options { zone: TimeZone::UTC, day_order: None, me: None }
}

pub(crate) fn read(path: &Path, options: &Options) -> Result<Read, ImportError> {
    let mut read = Read::default();
    let mut events = Vec::new();
    let mut take = |event| {
        events.push(event);
        ControlFlow::Continue(())
    };
    read.summary = import::read(path, None, options, &mut take, &mut |_, _| {})?;
    for event in events {
        match event {
            Event::Chat(chat) => read.chats.push(chat),
            Event::Message { chat, message } => {
                assert!(
                    read.chats.iter().any(|known| known.id == chat),
                    "a message before its chat"
                );
                read.messages.push((chat, *message));
            }
            other => panic!("exports have no {other:?}"),
        }
    }
    Ok(read)
}

/// A text as a file of this name.
pub(crate) fn read_text(name: &str, text: &str) -> Read {
    read_text_with(name, text, &options())
}

pub(crate) fn read_text_with(name: &str, text: &str, options: &Options) -> Read {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    read(&path, options).unwrap()
}
