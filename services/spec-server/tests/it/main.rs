//! The tests of `spec-server`, through its public surface.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod archive;
mod cli;
mod mcp;
mod oracle;
mod parse;
mod project;
#[cfg(feature = "semantic")]
mod search_semantic;
mod validate;
mod watch;
