//! Reading universes and their parts.

use mcp_proto::{Context, RequestError, ResourceContents, ResourceUri};
use serde::Serialize;
use serde_json::{Map, Value, json};
use universe_core::Family;

use super::{MAX_LISTED, listed};
use crate::commands::{CommandService, Universe};
use crate::mcp::results::{Contents, META_REVISION};
use crate::mcp::{address, find, scopes};
use crate::offload;
use crate::store::{Page, Record, Timestamp};
use crate::view::SelectedEntity;
use crate::view::tree::{Cursor, Part, TreePage, tree as tree_of};

/// The most children of an entity that is written without offloading.
const INLINE_CHILDREN: usize = 2_000;
/// The longest page of an outline in bytes.
const PAGE_BYTES: usize = 16 * 1024;
pub(super) const JSON: &str = "application/json";
pub(super) const TEXT: &str = "text/plain";

/// The entry for a universe in the list and the summary.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedUniverse<'u> {
    id: &'u str,
    name: &'u str,
    uri: String,
    revision: u64,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// [`ListedUniverse`], with the members that need the state.
#[derive(Serialize)]
struct Summary<'u> {
    #[serde(flatten)]
    universe: ListedUniverse<'u>,
    time: f64,
    counts: Map<String, Value>,
}

pub(in crate::mcp) async fn list(service: CommandService, context: Context) -> Contents {
    let service = scopes::within(&service, &context);
    let page = Page { after: None, limit: MAX_LISTED + 1 };
    let mut records = listed(&service, page).await?;
    let more = records.len() > MAX_LISTED;
    records.truncate(MAX_LISTED);
    let universes: Vec<_> = records.iter().map(ListedUniverse::of).collect();
    let text = json!({ "universes": universes, "more": more }).to_string();
    Ok(ResourceContents::text(address::LIST, text).with_mime_type(JSON))
}

pub(in crate::mcp) async fn whole(service: CommandService, uri: ResourceUri) -> Contents {
    let universe = named(&service, &uri).await?;
    let meta = revision_of(&universe);
    let state = universe.state;
    let small = offload::is_small(&state);
    let written = offload::run(small, None, move || state.to_json()).await??;
    Ok(contents(uri.uri, String::from_utf8(written)?, meta))
}

pub(in crate::mcp) async fn summary(service: CommandService, uri: ResourceUri) -> Contents {
    let universe = named(&service, &uri).await?;
    let state = &universe.state;
    let counts = Family::ALL.map(|family| {
        let count = state.entities(family).len();
        (family.name().to_owned(), Value::from(count))
    });
    let summary = Summary {
        universe: ListedUniverse::summary(&universe),
        time: state.time(),
        counts: Map::from_iter(counts),
    };
    let text = serde_json::to_string(&summary)?;
    Ok(contents(uri.uri, text, revision_of(&universe)))
}

pub(in crate::mcp) async fn tree(service: CommandService, uri: ResourceUri) -> Contents {
    let wrong = |problem: &str| RequestError::invalid_params(problem);
    let cursor = match uri.get("cursor") {
        Some(cursor) => Some(
            Cursor::read(cursor)
                .ok_or_else(|| wrong("cursor must be the one at the end of the page before"))?,
        ),
        None => None,
    };
    let limit = uri.get("limit").map(str::parse::<usize>).transpose();
    let limit = limit.map_err(|_| wrong("limit must be a whole number"))?.unwrap_or(usize::MAX);
    let id = find::known_id(&service, uri.get("id").unwrap_or_default()).await?;
    let (universe, skip) = match Cursor::begin(cursor, &service, &id).await {
        Ok(begin) => begin,
        Err(error) => return Err(find::failure(&service, id.as_str(), error).await),
    };
    let part = Part { skip, entities: limit.max(1), bytes: PAGE_BYTES, ..Part::default() };
    let mut contents = outline(universe, part).await?;
    contents.uri = uri.uri;
    Ok(contents)
}

pub(in crate::mcp) async fn entity(
    family: Family,
    service: CommandService,
    uri: ResourceUri,
) -> Contents {
    let universe = named(&service, &uri).await?;
    let meta = revision_of(&universe);
    let id = uri.get(address::entity_variable(family)).unwrap_or_default();
    let Some(entity) = universe.state.entity(family, id) else {
        let shown: String = id.chars().take(200).collect();
        return Err(RequestError::not_found(format!(
            "universe {} has no {shown:?} among its {}; {}/tree shows the ids, and completion finds them",
            universe.id,
            family.name(),
            address::universe(universe.id.as_str()),
        )));
    };
    let written = if entity.child_count() <= INLINE_CHILDREN {
        let found = SelectedEntity { family, id, entity };
        serde_json::to_string(&found.with_facts(&universe.state))
    } else {
        let (state, id) = (universe.state.clone(), id.to_owned());
        let write = move || {
            let found = |entity| SelectedEntity { family, id: &id, entity };
            let found = state.entity(family, &id).map(found);
            serde_json::to_string(&found.map(|found| found.with_facts(&state)))
        };
        offload::run(false, None, write).await?
    };
    Ok(contents(uri.uri, written?, meta))
}

/// A page of the tree of a universe, written in a way that delays no other request.
pub(in crate::mcp) async fn outline(universe: Universe, part: Part) -> Contents {
    let uri = format!("{}/tree", address::universe(universe.id.as_str()));
    let meta = revision_of(&universe);
    let small = offload::is_small(&universe.state);
    let page = offload::run(small, None, move || tree_of(&universe, part)).await?;
    let TreePage { mut text, next } = page;
    if let Some((cursor, omitted)) = next {
        text.push_str(&format!("… and {omitted} more: {uri}?cursor={cursor}\n"));
    }
    Ok(ResourceContents::text(uri, text).with_mime_type(TEXT).with_meta(meta))
}

async fn named(service: &CommandService, uri: &ResourceUri) -> Result<Universe, RequestError> {
    find::universe(service, uri.get("id").unwrap_or_default()).await
}

fn contents(uri: String, json: String, meta: Map<String, Value>) -> ResourceContents {
    ResourceContents::text(uri, json).with_mime_type(JSON).with_meta(meta)
}

fn revision_of(universe: &Universe) -> Map<String, Value> {
    Map::from_iter([(META_REVISION.to_owned(), Value::from(universe.revision.0))])
}

impl<'u> ListedUniverse<'u> {
    fn of(record: &'u Record) -> Self {
        Self {
            id: record.meta.id.as_str(),
            name: &record.meta.name,
            uri: address::universe(record.meta.id.as_str()),
            revision: record.head.revision.0,
            created_at: record.meta.created_at,
            updated_at: record.head.updated_at,
        }
    }

    fn summary(universe: &'u Universe) -> Self {
        Self {
            id: universe.id.as_str(),
            name: &universe.name,
            uri: address::universe(universe.id.as_str()),
            revision: universe.revision.0,
            created_at: universe.created_at,
            updated_at: universe.updated_at,
        }
    }
}
