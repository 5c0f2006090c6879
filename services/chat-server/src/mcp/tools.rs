//! The tools, all of them read-only.

use mcp_proto::{CallToolResult, Context, ServerBuilder, Tool, ToolAnnotations, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{REQUEST_TIMEOUT, State};
use crate::chat_service::{
    Around, ChatQuestion, PeopleQuestion, Question, SearchQuestion, StatisticsQuestion,
    WaitQuestion,
};
use crate::view::compact;

/// Adds the tools.
pub(super) fn add(builder: ServerBuilder<State>) -> ServerBuilder<State> {
    builder
        .tool(
            reading(
                "list_sources",
                "List the sources",
                "List the sources of chats with id, name, whether each is connected (if not, what to do), how many chats \
                 and messages are known, until when, and what is missing. Start here.",
            ),
            |state: State, _: NoArguments, _: Context| async move {
                answer(json!({ "sources": state.service.sources().await? }))
            },
        )
        .tool(
            reading(
                "list_chats",
                "List the chats",
                "List the chats of a source, those with the latest activity first, with id, name, type, number of \
                 messages, who wrote last and what, and participant_count: members if the source gives them, else \
                 those who wrote (counted says which). filter.chat_type is direct, group, channel or unknown; filter.name_pattern is a part \
                 of the name, in any case.",
            ),
            |state: State, asked: ChatQuestion, _: Context| async move {
                answer(json!(state.service.chats(&asked).await?))
            },
        )
        .tool(
            reading(
                "get_messages",
                "Read messages",
                "Read messages, newest first or by order oldest first: of a chat, or of all chats of a source, or of all \
                 sources; by time, sender, text they contain, and kind (has: image, file, link...). Each says its source, chat, sender, content and time. For more, give next_cursor as cursor.",
            ),
            |state: State, asked: Question, _: Context| async move {
                answer(compact::messages(&state.service.messages(&asked).await?))
            },
        )
        .tool(
            reading(
                "wait_for_message",
                "Wait for a message",
                "Wait until a new message comes in, at most 50 seconds, and give it; of a source, chat or sender, or with words. \
                 An answer without messages says how to continue waiting.",
            ),
            |state: State, asked: WaitQuestion, _: Context| async move {
                answer(compact::messages(&state.service.wait(asked).await?))
            },
        )
        .tool(
            reading(
                "search_messages",
                "Search messages",
                "Find messages and names of files with all of some words, \"phrases\", a OR b, -not, emoji, with what was \
                 found **marked**: whole words first, then inside_word, each newest first; context_before and context_after give what was said around each.",
            ),
            |state: State, asked: SearchQuestion, _: Context| async move {
                answer(compact::hits(&state.service.search(asked).await?))
            },
        )
        .tool(
            reading(
                "get_message_context",
                "Read around a message",
                "Read what was said before and after one message, by the ids that get_messages or search_messages gave.",
            ),
            |state: State, asked: Around, _: Context| async move {
                answer(compact::around(&state.service.around(&asked).await?))
            },
        )
        .tool(
            reading(
                "get_statistics",
                "Count messages",
                "Count messages per sender, hour, weekday, day, month and year, with the busiest days: of a chat, a source \
                 or all, in a time.",
            ),
            |state: State, asked: StatisticsQuestion, _: Context| async move {
                answer(json!(state.service.statistics(&asked).await?))
            },
        )
        .tool(
            reading(
                "list_people",
                "List people",
                "List who writes, those with the most messages first, with what each is called in each source.",
            ),
            |state: State, asked: PeopleQuestion, _: Context| async move {
                answer(json!(state.service.people(&asked).await?))
            },
        )
}

fn reading(name: &str, title: &str, description: &str) -> Tool {
    Tool::new(name, description)
        .with_title(title)
        .with_annotations(ToolAnnotations::read_only())
        .with_timeout(REQUEST_TIMEOUT)
}

/// The answer of a tool, without an output schema, which would cost more tokens than it is worth. Unknown arguments are
/// refused, so that a model gets an error for a misspelt one.
type Answer = Result<CallToolResult, ToolError>;

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

/// An answer without its absent parts.
fn answer(view: Value) -> Answer {
    CallToolResult::structured(&compact::answer(view))
}
