//! What the tools take. A member that there is not is refused, so that a model that mistypes one is told.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::desk::{
    Around, ChatQuestion, PeopleQuestion, Question, SearchQuestion, StatisticsQuestion,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListSources {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListChats {
    /// Id of the source; default all.
    source: Option<String>,
    /// Which chats.
    filter: Option<Filter>,
    /// How many, 1 to 5000; 1000 by default.
    limit: Option<i64>,
    /// How many of the first to pass over.
    offset: Option<i64>,
    /// Answer from what was kept if the source is not connected.
    stored: Option<bool>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Filter {
    /// direct, group, channel or unknown.
    chat_type: Option<String>,
    /// A part of the name, in any case.
    name_pattern: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetMessages {
    /// Id of the source; default all.
    source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    chat: Option<String>,
    /// Not before: 15m, 2h, 7d or 1w ago, today, yesterday, 2025-01-13 (local), or RFC 3339.
    since: Option<String>,
    /// Before this, likewise.
    before: Option<String>,
    /// Part of the sender's name, a phone number, or me.
    sender: Option<String>,
    /// Words, as query of search_messages.
    search: Option<String>,
    /// Part of the name of a forum topic.
    topic: Option<String>,
    /// How many, 1 to 1000; 100 by default.
    limit: Option<i64>,
    /// How many of the newest to pass over.
    offset: Option<i64>,
    /// next_cursor of the answer before; other arguments the same.
    cursor: Option<String>,
    /// Answer from what was kept if the source is not connected.
    stored: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitForMessage {
    /// Id of the source; default all.
    source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    chat: Option<String>,
    /// Part of the sender's name, a phone number, or me.
    sender: Option<String>,
    /// Words, as query of search_messages.
    search: Option<String>,
    /// How long to wait at most, 1 to 50; default 30.
    seconds: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchMessages {
    /// Words (or their beginnings), "phrases", a OR b, -not, emoji.
    query: String,
    /// Id of the source; default all.
    source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    chat: Option<String>,
    /// Not before: 7d, yesterday, 2025-01-13, or RFC 3339.
    since: Option<String>,
    /// Before this, likewise.
    before: Option<String>,
    /// Part of the sender's name, a phone number, or me.
    sender: Option<String>,
    /// Part of the name of a forum topic.
    topic: Option<String>,
    /// How many hits, 1 to 1000; 20 by default.
    limit: Option<i64>,
    /// next_cursor of the answer before; other arguments the same.
    cursor: Option<String>,
    /// How many messages to give before each hit; 0 by default.
    context_before: Option<i64>,
    /// How many messages to give after each hit; 0 by default.
    context_after: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetContext {
    /// The id of the source; may be left out if the chat is the only one of its id or name.
    source: Option<String>,
    /// The chat: its id or its name.
    chat: String,
    /// The id of the message.
    message_id: String,
    /// How many messages before it, 0 to 500; 5 by default.
    before: Option<i64>,
    /// How many messages after it, 0 to 500; 5 by default.
    after: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetStatistics {
    /// Id of the source; default all.
    source: Option<String>,
    /// Id, name or part of the name of the chat; default all.
    chat: Option<String>,
    /// Not before: 7d, yesterday, 2025-01-13, or RFC 3339.
    since: Option<String>,
    /// Before this, likewise.
    before: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPeople {
    /// Part of any of their names, or a phone number.
    name: Option<String>,
    /// How many, 1 to 1000; 100 by default.
    limit: Option<i64>,
    /// How many of the first to pass over.
    offset: Option<i64>,
}

/// The id of a source, which is in small letters whatever a model writes.
fn id(source: &str) -> String {
    source.trim().to_lowercase()
}

impl From<ListChats> for ChatQuestion {
    fn from(asked: ListChats) -> Self {
        let Filter {
            chat_type,
            name_pattern,
        } = asked.filter.unwrap_or_default();
        Self {
            source: asked.source.as_deref().map(id),
            chat_type,
            name_pattern,
            limit: asked.limit,
            offset: asked.offset,
            stored: asked.stored.unwrap_or(false),
        }
    }
}

impl From<GetMessages> for Question {
    fn from(asked: GetMessages) -> Self {
        Self {
            source: asked.source.as_deref().map(id),
            chat: asked.chat,
            since: asked.since,
            before: asked.before,
            sender: asked.sender,
            search: asked.search,
            topic: asked.topic,
            limit: asked.limit,
            offset: asked.offset,
            cursor: asked.cursor,
            stored: asked.stored.unwrap_or(false),
        }
    }
}

impl WaitForMessage {
    /// What to wait for, and how many seconds.
    pub(super) fn taken_apart(self) -> (Question, i64) {
        let asked = Question {
            source: self.source.as_deref().map(id),
            chat: self.chat,
            sender: self.sender,
            search: self.search,
            ..Question::default()
        };
        (asked, self.seconds.unwrap_or(30))
    }
}

impl From<SearchMessages> for SearchQuestion {
    fn from(asked: SearchMessages) -> Self {
        Self {
            text: asked.query,
            messages: Question {
                source: asked.source.as_deref().map(id),
                chat: asked.chat,
                since: asked.since,
                before: asked.before,
                sender: asked.sender,
                search: None,
                topic: asked.topic,
                limit: Some(asked.limit.unwrap_or(20)),
                offset: None,
                cursor: asked.cursor,
                stored: true,
            },
            before: asked.context_before,
            after: asked.context_after,
        }
    }
}

impl From<GetContext> for Around {
    fn from(asked: GetContext) -> Self {
        Self {
            source: asked.source.as_deref().map(id),
            chat: asked.chat,
            id: asked.message_id,
            before: asked.before,
            after: asked.after,
        }
    }
}

impl From<GetStatistics> for StatisticsQuestion {
    fn from(asked: GetStatistics) -> Self {
        Self {
            source: asked.source.as_deref().map(id),
            chat: asked.chat,
            since: asked.since,
            before: asked.before,
        }
    }
}

impl From<ListPeople> for PeopleQuestion {
    fn from(asked: ListPeople) -> Self {
        Self {
            name: asked.name,
            limit: asked.limit,
            offset: asked.offset,
        }
    }
}
