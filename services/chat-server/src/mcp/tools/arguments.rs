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
    /// The id of the source, such as telegram; all sources if it is left out.
    source: Option<String>,
    /// Which chats.
    filter: Option<Filter>,
    /// How many, 1 to 5000; 1000 by default.
    limit: Option<i64>,
    /// How many of the first to pass over.
    offset: Option<i64>,
    /// Whether to answer from what was kept if the source is not connected; false by default.
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
    /// The id of the source, such as telegram; all sources if it is left out.
    source: Option<String>,
    /// The chat: its id, its name, a part of its name, or * for all; all chats if it is left out.
    chat: Option<String>,
    /// Not before this: 90s, 15m, 2h, 7d or 1w ago, a date such as 2025-01-13 (in the time zone of the source), or RFC
    /// 3339 such as 2025-01-13T00:00:00Z.
    since: Option<String>,
    /// Before this, in the same forms.
    before: Option<String>,
    /// A part of the sender's name or username, in any case.
    sender: Option<String>,
    /// A part of what the message says, in any case.
    search: Option<String>,
    /// How many, 1 to 1000; 100 by default.
    limit: Option<i64>,
    /// How many of the newest to pass over. A cursor is better: new messages do not move it.
    offset: Option<i64>,
    /// The next_cursor of the answer before, with all other arguments the same.
    cursor: Option<String>,
    /// Whether to answer from what was kept if the source is not connected; false by default.
    stored: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchMessages {
    /// Words, "phrases in quotes" and beginnings of words (meet*); a message must have all of them.
    query: String,
    /// The id of the source; all sources if it is left out.
    source: Option<String>,
    /// The chat: its id, its name, a part of its name, or * for all; all chats if it is left out.
    chat: Option<String>,
    /// Not before this: 7d ago, 2025-01-13, or RFC 3339.
    since: Option<String>,
    /// Before this, in the same forms.
    before: Option<String>,
    /// A part of the sender's name or username, in any case.
    sender: Option<String>,
    /// How many hits, 1 to 1000; 20 by default.
    limit: Option<i64>,
    /// The next_cursor of the answer before, with all other arguments the same.
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
    /// The id of the source; all sources if it is left out.
    source: Option<String>,
    /// The chat: its id, its name, a part of its name, or * for all; all chats if it is left out.
    chat: Option<String>,
    /// Not before this: 7d ago, 2025-01-13, or RFC 3339.
    since: Option<String>,
    /// Before this, in the same forms.
    before: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPeople {
    /// A part of any of their names or usernames, in any case.
    name: Option<String>,
    /// How many, 1 to 1000; 100 by default.
    limit: Option<i64>,
    /// How many of the first to pass over.
    offset: Option<i64>,
}

impl From<ListChats> for ChatQuestion {
    fn from(asked: ListChats) -> Self {
        let Filter {
            chat_type,
            name_pattern,
        } = asked.filter.unwrap_or_default();
        Self {
            source: asked.source,
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
            source: asked.source,
            chat: asked.chat,
            since: asked.since,
            before: asked.before,
            sender: asked.sender,
            search: asked.search,
            limit: asked.limit,
            offset: asked.offset,
            cursor: asked.cursor,
            stored: asked.stored.unwrap_or(false),
        }
    }
}

impl From<SearchMessages> for SearchQuestion {
    fn from(asked: SearchMessages) -> Self {
        Self {
            text: asked.query,
            messages: Question {
                source: asked.source,
                chat: asked.chat,
                since: asked.since,
                before: asked.before,
                sender: asked.sender,
                search: None,
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
            source: asked.source,
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
            source: asked.source,
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
