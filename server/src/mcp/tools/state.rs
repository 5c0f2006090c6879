//! `get_universe_state`: the whole state, the part that was asked for, or an outline of a state that is too large to be
//! answered unasked.

use std::collections::BTreeMap;

use bytes::Bytes;
use mcp_proto::json::escaped;
use mcp_proto::{CallToolResult, Context, PreparedJson, Tool, ToolAnnotations, ToolError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use universe_core::{Family, State, TextPart};

use super::places;
use crate::commands::{CommandService, Universe};
use crate::mcp::arguments;
use crate::mcp::results::{
    Answer, META_HINT, META_REVISION, answered, arguments_schema, set_meta, universe_id_schema,
    written,
};
use crate::mcp::view;
use crate::offload;
use crate::store::Revision;
use crate::view::tree::{Cursor, Part, TreePage, counts, depth_within, tree};
use crate::view::{FITTING_BYTES, Selection};

/// The most entities on a page.
pub(super) const MAX_LIMIT: usize = 1_000;
/// The default size of a page that continues from a cursor.
const DEFAULT_LIMIT: usize = 100;
/// The longest outline as JSON, and what of it is kept for all but its text.
const OUTLINE_BYTES: usize = 8 * 1024;
const NOTE_BYTES: usize = 1024;
/// The most bodies that an outline has, unless there are more systems.
const OUTLINED: usize = 100;
/// The most missing ids for which the nearest ones are named.
const MAX_HINTS: usize = 10;
/// How the cursor of an outline begins, unlike that of a page of entities.
const OUTLINE: &str = "outline.";
const HINT: &str = "ask for less with `select` (families, ids, subtree with depth, members) or in pages with `limit`";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Arguments {
    universe_id: String,
    revision: Option<u64>,
    select: Option<Select>,
    limit: Option<usize>,
    cursor: Option<String>,
    #[serde(default)]
    whole: bool,
}

#[derive(Default, Deserialize)]
struct Select {
    families: Option<Vec<String>>,
    ids: Option<Vec<String>>,
    subtree: Option<String>,
    depth: Option<usize>,
    members: Option<Vec<String>>,
    places: Option<places::Asked>,
}

impl Select {
    /// Whether entities are selected.
    fn has_entities(&self) -> bool {
        self.families.is_some()
            || self.ids.is_some()
            || self.subtree.is_some()
            || self.depth.is_some()
            || self.members.is_some()
    }
}

/// A part of a state.
#[derive(Serialize)]
struct StatePart {
    revision: u64,
    time: f64,
    /// The number of selected entities on all pages.
    selected: usize,
    #[serde(flatten)]
    families: BTreeMap<&'static str, BTreeMap<String, Box<RawValue>>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// What is answered instead of a large state: at most [`OUTLINE_BYTES`].
#[derive(Serialize)]
struct StateOutline {
    time: f64,
    outline: String,
    counts: BTreeMap<&'static str, usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    note: String,
}

pub(super) fn tool() -> Tool {
    let families = Family::ALL.map(Family::name);
    let texts = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let properties = json!({
        "universeId": universe_id_schema(),
        "revision": { "type": "integer", "minimum": 0, "description": "As it was at this revision." },
        "select": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "families": { "type": "array", "items": { "type": "string", "enum": families } },
                "ids": texts("Entities with these ids."),
                "subtree": { "type": "string", "description": "Id of a body or group, with all below." },
                "depth": { "type": "integer", "minimum": 0, "description": "Levels below it." },
                "places": places::schema(),
                "members": texts("Only these members of each, such as mass; `id` is always there."),
            },
        },
        "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "description": "Entities a page." },
        "cursor": { "type": "string", "description": "The page before's `next`." },
        "whole": { "type": "boolean" },
    });
    Tool::new(
        "get_universe_state",
        "Read a universe: bodies by id under `stars` (each with `parentId` and `children`), `rootIds`, `groups`, belts, \
         fields, disks, nebulae, and the simulation `time` in seconds. By default the whole state, or an outline of a \
         large one; see `select`, `limit`, `whole`.",
    )
    .with_title("Read a universe")
    .with_ui(view::URI)
    .with_annotations(ToolAnnotations::read_only())
    .with_input_schema(arguments_schema(&properties, &["universeId"]))
    .with_output_schema(json!({
        "type": "object",
        "properties": {
            "stars": { "type": "object" },
            "time": { "type": "number" },
            "next": { "type": "string", "description": "The next page." },
        },
        "required": ["time"],
    }))
    // The output is written from the domain's own type. A large state is not parsed again to validate it.
    .with_trusted_output()
    .with_whole_results(HINT)
}

