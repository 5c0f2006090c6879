//! Walking through the file: what is wanted is taken, one message at a time; everything else is passed over.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::chat::Head;
use super::{Budget, media, message};
use crate::import::clock::Clock;
use crate::import::{MAX_MESSAGE_BYTES, Reading};
use crate::model::{Body, Message};
use crate::source::Event;

/// How many messages between two words about progress.
const MESSAGES_A_STEP: u32 = 1_000;

/// How many messages of a forum are remembered, to follow replies to the topic that they belong to.
const MAX_TOPICS: usize = 1_000_000;

/// How many chats a first walk remembers.
const MAX_CHATS: usize = 100_000;

/// The reading of one file.
pub(super) struct Export<'e, 'r, 't, 'p> {
    reading: &'e mut Reading<'r, 't, 'p>,
    budget: &'e Budget,
    done: &'e Cell<u64>,
    /// What stands before paths of files, to make them paths in the whole export.
    prefix: String,
    /// The messages of a chat that belong to a topic of a forum, with its name; at most [`MAX_TOPICS`].
    topics: HashMap<String, Arc<str>>,
    /// The owner, as messages name him: `user123`.
    me: Option<String>,
    since_progress: u32,
    /// What a first walk found about each chat, in the order of the file; without one, chats tell of themselves before
    /// their messages, as Telegram writes them.
    heads: Option<std::vec::IntoIter<Head>>,
    /// The heads that a first walk finds, which takes nothing.
    survey: Option<Vec<Head>>,
    /// A chat has its messages before its id or its kind: a tool has sorted the members, and a first walk is needed.
    pub(super) sorted: bool,
    /// Whoever takes the events wants no more.
    pub(super) stopped: bool,
    /// Whether there was anything to be read.
    pub(super) something: bool,
}

/// What a first walk finds.
#[derive(Debug)]
pub(super) struct Found {
    heads: Vec<Head>,
    me: Option<String>,
}

impl<'e, 'r, 't, 'p> Export<'e, 'r, 't, 'p> {
    pub(super) fn new(
        reading: &'e mut Reading<'r, 't, 'p>,
        budget: &'e Budget,
        done: &'e Cell<u64>,
        prefix: String,
    ) -> Self {
        Self {
            reading,
            budget,
            done,
            prefix,
            topics: HashMap::new(),
            me: None,
            since_progress: 0,
            heads: None,
            survey: None,
            sorted: false,
            stopped: false,
            something: false,
        }
    }

    fn take<E: Error>(&mut self, event: Event) -> Result<(), E> {
        if self.reading.take(event).is_break() {
            self.stopped = true;
            return Err(E::custom("stopped"));
        }
        Ok(())
    }

    /// For a first walk, which only looks at what chats say of themselves.
    pub(super) fn surveying(mut self) -> Self {
        self.survey = Some(Vec::new());
        self
    }

    /// With what the first walk has found.
    pub(super) fn knowing(mut self, found: Found) -> Self {
        self.heads = Some(found.heads.into_iter());
        self.me = found.me;
        self
    }

    /// What the first walk has found.
    pub(super) fn found(self) -> Found {
        Found {
            heads: self.survey.unwrap_or_default(),
            me: self.me,
        }
    }

    /// Tells of the chat, and gives its id.
    fn tell<E: Error>(&mut self, head: &mut Head) -> Result<String, E> {
        let Some(id) = head.id.filter(|_| head.kind.is_some()) else {
            self.sorted = self.heads.is_none();
            return Err(E::custom(
                "a chat has no `id` or no `type`: this is no export as Telegram wrote it",
            ));
        };
        let chat = head.chat(id);
        let id = chat.id.clone();
        if !head.told {
            head.told = true;
            self.take(Event::Chat(chat))?;
        }
        Ok(id)
    }

    /// A topic begins with the service message that creates it; what answers a message of it belongs to it.
    fn find_topic(&mut self, message: &mut Message) {
        let created = match &message.body {
            Body::Service { action, .. } if action == "topic_created" => {
                message.topic.take().map(Arc::from)
            }
            _ => None,
        };
        let answered = message
            .reply_to
            .as_ref()
            .and_then(|id| self.topics.get(id).cloned());
        let Some(topic) = created.or(answered) else {
            return;
        };
        message.topic = Some(topic.to_string());
        if self.topics.len() < MAX_TOPICS {
            self.topics.insert(message.id.clone(), topic);
        }
    }

