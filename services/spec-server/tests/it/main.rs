//! The tests of `spec-server`, through its public surface.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod archive;
mod cli;
mod mcp;
mod oracle;
mod parse;
mod project;
mod search;
mod search_explicit;
mod search_questions;
mod search_semantic;
mod search_terms;
mod validate;
mod watch;

/// Fails unless the text has all of these parts.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
