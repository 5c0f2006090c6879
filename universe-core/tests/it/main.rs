//! Tests through the public surface of the crate.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests fail like tests"
)]

mod catalog;
mod deep;
mod elements;
mod extent;
mod findings;
mod generate;
mod ids;
mod nearest;
mod orbit;
mod parts;
mod properties;
mod quirks;
mod support;
mod text;
mod vectors;
mod warnings;
