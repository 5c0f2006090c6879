//! Completion of names: first those that begin with the typed text, then those that contain it.

use std::future::{Ready, ready};

use mcp_proto::{
    Completion, CompletionRequest, Context, MAX_COMPLETIONS, RequestError, ServerBuilder,
};

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

/// The matching names: those that begin with the typed text first, then by name. Case does not matter.
fn matching(typed: &str, names: Vec<&str>) -> Completion {
    if typed.len() > MAX_TYPED {
        return Completion::default();
    }
    let typed = typed.trim().to_lowercase();
    let mut found: Vec<(bool, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let at = name.to_lowercase().find(&typed)?;
            Some((at > 0, name))
        })
        .collect();
    found.sort_unstable();
    let total = found.len();
    let values = found.into_iter().take(MAX_COMPLETIONS);
    let values: Vec<String> = values.map(|(_, name)| name.to_owned()).collect();
    match total > values.len() {
        true => Completion::first(values, Some(total as u64)),
        false => Completion::all(values),
    }
}
