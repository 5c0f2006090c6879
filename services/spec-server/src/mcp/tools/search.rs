//! `search_specs`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::choice;
use crate::mcp::failure::Failure;
use crate::mcp::state::ServerState;
use crate::search::{MAX_TOP_K, Scope, TOP_K};
use crate::validate::Touching;
use crate::view::SearchResults;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchSpecs {
    /// A question, or some words.
    query: String,
    /// How many results at most; else 10.
    #[schemars(range(min = 1, max = 100))]
    top_k: Option<usize>,
    /// Where; else in the specs. `changes` are the active ones.
    #[serde(default)]
    #[schemars(schema_with = "choice::<Scope>")]
    r#in: Option<Scope>,
}

pub(super) fn search_specs(
    state: &ServerState,
    asked: &SearchSpecs,
) -> Result<SearchResults, Failure> {
    let top_k = asked.top_k.unwrap_or(TOP_K).min(MAX_TOP_K);
    let project = state.project()?;
    if let Some(archived) = asked.r#in.and_then(Scope::archived) {
        let listing = project.changes_in(archived)?;
        let searcher = state.searcher()?;
        let found = searcher.search_changes(&listing.items, archived, &asked.query, top_k)?;
        let unreadable = listing.unreadable.len();
        return Ok(SearchResults::of(&found, unreadable, &Touching::default()));
    }
    let (searcher, unreadable) = state.fresh_searcher()?;
    let found = searcher.search(&asked.query, top_k)?;
    let touching = Touching::of(&project.changes()?.items);
    Ok(SearchResults::of(&found, unreadable, &touching))
}
