//! The tests of `spec-server`, through its public surface.

mod parse;
mod project;
mod search_questions;
#[cfg(feature = "semantic")]
mod search_semantic;
mod tune;
