//! Tests of the transcript runner through its public surface, and of the universe server through the runner.
#![cfg(test)] // All of it, helpers too: what lints allow in tests they allow here.

mod base_rules;
mod check;
mod clients;
mod command_line;
mod contract;
mod event_stream;
mod fuzz;
mod generic;
mod load;
mod login;
mod mocking;
mod mutation;
mod one_byte;
mod one_byte_recorded;
mod patterns;
mod pipes;
mod recording;
mod replaying;
mod replays;
mod report;
mod serve;
mod server;
mod small_client;
mod small_server;
mod streaming;
mod transcripts;
mod universe;
mod updating;
