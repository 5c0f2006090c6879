//! The library of `spec-server`, an MCP server that embeds `mcp-proto`; its rooms come with its capability.
