//! Completion of sources and chats: first names that begin with the text, then names that contain it.

use mcp_proto::{Completion, CompletionRequest, Context, RequestError, ServerBuilder};
use service_host::completion;

use super::failure::in_time;
use super::{State, prompts};
use crate::chat_service::{ChatQuestion, MAX_CHATS};
use crate::view::uri::{ALL_MESSAGES, ATTACHMENT, MESSAGES};

/// Adds the completions of templates and prompts.
pub(super) fn add(mut builder: ServerBuilder<State>) -> ServerBuilder<State> {
    for template in [MESSAGES, ALL_MESSAGES, ATTACHMENT] {
        builder = builder
            .complete_template(template, "source", sources)
            .complete_template(template, "chat", chats);
    }
    for prompt in prompts::names() {
        builder = builder
            .complete_prompt(prompt, "source", sources)
            .complete_prompt(prompt, "chat", chats);
    }
    builder
}

async fn sources(
    state: State,
    request: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    let ids = state.service.registry().iter();
    Ok(completion(&request.value, ids.map(|entry| entry.source.id())))
}

/// The names of chats, only of one source if it is given.
async fn chats(
    state: State,
    request: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    let source = request.arguments.get("source");
    let asked = ChatQuestion {
        source: source.filter(|source| *source != "*").cloned(),
        limit: Some(MAX_CHATS),
        stored: Some(true),
        ..ChatQuestion::default()
    };
    let chats = in_time(state.service.chats(&asked)).await?.chats;
    let mut known = std::collections::HashSet::new();
    let names = chats.iter().map(|chat| chat.name.as_str()).filter(|name| known.insert(*name));
    Ok(completion(&request.value, names))
}
