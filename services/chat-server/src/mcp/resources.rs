//! Messages as resources, as text; attachments as resources, as bytes.

use std::sync::Arc;

use mcp_proto::{
    Context, Page, PageRequest, ReadResourceResult, RequestError, Resource, ResourceContents,
    ResourceTemplate, ResourceUri, ServerBuilder,
};
use serde_json::{Map, Value};

use super::State;
use super::failure::in_time;
use super::feed::Feed;
use crate::chat_service::{ChatQuestion, ChatService, Failure, MAX_CHATS, Question};
use crate::query::Invalid;
use crate::view;
use crate::view::compact::UNTRUSTED;
use crate::view::uri::{ALL_MESSAGES, ATTACHMENT, MESSAGES};

const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";

/// The query parameters of a messages URI, explained for a model.
const QUERY: &str = "Lines `[timestamp] sender: content`, newest first. since and before: 7d, 2025-01-13, 2025-01, 2025 or RFC 3339; \
    sender and search: parts of name and text; limit: 1 to 1000, 100 by default; offset counts from the newest; cursor \
    is next_cursor of _meta.";

/// `_meta` key of contents: the cursor with which the next page is read.
const META_NEXT: &str = "next_cursor";

/// `_meta` key of contents: what is not complete.
const META_NOTE: &str = "note";

/// `_meta` key of contents: the warning about what people wrote.
const META_ABOUT: &str = "about";

/// Adds the resources, their templates and subscriptions.
pub(super) fn add(builder: ServerBuilder<State>, feed: &Arc<Feed>) -> ServerBuilder<State> {
    let feed = Arc::clone(feed);
    builder
        .resource_template(
            ResourceTemplate::new(MESSAGES, "messages")
                .with_title("The messages of a chat")
                .with_description(format!("A chat by id or name. {QUERY}"))
                .with_mime_type(TEXT),
            read,
        )
        .resource_template(
            ResourceTemplate::new(ALL_MESSAGES, "all-messages")
                .with_title("The messages of all chats of a source")
                .with_description(format!(
                    "Each sender is followed by the chat. chat: one of them, by id or name. {QUERY}"
                ))
                .with_mime_type(TEXT),
            read,
        )
        .resource_template(
            ResourceTemplate::new(ATTACHMENT, "attachment")
                .with_title("A file of a message")
                .with_description(
                    "The bytes of the n-th file of a message, from 0; at most 10 MiB.",
                ),
            read_attachment,
        )
        .list_resources(list)
        .on_subscribe(|state: State, uri: String, _| async move {
            in_time(state.feed.admit(&state.service, &uri)).await
        })
        .subscription_matcher(move |subscribed, update| feed.concerns(subscribed, update))
}

async fn read(
    state: State,
    uri: ResourceUri,
    _: Context,
) -> Result<ReadResourceResult, RequestError> {
    in_time(text(&state.service, &uri)).await.map(Into::into)
}

async fn text(service: &ChatService, uri: &ResourceUri) -> Result<ResourceContents, Failure> {
    let given = |name: &str| uri.get(name).map(str::to_owned);
    let source = given("source").unwrap_or_default();
    let asked = Question {
        source: (source != "*").then_some(source),
        since: given("since"),
        before: given("before"),
        sender: given("sender"),
        search: given("search"),
        limit: number("limit", uri.get("limit"))?,
        offset: number("offset", uri.get("offset"))?,
        cursor: given("cursor"),
        // A resource has no parameter `stored`, and stored messages are better than none.
        stored: Some(true),
        chat: given("chat"),
        ..Question::default()
    };
    let is_all = asked.chat.as_deref().is_none_or(|chat| chat == "*");
    let page = service.messages(&asked).await?;
    let lines: Vec<String> = page
        .messages
        .into_iter()
        .map(|message| if is_all { message.among_chats().line() } else { message.line() })
        .collect();
    let contents = ResourceContents::text(&uri.uri, lines.join("\n")).with_mime_type(TEXT);
    let mut meta = Map::from_iter([(META_ABOUT.to_owned(), UNTRUSTED.into())]);
    meta.extend(page.next_cursor.map(|cursor| (META_NEXT.to_owned(), Value::String(cursor))));
    meta.extend(page.note.map(|note| (META_NOTE.to_owned(), Value::String(note))));
    Ok(contents.with_meta(meta))
}

fn number(name: &'static str, given: Option<&str>) -> Result<Option<i64>, Failure> {
    let wrong = |_| Invalid::new(name, "it is not a number: give digits alone").into();
    given.map(|given| given.parse().map_err(wrong)).transpose()
}

async fn read_attachment(
    state: State,
    uri: ResourceUri,
    _: Context,
) -> Result<ReadResourceResult, RequestError> {
    let part = |name: &str| uri.get(name).unwrap_or_default();
    let contents = async {
        let n = part("n").parse().map_err(|_| {
            let problem = "the last part of the address is the number of the file, from 0";
            Failure::not_found("ATTACHMENT_NOT_FOUND", problem)
        })?;
        let service = &state.service;
        service.attachment(part("source"), part("chat"), part("message"), n).await
    };
    let contents = in_time(contents).await?;
    let media_type = contents.media_type.unwrap_or_else(|| BYTES.to_owned());
    let blob = ResourceContents::blob(&uri.uri, contents.bytes).with_mime_type(media_type);
    Ok(blob.into())
}

/// The known chats, by source and id. The key of a page is the URI of its last chat.
async fn list(state: State, page: PageRequest, _: Context) -> Result<Page<Resource>, RequestError> {
    let asked =
        ChatQuestion { limit: Some(MAX_CHATS), stored: Some(true), ..ChatQuestion::default() };
    let mut chats = in_time(state.service.chats(&asked)).await?.chats;
    chats.sort_by(|one, other| one.uri.cmp(&other.uri));
    Ok(page.cut(chats, |chat| &chat.uri).map(resource))
}

fn resource(chat: view::Chat) -> Resource {
    let description =
        format!("{} messages of a {} chat in {}", chat.message_count, chat.kind, chat.source);
    Resource::new(chat.uri, chat.name).with_description(description).with_mime_type(TEXT)
}
