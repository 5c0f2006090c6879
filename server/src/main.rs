//! The binary `universe-server`.
fn main() {}
