//! Completion of ids, by their beginning; those that only contain what was typed come after.

use mcp_proto::{Completion, CompletionRequest, Context, RequestError, ServerBuilder};

use super::desk::Desk;
use super::failure::Failure;
use super::{address, prompts};

/// Adds the completions of templates and prompts.
pub(super) fn add(builder: ServerBuilder<Desk>) -> ServerBuilder<Desk> {
    builder
        .complete_template(address::SPEC, "id", specs)
        .complete_template(address::CHANGE, "id", changes)
        .complete_prompt(prompts::PROPOSE, "spec_id", specs)
        .complete_prompt(prompts::IMPLEMENT, "change_id", changes)
        .complete_prompt(prompts::ARCHIVE, "change_id", changes)
}

async fn specs(
    desk: Desk,
    request: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    complete(desk, request, |desk| Ok(desk.project()?.spec_ids()?)).await
}

async fn changes(
    desk: Desk,
    request: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    complete(desk, request, |desk| Ok(desk.project()?.change_ids()?)).await
}

async fn complete(
    desk: Desk,
    request: CompletionRequest,
    ids: impl FnOnce(&Desk) -> Result<Vec<String>, Failure> + Send + 'static,
) -> Result<Completion, RequestError> {
    let completed = desk.read(move |desk| {
        let typed = request.value.to_lowercase();
        let (mut begin, contain): (Vec<_>, Vec<_>) = ids(desk)?
            .into_iter()
            .filter(|id| id.to_lowercase().contains(&typed))
            .partition(|id| id.to_lowercase().starts_with(&typed));
        begin.extend(contain);
        Ok(Completion::all(begin))
    });
    Ok(completed.await?)
}
