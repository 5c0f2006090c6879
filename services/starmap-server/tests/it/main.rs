//! The tests of starmap-server through its public surface, in one binary.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod activity;
mod brute;
mod cli;
mod common;
mod connections;
mod contract;
mod explore;
mod field;
mod harness;
mod load;
mod map;
mod mcp;
mod picture;
mod route;
mod stats;
mod tour;
mod transcripts;
mod vectors;
mod verify;

/// Fails unless the text has all of these parts.
#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
