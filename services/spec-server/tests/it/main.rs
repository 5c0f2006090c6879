//! The tests of `spec-server`, through its public surface.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod oracle;
mod parse;
mod project;
mod validate;
