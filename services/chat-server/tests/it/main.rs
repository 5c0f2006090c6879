//! The server through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod cli;
mod dates;
mod downloads;
mod fake;
mod import;
mod index;
mod layouts;
mod live;
mod mcp;
mod query;
mod terminal;
mod uri;
