//! What must hold for every input, one room for each way in. A target takes bytes and panics when a rule is broken.
//!
//! `cargo fuzz` runs the targets on nightly, and `tests/fuzz.rs` on stable, over the corpora and their mutations.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "what panics here is a finding"
)]

pub mod cursor;
pub mod headers;
pub mod jsonrpc;
pub mod request_state;
pub mod schema;
pub mod skill;
pub mod sse;
pub mod stdio;
pub mod uri_template;

mod forge;
mod pieces;
mod server;
mod tree;

/// Panics when a rule is broken.
pub type Target = fn(&[u8]);

/// The targets by the names of their corpora.
pub const TARGETS: [(&str, Target); 9] = [
    ("cursor", cursor::run),
    ("headers", headers::run),
    ("jsonrpc", jsonrpc::run),
    ("request_state", request_state::run),
    ("schema", schema::run),
    ("skill", skill::run),
    ("sse", sse::run),
    ("stdio", stdio::run),
    ("uri_template", uri_template::run),
];
