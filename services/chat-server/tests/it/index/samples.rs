//! Small things to put into an index.

use std::sync::Arc;

use chat_server::index::{ChatKey, Index, MessageQuery, Options, Page, StoredMessage};
use chat_server::model::{Body, Chat, ChatKind, Message, Participant};
use chat_server::source::{Batch, Event, Sink};
use jiff::Timestamp;
use tempfile::TempDir;

/// An index in a directory of its own.
pub(super) struct Fixture {
    pub(super) dir: TempDir,
    pub(super) index: Index,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let index = open(&dir);
        Self { dir, index }
    }

    /// Closes the index and opens it again.
    pub(super) fn reopen(&mut self) {
        self.index.close();
        self.index = open(&self.dir);
    }

    pub(super) async fn keep(&self, source: &str, events: Vec<Event>) {
        keep(&self.index.sink(source), events).await;
    }

    pub(super) async fn page(&self, query: &MessageQuery) -> Page {
        self.index.messages(query).await.unwrap()
    }

    /// The ids of what a question gives.
    pub(super) async fn ids(&self, query: &MessageQuery) -> Vec<String> {
        ids(&self.page(query).await.messages)
    }

    pub(super) async fn all(&self) -> Vec<StoredMessage> {
        self.page(&MessageQuery::default()).await.messages
    }
}

pub(super) fn open(dir: &TempDir) -> Index {
    Index::open(dir.path(), Options::default()).unwrap()
}

pub(super) async fn keep(sink: &Arc<dyn Sink>, events: Vec<Event>) {
    sink.keep(Batch { events, ..Batch::default() }).await.unwrap();
}

pub(super) fn ids(messages: &[StoredMessage]) -> Vec<String> {
    messages.iter().map(|found| found.message.id.clone()).collect()
}

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

pub(super) fn chat(id: &str, name: &str) -> Event {
    Event::Chat(Chat {
        id: id.to_owned(),
        name: name.to_owned(),
        kind: ChatKind::Group,
        participants: None,
    })
}

pub(super) fn person(name: &str) -> Participant {
    Participant { id: name.to_lowercase(), name: name.to_owned(), ..Participant::default() }
}

pub(super) fn message(id: &str, second: i64, sender: &str, text: &str) -> Message {
    Message {
        id: id.to_owned(),
        timestamp: at(second),
        sender: Some(person(sender)),
        body: Body::Text(text.to_owned()),
        reply_to: None,
        forwarded_from: None,
        topic: None,
        expires: None,
        edited: None,
        deleted: false,
        reactions: Vec::new(),
        attachments: Vec::new(),
    }
}

pub(super) fn said(chat: &str, message: Message) -> Event {
    Event::Message { chat: chat.to_owned(), message: Box::new(message) }
}

pub(super) fn key(source: &str, id: &str) -> ChatKey {
    ChatKey { source: source.to_owned(), id: id.to_owned() }
}
