//! Walking through the file: messages are taken one at a time, everything else that is not needed is skipped.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::chat::Head;
use super::entry::Entry;
use super::scan::{ScanError, Scanned, Scanner};
use super::{media, message};
use crate::event::Event;
use crate::import::Reading;
use crate::import::clock::Clock;
use crate::model::{Body, Message};

/// How many messages between two reports of progress.
const MESSAGES_A_STEP: u32 = 1_000;

/// How many messages of a forum are remembered, to follow replies to the topic that they belong to.
const MAX_TOPICS: usize = 1_000_000;

/// How many chats a first walk remembers.
const MAX_CHATS: usize = 100_000;

/// The reading of one file.
pub(super) struct Export<'e, 'r, 't, 'p> {
    reading: &'e mut Reading<'r, 't, 'p>,
    /// The prefix that turns file paths into paths of the whole export.
    prefix: String,
    /// The messages of a chat that belong to a topic of a forum, with its name; at most [`MAX_TOPICS`].
    topics: HashMap<String, Arc<str>>,
    /// The owner's id, as in messages: `user123`.
    me: Option<String>,
    since_progress: u32,
    /// What a first walk found about each chat, in the order of the file. `None`: chats are described before their
    /// messages, as Telegram writes them.
    heads: Option<std::vec::IntoIter<Head>>,
    /// The heads that a first walk finds; that walk takes no messages.
    survey: Option<Vec<Head>>,
    /// A chat has its messages before its id or its kind: a tool has sorted the members, and a first walk is needed.
    pub(super) sorted: bool,
    /// Whether anything was found to read.
    pub(super) something: bool,
}

/// The findings of a first walk.
#[derive(Debug)]
pub(super) struct FirstWalk {
    heads: Vec<Head>,
    me: Option<String>,
}

impl<'e, 'r, 't, 'p> Export<'e, 'r, 't, 'p> {
    /// For a first walk (`survey`), which only reads the descriptions of chats, or for one that knows what such a walk
    /// has found, or for the only one.
    pub(super) fn new(
        reading: &'e mut Reading<'r, 't, 'p>,
        prefix: String,
        survey: bool,
        found: Option<FirstWalk>,
    ) -> Self {
        let (heads, me) = found.map(|found| (found.heads.into_iter(), found.me)).unzip();
        Self {
            reading,
            prefix,
            topics: HashMap::new(),
            me: me.flatten(),
            since_progress: 0,
            heads,
            survey: survey.then(Vec::new),
            sorted: false,
            something: false,
        }
    }

    fn take(&mut self, event: Event) -> Scanned<()> {
        if self.reading.take(event).is_break() { Err(ScanError::Stopped) } else { Ok(()) }
    }

    /// The result of the first walk.
    pub(super) fn found(self) -> FirstWalk {
        FirstWalk { heads: self.survey.unwrap_or_default(), me: self.me }
    }

    /// Sends the event of the chat, and returns its id.
    fn report(&mut self, head: &mut Head) -> Scanned<String> {
        let Some(id) = head.id.filter(|_| head.kind.is_some()) else {
            self.sorted = self.heads.is_none();
            return Err(ScanError::Damaged(
                "a chat has no `id` or no `type`: this is not an export as Telegram wrote it"
                    .to_owned(),
            ));
        };
        let chat = head.chat(id);
        let id = chat.id.clone();
        if !head.is_reported {
            head.is_reported = true;
            self.take(Event::Chat(chat))?;
        }
        Ok(id)
    }

    /// A topic begins with the service message that creates it; replies to its messages belong to it.
    fn find_topic(&mut self, message: &mut Message) {
        let created = match &message.body {
            Body::Service { action, .. } if action == "topic_created" => {
                message.topic.take().map(Arc::from)
            }
            _ => None,
        };
        let answered = message.reply_to.as_ref().and_then(|id| self.topics.get(id).cloned());
        let Some(topic) = created.or(answered) else {
            return;
        };
        message.topic = Some(topic.to_string());
        if self.topics.len() < MAX_TOPICS {
            self.topics.insert(message.id.clone(), topic);
        }
    }

