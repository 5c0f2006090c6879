//! Tests through the public surface of the crate.

mod support;
mod vectors;
