//! The tools: all of them read.

mod arguments;

use mcp_proto::{Context, ServerBuilder, Tool, ToolAnnotations, ToolError};
use schemars::JsonSchema;
use serde::Serialize;

use self::arguments::{
    GetContext, GetMessages, GetStatistics, ListChats, ListPeople, ListSources, SearchMessages,
};
use super::{REQUEST_TIMEOUT, State};
use crate::view;

/// The sources.
#[derive(Debug, Serialize, JsonSchema)]
struct Sources {
    /// The sources, by id.
    sources: Vec<view::Source>,
}

/// Adds the tools.
pub(super) fn add(builder: ServerBuilder<State>) -> ServerBuilder<State> {
    builder
        .tool(
            reading(
                "list_sources",
                "List the sources",
                "List the sources of chats with id, name, whether each is connected (if not, what to do), how many chats \
                 and messages are known. Start here.",
            ),
            list_sources,
        )
        .tool(
            reading(
                "list_chats",
                "List the chats",
                "List the chats of a source, those with the latest activity first, with id, name, type, participants and \
                 number of messages. filter.chat_type is direct, group, channel or unknown; filter.name_pattern is a part \
                 of the name, in any case.",
            ),
            list_chats,
        )
        .tool(
            reading(
                "get_messages",
                "Read messages",
                "Read messages, newest first: of a chat, or of all chats of a source, or of all sources; by time, sender \
                 and text. Each says its source, chat, sender, content and time. For more, give next_cursor as cursor.",
            ),
            get_messages,
        )
        .tool(
            reading(
                "search_messages",
                "Search messages",
                "Find messages with all of some words, \"phrases\" or beginnings of words (meet*), newest first, with \
                 what was found **marked**; with context_before and context_after, also what was said around each. Unlike \
                 `search` of get_messages it looks for whole words.",
            ),
            search_messages,
        )
        .tool(
            reading(
                "get_message_context",
                "Read around a message",
                "Read what was said before and after one message, by the ids that get_messages or search_messages gave.",
            ),
            get_message_context,
        )
        .tool(
            reading(
                "get_statistics",
                "Count messages",
                "Count messages per sender, day, hour and weekday: of a chat, a source or all, in a time.",
            ),
            get_statistics,
        )
        .tool(
            reading(
                "list_people",
                "List people",
                "List who writes, those with the most messages first, with what each is called in each source.",
            ),
            list_people,
        )
}

fn reading(name: &str, title: &str, description: &str) -> Tool {
    Tool::new(name, description)
        .with_title(title)
        .with_annotations(ToolAnnotations::read_only())
        .with_timeout(REQUEST_TIMEOUT)
}

async fn list_sources(state: State, _: ListSources, _: Context) -> Result<Sources, ToolError> {
    let sources = state.desk.sources().await?;
    Ok(Sources { sources })
}

async fn list_chats(state: State, asked: ListChats, _: Context) -> Result<view::Chats, ToolError> {
    Ok(state.desk.chats(&asked.into()).await?)
}

async fn get_messages(
    state: State,
    asked: GetMessages,
    _: Context,
) -> Result<view::Messages, ToolError> {
    Ok(state.desk.messages(&asked.into()).await?)
}

async fn search_messages(
    state: State,
    asked: SearchMessages,
    _: Context,
) -> Result<view::Hits, ToolError> {
    Ok(state.desk.search(&asked.into()).await?)
}

async fn get_message_context(
    state: State,
    asked: GetContext,
    _: Context,
) -> Result<view::Around, ToolError> {
    Ok(state.desk.around(&asked.into()).await?)
}

async fn get_statistics(
    state: State,
    asked: GetStatistics,
    _: Context,
) -> Result<view::Statistics, ToolError> {
    Ok(state.desk.statistics(&asked.into()).await?)
}

async fn list_people(
    state: State,
    asked: ListPeople,
    _: Context,
) -> Result<view::People, ToolError> {
    Ok(state.desk.people(&asked.into()).await?)
}
