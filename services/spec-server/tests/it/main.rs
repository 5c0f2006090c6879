//! The tests of `spec-server`, through its public surface.

mod parse;
mod project;
