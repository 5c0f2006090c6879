//! The binary `mcp-conformance`.
fn main() {}
