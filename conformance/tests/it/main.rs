//! Tests of the transcript runner through its public surface, and of the universe server through the runner.

mod command_line;
mod event_stream;
mod fake;
mod mutation;
mod patterns;
mod replays;
mod report;
mod transcripts;
mod universe;
