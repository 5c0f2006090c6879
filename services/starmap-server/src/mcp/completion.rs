//! Completion of names: first those that begin with the typed text, then those that contain it.

use std::future::{Ready, ready};

use mcp_proto::{Completion, CompletionRequest, Context, RequestError, ServerBuilder};
use service_host::completion;

use super::resources::now;
use super::universe::Universe;
use super::{address, prompts};
use crate::map::Map;

/// The longest text that can be part of a name. Longer texts have no completions.
const MAX_TYPED: usize = crate::map::MAX_NAME_BYTES;

/// Adds the completions of templates and prompts.
pub(crate) fn add(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    let systems = of(|map| map.systems().iter().map(|it| &*it.name).collect());
    let constellations = of(|map| map.constellations().iter().map(|it| &*it.name).collect());
    let regions = of(|map| map.regions().iter().map(|it| &*it.name).collect());
    let mut builder = builder
        .complete_template(address::SYSTEM, "name", systems)
        .complete_template(address::CONSTELLATION, "name", constellations)
        .complete_template(address::REGION, "name", regions)
        .complete_template(address::PICTURE_REGION, "name", regions)
        .complete_template(address::PICTURE_ROUTE, "origin", systems)
        .complete_template(address::PICTURE_ROUTE, "destination", systems)
        .complete_template(address::PICTURE_ROUTE, "mode", modes);
    for (prompt, argument) in prompts::SYSTEM_ARGUMENTS {
        builder = builder.complete_prompt(prompt, argument, systems);
    }
    builder
}

/// Completes names of the map.
fn of(
    names: fn(&Map) -> Vec<&str>,
) -> impl Fn(Universe, CompletionRequest, Context) -> Ready<Result<Completion, RequestError>>
+ Copy
+ Send
+ Sync
+ 'static {
    move |universe, request, _context| {
        ready(now(&universe).map(|now| matching(&request.value, names(&now.map))))
    }
}

async fn modes(
    _universe: Universe,
    request: CompletionRequest,
    _context: Context,
) -> Result<Completion, RequestError> {
    Ok(Completion::matching(&request, super::tools::MODES))
}

/// The matching names, sorted.
fn matching(typed: &str, mut names: Vec<&str>) -> Completion {
    if typed.len() > MAX_TYPED {
        return Completion::default();
    }
    names.sort_unstable();
    completion(typed, names)
}
