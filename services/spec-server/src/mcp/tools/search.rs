//! `search_specs`.

use mcp_proto::{Context, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cli::MAX_TOP_K;
use crate::mcp::desk::Desk;
use crate::search::TOP_K;
use crate::view::SearchResults;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct SearchSpecs {
    /// A question, or some words.
    query: String,
    /// How many results at most; 10 if it is left out.
    #[schemars(range(min = 1, max = 100))]
    top_k: Option<usize>,
}

pub(super) async fn search_specs(
    desk: Desk,
    asked: SearchSpecs,
    _: Context,
) -> Result<SearchResults, ToolError> {
    let found = desk.read(move |desk| {
        let (searcher, unreadable) = desk.fresh_searcher()?;
        let top_k = asked.top_k.unwrap_or(TOP_K).min(MAX_TOP_K);
        let found = searcher.search(&asked.query, top_k)?;
        Ok(SearchResults::of(&found, unreadable))
    });
    Ok(found.await?)
}