pub(super) async fn call(
    service: CommandService,
    mut given: Arguments,
    context: Context,
) -> Answer {
    let id = arguments::universe_id(&given.universe_id)?;
    let invalid =
        |problem: &str| arguments::invalid(Some(id.as_str()), "INVALID_ARGUMENTS", problem);
    let is_part = given.select.is_some() || given.limit.is_some() || given.cursor.is_some();
    if given.whole && is_part {
        return Err(invalid(
            "`whole` is the whole state: leave out `select`, `limit` and `cursor`",
        ));
    }
    let continued = given.cursor.as_deref().and_then(|cursor| cursor.strip_prefix(OUTLINE));
    if let Some(cursor) = continued {
        let wrong = || invalid("cursor must be the `next` of the page before");
        let cursor = Cursor::read(cursor).ok_or_else(wrong)?;
        let begin = Cursor::begin(Some(cursor), &service, &id).await;
        let (universe, skip) = answered(&service, &id, begin).await?;
        return outlined(&context, universe, skip).await;
    }
    let universe = service.read(&id, given.revision.map(Revision)).await;
    let universe = answered(&service, &id, universe).await?;
    if let Some(asked) = given.select.as_mut().and_then(|select| select.places.take()) {
        if given.select.as_ref().is_some_and(Select::has_entities) {
            return Err(invalid("select: places are asked for alone; leave out the other members"));
        }
        return places::answer(&context, universe, asked, given.limit, given.cursor).await;
    }
    let small = offload::is_small(&universe.state);
    let max = if given.whole { usize::MAX } else { service.max_unasked_bytes() };
    // An estimate, which spares writing most of those that are too large.
    if !is_part && !universe.state.is_within(max.saturating_mul(2)) {
        return outlined(&context, universe, 0).await;
    }
    if !is_part {
        let revision = universe.revision;
        let text = universe.text.of(&universe.state);
        let is_kept = text.is_some_and(|text| text.parts().all(TextPart::is_escaped));
        let read = universe.clone();
        let whole = move || whole(&read, small);
        let (mut result, bytes) = written(&context, small || is_kept, whole).await?;
        if bytes > max {
            return outlined(&context, universe, 0).await;
        }
        set_meta(&mut result, META_REVISION, revision.0.into());
        if bytes > FITTING_BYTES {
            let hint = format!("the whole state has {bytes} bytes: {HINT}");
            set_meta(&mut result, META_HINT, hint.into());
        }
        return Ok(result);
    }
    let part = move || CallToolResult::structured(&part(&universe, given)?);
    written(&context, small, part).await
}

/// The systems of a large universe and as many levels below them as fit, a page at a time.
async fn outlined(context: &Context, universe: Universe, skip: usize) -> Answer {
    let revision = universe.revision;
    let outline = move || {
        let state = &universe.state;
        let depth = depth_within(state, OUTLINED);
        let part = Part { skip, bytes: OUTLINE_BYTES - NOTE_BYTES, depth, ..Part::default() };
        let TreePage { text, next } = tree(&universe, part);
        let further = match &next {
            Some((_, omitted)) => format!(" {omitted} more lines follow with `next` as `cursor`."),
            None => String::new(),
        };
        let note = format!(
            "This is an outline, because the state at revision {revision} is large.{further} Ask for parts with \
             `select`, such as {{\"subtree\": ID, \"depth\": 1}}, or for pages of whole entities with `limit`; `whole`: \
             true answers everything."
        );
        CallToolResult::structured(&StateOutline {
            time: state.time(),
            outline: text,
            counts: counts(state).collect(),
            next: next.map(|(cursor, _)| format!("{OUTLINE}{cursor}")),
            note,
        })
    };
    let mut result = written(context, false, outline).await?;
    set_meta(&mut result, META_REVISION, revision.0.into());
    Ok(result)
}

