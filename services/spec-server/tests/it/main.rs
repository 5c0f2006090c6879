//! The tests of `spec-server`, through its public surface.

mod parse;
mod project;
#[cfg(feature = "semantic")]
mod search_semantic;
