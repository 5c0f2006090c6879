//! Completion of ids: first those that begin with the typed text, then those that only contain it.

use mcp_proto::{Completion, CompletionRequest, Context, RequestError, ServerBuilder};
use service_host::completion;

use super::failure::Failure;
use super::state::ServerState;
use super::{address, prompts};

/// Adds the completions of templates and prompts.
pub(super) fn add(builder: ServerBuilder<ServerState>) -> ServerBuilder<ServerState> {
    builder
        .complete_template(address::SPEC, "id", specs)
        .complete_template(address::CHANGE, "id", changes)
        .complete_prompt(prompts::PROPOSE, "spec_id", specs)
        .complete_prompt(prompts::IMPLEMENT, "change_id", changes)
        .complete_prompt(prompts::ARCHIVE, "change_id", changes)
}

async fn specs(
    state: ServerState,
    request: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    complete(state, request, |state| Ok(state.project()?.spec_ids()?)).await
}

async fn changes(
    state: ServerState,
    request: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    complete(state, request, |state| Ok(state.project()?.change_ids()?)).await
}

async fn complete(
    state: ServerState,
    request: CompletionRequest,
    ids: impl FnOnce(&ServerState) -> Result<Vec<String>, Failure> + Send + 'static,
) -> Result<Completion, RequestError> {
    let completed = state
        .read(move |state| Ok(completion(&request.value, ids(state)?.iter().map(String::as_str))));
    Ok(completed.await?)
}