/// The whole state and its size in bytes. The text of a large state is kept.
fn whole(universe: &Universe, small: bool) -> Result<(CallToolResult, usize), ToolError> {
    let Universe { state, text, .. } = universe;
    let mut prepared = PreparedJson::default();
    if small {
        let json = String::from_utf8(state.to_json()?)?;
        let bytes = json.len();
        let escaped = escaped(&json);
        prepared.push(json.into(), escaped.into());
        return Ok((CallToolResult::prepared(prepared), bytes));
    }
    let written = text.write(state)?;
    for part in written.parts() {
        let escaped = part.escaped(escaped);
        prepared.push(Bytes::from_owner(part.clone()), Bytes::from_owner(escaped));
    }
    text.measure(&written);
    Ok((CallToolResult::prepared(prepared), written.len()))
}

fn part(universe: &Universe, given: Arguments) -> Result<StatePart, ToolError> {
    let is_selected = given.select.is_some();
    let select = given.select.unwrap_or_default();
    let asked: Option<Vec<_>> = select.families.as_ref().map(|names| {
        let names = names.iter();
        names.filter_map(|name| Family::find(name)).collect()
    });
    // A family that was requested by name is present even if it is empty.
    let mut families: BTreeMap<_, BTreeMap<_, _>> =
        asked.iter().flatten().map(|family| (family.name(), BTreeMap::new())).collect();
    let limit = match given.cursor {
        Some(_) => Some(given.limit.unwrap_or(DEFAULT_LIMIT)),
        None => given.limit,
    };
    let selection = Selection {
        families: asked,
        ids: select.ids,
        subtree: select.subtree,
        depth: select.depth,
        after: given.cursor,
        limit,
        ..Selection::default()
    };
    let state = &universe.state;
    let selected = selection.of(state);
    let selected = selected.map_err(|problem| {
        arguments::invalid(Some(universe.id.as_str()), "INVALID_ARGUMENTS", &problem)
    })?;
    for found in &selected.found {
        let written = match &select.members {
            Some(members) => to_raw_value(&found.with_members(state, members)),
            None if is_selected => to_raw_value(&found.with_facts(state)),
            // Pages of everything make up the whole state.
            None => to_raw_value(&found.entity),
        };
        let family = families.entry(found.family.name()).or_default();
        family.insert(found.id.to_owned(), written?);
    }
    let members = select.members.unwrap_or_default();
    let mut warnings = unknown_members(state, &members);
    warnings.extend(
        selected.missing.iter().take(MAX_HINTS).filter_map(|id| selection.meant(state, id)),
    );
    Ok(StatePart {
        revision: universe.revision.0,
        time: state.time(),
        selected: selected.total,
        families,
        missing: selected.missing.iter().map(|&id| id.to_owned()).collect(),
        warnings,
        next: selected.next,
    })
}

/// Members that are not known for any kind of entity, each with the nearest known name.
fn unknown_members(state: &State, members: &[String]) -> Vec<String> {
    let tables = || Family::ALL.into_iter().map(Family::table);
    let known = || tables().flat_map(|table| table.members);
    let mut warnings = Vec::new();
    for member in members {
        let is_used = || {
            let all = Family::ALL.into_iter().flat_map(|family| state.entities(family));
            let mut all = all.map(|(_, entity)| entity);
            all.any(|entity| entity.has(member))
        };
        let is_fact = || State::FACTS.contains(&member.as_str());
        if known().any(|known| known.name == member) || is_fact() || is_used() {
            continue;
        }
        let hint = universe_core::nearest::hint(member, known().map(|known| known.name));
        let shown: String = member.chars().take(80).collect();
        warnings.push(format!("no entity has a member {shown:?}{hint}"));
    }
    warnings
}
