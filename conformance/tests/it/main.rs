//! Tests of the transcript runner through its public surface.

mod fake;
mod mutation;
mod universe;
