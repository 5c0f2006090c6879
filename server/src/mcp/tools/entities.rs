//! `find_entities`: which entities a universe has, as short rows.

use std::borrow::Cow;

use mcp_proto::{CallToolResult, Context, Tool};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::commands::{CommandService, Universe};
use crate::mcp::arguments;
use crate::mcp::results::{Answer, answered, arguments_schema, hints, universe_schema, written};
use crate::offload;
use crate::view::{SelectedEntity, Selection};

/// The most rows on a page, and the default.
const MAX_LIMIT: usize = 500;
const DEFAULT_LIMIT: usize = 50;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    universe_id: String,
    name: Option<String>,
    kind: Option<String>,
    parent: Option<String>,
    within: Option<String>,
    limit: Option<usize>,
    cursor: Option<String>,
}

/// A page of rows.
#[derive(Serialize)]
struct EntityRows<'s> {
    /// The number of entities on all pages.
    found: usize,
    entities: Vec<EntityRow<'s>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// Why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize)]
struct EntityRow<'s> {
    id: &'s str,
    /// Absent for bodies, because most entities are bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'s, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Cow<'s, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Cow<'s, str>>,
}

pub(super) fn tool() -> Tool {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let properties = json!({
        "universeId": universe_schema(),
        "name": text("Part of the name or id, in any case."),
        "kind": text("A bodyType, such as moon."),
        "parent": text("Id of what they directly orbit or are in."),
        "within": text("Id of a body or group, with all below it."),
        "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT },
        "cursor": json!({ "type": "string" }),
    });
    Tool::new(
        "find_entities",
        "Bodies, groups, belts, fields, disks and nebulae: id, name, kind and parent of each.",
    )
    .with_title("Find bodies")
    .with_annotations(hints(true, false))
    .with_input_schema(arguments_schema(&properties, &["universeId"]))
}

pub(super) async fn call(service: CommandService, given: Arguments, context: Context) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let universe = answered(&service, &id, service.get(&id).await).await?;
    let small = offload::is_small(&universe.state);
    written(&context, small, move || rows(&universe, given)).await
}

fn rows(universe: &Universe, given: Arguments) -> Answer {
    let selection = Selection {
        name: given.name,
        kind: given.kind,
        parent: given.parent,
        subtree: given.within,
        after: given.cursor,
        limit: Some(given.limit.unwrap_or(DEFAULT_LIMIT)),
        ..Selection::default()
    };
    let part = selection.of(&universe.state).map_err(|problem| {
        let id = Some(universe.id.as_str());
        arguments::invalid(id, "INVALID_ARGUMENTS", &problem)
    })?;
    let rows: Vec<_> = part.found.iter().map(EntityRow::of).collect();
    let note = (part.total == 0).then(|| selection.nothing(&universe.state));
    let (found, next) = (part.total, part.next);
    CallToolResult::structured(&EntityRows { found, entities: rows, next, note })
}

impl<'s> EntityRow<'s> {
    fn of(found: &SelectedEntity<'s>) -> Self {
        Self {
            id: found.id,
            family: Some(found.family.name()).filter(|family| *family != "stars"),
            name: found.entity.name(),
            kind: found.entity.text("bodyType"),
            parent: found.parent(),
        }
    }
}
