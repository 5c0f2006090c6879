//! The server through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod cli;
mod dates;
mod downloads;
mod fake;
mod field;
mod import;
mod index;
mod layouts;
mod live;
mod mcp;
mod query;
mod terminal;
mod uri;

/// Fails unless the text has all of these parts.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
