//! The tests of `spec-server`, through its public surface.

mod oracle;
mod parse;
mod project;
mod validate;
