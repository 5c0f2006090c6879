//! Completion of the ids of universes and entities, by the beginning of an id or a name.

use mcp_proto::completion::MAX_COMPLETIONS;
use mcp_proto::{Completion, CompletionRequest, Context, RequestError, ServerBuilder};
use universe_core::Family;

use super::{address, prompts, scopes};
use crate::commands::CommandService;
use crate::offload;
use crate::store::{Page, UniverseId};

/// The most pages of universes that are searched, beginning with the newest universe.
const MAX_PAGES: usize = 10;
/// The most entities that are searched without offloading.
const INLINE_ENTITIES: usize = 2_000;

/// Ids that match the typed text. Matches by id come before matches by name, because most ids are random and are not
/// typed.
struct Matches {
    typed: String,
    by_id: Vec<String>,
    by_name: Vec<String>,
    total: usize,
}

/// Adds the completions of templates and prompts.
pub(super) fn add(mut builder: ServerBuilder<CommandService>) -> ServerBuilder<CommandService> {
    let whole = [
        address::WHOLE,
        address::SUMMARY,
        address::TREE,
        address::SVG,
        address::PNG,
        address::EVENTS,
    ];
    for template in whole {
        builder = builder.complete_template(template, "id", universes);
    }
    for family in Family::ALL {
        let template = address::entity_template(family);
        builder = builder.complete_template(&*template, "id", universes).complete_template(
            &*template,
            address::entity_variable(family),
            move |service, request, context| entities(family, service, request, context),
        );
    }
    for prompt in [prompts::MODEL, prompts::EXPLAIN] {
        builder = builder.complete_prompt(prompt, "universe", universes);
    }
    builder
}

async fn universes(
    service: CommandService,
    request: CompletionRequest,
    context: Context,
) -> Result<Completion, RequestError> {
    let service = scopes::within(&service, &context);
    let mut matches = Matches::new(&request.value);
    let mut page = Page::FIRST;
    for _ in 0..MAX_PAGES {
        let records = service.list(page).await?;
        for record in &records {
            matches.offer(record.meta.id.as_str(), Some(&record.meta.name));
        }
        match Page::following(&records) {
            Some(next) => page = next,
            None => return Ok(matches.completion(true)),
        }
    }
    Ok(matches.completion(false))
}

/// The entities of the universe that was already chosen. Empty without one.
async fn entities(
    family: Family,
    service: CommandService,
    request: CompletionRequest,
    context: Context,
) -> Result<Completion, RequestError> {
    let service = scopes::within(&service, &context);
    let id = request.arguments.get("id").map(UniverseId::new);
    let Some(Ok(id)) = id else {
        return Ok(Completion::default());
    };
    let Ok(universe) = service.get(&id).await else {
        return Ok(Completion::default());
    };
    let state = universe.state;
    let small = state.entities(family).len() <= INLINE_ENTITIES;
    let look = move || {
        let mut matches = Matches::new(&request.value);
        for (id, entity) in state.entities(family) {
            matches.offer(id, entity.name().as_deref());
        }
        matches.completion(true)
    };
    Ok(offload::run(small, None, look).await?)
}

impl Matches {
    fn new(typed: &str) -> Self {
        Self {
            typed: typed.chars().flat_map(char::to_lowercase).collect(),
            by_id: Vec::new(),
            by_name: Vec::new(),
            total: 0,
        }
    }

    fn offer(&mut self, id: &str, name: Option<&str>) {
        // The empty id cannot be part of a URI.
        let found = if id.is_empty() {
            return;
        } else if self.begins(id) {
            &mut self.by_id
        } else if name.is_some_and(|name| self.begins(name)) {
            &mut self.by_name
        } else {
            return;
        };
        self.total += 1;
        if found.len() < MAX_COMPLETIONS {
            found.push(id.to_owned());
        }
    }

    /// Whether a text begins with what was typed, ignoring case.
    fn begins(&self, text: &str) -> bool {
        let mut text = text.chars().flat_map(char::to_lowercase);
        self.typed.chars().all(|typed| text.next() == Some(typed))
    }

    /// Makes the result. `all` means that the search was complete, so that the total is known.
    fn completion(mut self, all: bool) -> Completion {
        self.by_id.append(&mut self.by_name);
        self.by_id.truncate(MAX_COMPLETIONS);
        let mut completion = Completion::all(self.by_id);
        completion.total = all.then_some(self.total as u64);
        completion.has_more = !all || self.total > completion.values.len();
        completion
    }
}
