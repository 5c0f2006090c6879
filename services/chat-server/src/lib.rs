//! The library of `chat-server`, an MCP server that embeds `mcp-proto`; its rooms come with its capability.