    /// Handles a message, which ends before this byte.
    fn message(
        &mut self,
        chat: &str,
        clock: &mut Clock,
        read: serde_json::Result<Entry>,
        done: u64,
    ) -> Scanned<()> {
        self.since_progress += 1;
        if self.since_progress == MESSAGES_A_STEP {
            self.since_progress = 0;
            self.reading.report(done);
        }
        let read = read.map_err(|_| "is not an object").and_then(|entry| {
            message::message(&entry.0, self.reading.options, clock, self.me.as_deref())
        });
        match read {
            Ok(mut message) => {
                for attachment in &mut message.attachments {
                    media::put_below(attachment, &self.prefix);
                }
                self.find_topic(&mut message);
                self.take(Event::Message { chat: chat.to_owned(), message: Box::new(message) })
            }
            Err(problem) => {
                self.reading.skip(format_args!("a message before byte {done} {problem}: left out"));
                Ok(())
            }
        }
    }
}

/// Reads the root of the file: an account, or one chat.
pub(super) fn account(export: &mut Export<'_, '_, '_, '_>, json: &mut Scanner<'_>) -> Scanned<()> {
    chat(export, json, true)?;
    json.end()
}

/// `chats` and `left_chats`.
fn chats(export: &mut Export<'_, '_, '_, '_>, json: &mut Scanner<'_>) -> Scanned<()> {
    json.members(|json, name| match name {
        "list" => json.items(|json| chat(export, json, false)),
        _ => json.skip(),
    })
}

/// One chat, or the root, which may contain more.
fn chat(export: &mut Export<'_, '_, '_, '_>, json: &mut Scanner<'_>, is_root: bool) -> Scanned<()> {
    let mut head = export.heads.as_mut().and_then(Iterator::next).unwrap_or_default();
    let mut had_messages = false;
    // The root comes before the chats in it, even if its description comes later.
    let place = export.survey.as_mut().map(|survey| {
        survey.push(Head::default());
        survey.len() - 1
    });
    json.members(|json, name| {
        match (name, is_root) {
            ("chats" | "left_chats", true) => {
                export.something = true;
                chats(export, json)?;
            }
            ("personal_information", true) => export.me = owner(&json.parsed()?),
            ("messages", _) => {
                export.something = true;
                had_messages = true;
                if export.survey.is_some() {
                    return json.skip();
                }
                if head.is_unusable {
                    let done = json.done();
                    export.reading.skip(format_args!(
                        "the chat at byte {done} has no id that is a number: left out"
                    ));
                    return json.skip();
                }
                let id = export.report(&mut head)?;
                messages(export, json, &id)?;
            }
            ("id", _) => {
                head.id = json.parsed()?.as_i64();
                head.is_unusable = head.id.is_none();
            }
            ("name", _) => head.name = text(json.parsed()?),
            // A kind that this Telegram did not know is null.
            ("type", _) => head.kind = Some(text(json.parsed()?).unwrap_or_default()),
            _ => json.skip()?,
        }
        Ok(())
    })?;
    if let Some(survey) = &mut export.survey {
        if survey.len() > MAX_CHATS {
            return Err(ScanError::Damaged(format!("more than {MAX_CHATS} chats")));
        }
        if let Some(found) = place.and_then(|place| survey.get_mut(place)) {
            *found = head;
        }
    } else if !head.is_unusable && (had_messages || (!is_root && head.id.is_some())) {
        export.report(&mut head)?;
    }
    Ok(())
}

/// The messages of a chat of this id.
fn messages(
    export: &mut Export<'_, '_, '_, '_>,
    json: &mut Scanner<'_>,
    chat: &str,
) -> Scanned<()> {
    export.topics.clear();
    let mut clock = Clock::new(&export.reading.options.zone);
    json.items(|json| match json.entry()?.map(serde_json::from_slice) {
        Some(read) => export.message(chat, &mut clock, read, json.done()),
        None => {
            let done = json.done();
            export.reading.skip(format_args!("a message before byte {done} is damaged: left out"));
            Ok(())
        }
    })
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn owner(information: &Value) -> Option<String> {
    Some(format!("user{}", information.get("user_id")?.as_i64()?))
}