    fn message<E: Error>(&mut self, chat: &str, clock: &mut Clock, raw: &str) -> Result<(), E> {
        self.since_progress += 1;
        if self.since_progress == MESSAGES_A_STEP {
            self.since_progress = 0;
            self.reading.tell(self.done.get());
        }
        let read = serde_json::from_str::<Map<String, Value>>(raw).map_err(|_| "is no object");
        match read.and_then(|entry| {
            message::message(&entry, self.reading.options, clock, self.me.as_deref())
        }) {
            Ok(mut message) => {
                for attachment in &mut message.attachments {
                    media::put_below(attachment, &self.prefix);
                }
                self.find_topic(&mut message);
                self.take(Event::Message {
                    chat: chat.to_owned(),
                    message: Box::new(message),
                })
            }
            Err(problem) => {
                self.reading.skip(format_args!(
                    "a message before byte {} {problem}: left out",
                    self.done.get()
                ));
                Ok(())
            }
        }
    }
}

/// Reads the root of the file.
pub(super) fn account<'de, D: Deserializer<'de>>(
    export: &mut Export<'_, '_, '_, '_>,
    json: D,
) -> Result<(), D::Error> {
    Walk {
        export,
        within: Within::Root,
    }
    .deserialize(json)
}

/// Which part of the file is walked through.
enum Within {
    /// The root: an account, or one chat.
    Root,
    /// `chats` and `left_chats`.
    Chats,
    /// The `list` in them.
    List,
    /// One chat of the list.
    Chat,
    /// The messages of a chat of this id.
    Messages(String),
}

struct Walk<'w, 'e, 'r, 't, 'p> {
    export: &'w mut Export<'e, 'r, 't, 'p>,
    within: Within,
}

impl<'de> DeserializeSeed<'de> for Walk<'_, '_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        match self.within {
            Within::List | Within::Messages(_) => json.deserialize_seq(self),
            Within::Root | Within::Chats | Within::Chat => json.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Walk<'_, '_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.within {
            Within::Root => "an export of Telegram Desktop",
            Within::Chats => "an object with a `list` of chats",
            Within::List => "a list of chats",
            Within::Chat => "a chat",
            Within::Messages(_) => "a list of messages",
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { export, within } = self;
        let is_chat = matches!(within, Within::Root | Within::Chat);
        let known = export
            .heads
            .as_mut()
            .filter(|_| is_chat)
            .and_then(Iterator::next);
        let mut head = known.unwrap_or_default();
        let mut had_messages = false;
        // The root comes before the chats in it, whenever it tells of itself.
        let place = export.survey.as_mut().filter(|_| is_chat).map(|survey| {
            survey.push(Head::default());
            survey.len() - 1
        });
        loop {
            export.budget.set(MAX_MESSAGE_BYTES);
            let Some(key) = map.next_key::<String>()? else {
                break;
            };
            match (&within, key.as_str()) {
                (Within::Chats, "list") => map.next_value_seed(Walk {
                    export,
                    within: Within::List,
                })?,
                (Within::Root, "chats" | "left_chats") => {
                    export.something = true;
                    map.next_value_seed(Walk {
                        export,
                        within: Within::Chats,
                    })?;
                }
                (Within::Root | Within::Chat, "messages") => {
                    export.something = true;
                    had_messages = true;
                    if export.survey.is_some() {
                        export.budget.set(usize::MAX);
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    }
                    let id = export.tell(&mut head)?;
                    map.next_value_seed(Walk {
                        export,
                        within: Within::Messages(id),
                    })?;
                }
                (Within::Root, "personal_information") => {
                    export.me = owner(&map.next_value::<Value>()?);
                }
                (Within::Root | Within::Chat, "id") => {
                    head.id = map.next_value::<Value>()?.as_i64();
                }
                (Within::Root | Within::Chat, "name") => head.name = text(map.next_value()?),
                (Within::Root | Within::Chat, "type") => head.kind = text(map.next_value()?),
                _ => {
                    // What is passed over takes no memory, however large it is.
                    export.budget.set(usize::MAX);
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if let Some(survey) = &mut export.survey {
            if survey.len() > MAX_CHATS {
                return Err(A::Error::custom(format_args!(
                    "more than {MAX_CHATS} chats"
                )));
            }
            if let Some(found) = place.and_then(|place| survey.get_mut(place)) {
                *found = head;
            }
        } else if had_messages || (matches!(within, Within::Chat) && head.id.is_some()) {
            export.tell(&mut head)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let Self { export, within } = self;
        if let Within::Messages(chat) = within {
            export.budget.set(MAX_MESSAGE_BYTES);
            export.topics.clear();
            let mut clock = Clock::new(&export.reading.options.zone);
            while let Some(raw) = seq.next_element::<Box<RawValue>>()? {
                export.message(&chat, &mut clock, raw.get())?;
                export.budget.set(MAX_MESSAGE_BYTES);
            }
            return Ok(());
        }
        while seq
            .next_element_seed(Walk {
                export,
                within: Within::Chat,
            })?
            .is_some()
        {}
        Ok(())
    }
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
