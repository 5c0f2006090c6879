//! Universes made from a seed, for REST, MCP and the command line.

use serde_json::Value;
use universe_core::generate::Recipe;
use universe_core::{Findings, State};
use uuid::Uuid;

use crate::offload::NotDone;

/// Reads a recipe. If it has no seed, chooses a random one.
///
/// # Errors
/// Everything that is wrong with the recipe, with the nearest valid names.
pub(crate) fn recipe(given: &Value) -> Result<Recipe, Findings> {
    let mut given = given.clone();
    if is_without_seed(&given)
        && let Some(members) = given.as_object_mut()
    {
        members.insert("seed".to_owned(), seed().into());
    }
    Recipe::read(&given)
}

/// Whether the recipe has no seed. A retry would get a different random one.
pub(crate) fn is_without_seed(given: &Value) -> bool {
    given.as_object().is_some_and(|it| !it.contains_key("seed"))
}

/// A random seed that is short enough to write down.
pub(crate) fn seed() -> String {
    let mut seed = Uuid::new_v4().simple().to_string();
    seed.truncate(12);
    seed
}

/// The universe of a recipe: long work.
pub(crate) fn universe(recipe: &Recipe) -> Result<State, NotDone> {
    recipe.universe().map_err(|findings| {
        tracing::error!(%findings, "the generator made a universe that its own checks refuse");
        NotDone
    })
}
