//! A person's chats for their agent: the library of the program `chat-server`.
//!
//! Exports and live networks are *sources*. Each feeds what it has, in one common model, into one local index, and
//! everything that is asked is answered from there. Only the room `mcp` knows of MCP.

pub mod cli;
pub mod config;
pub mod desk;
pub mod import;
pub mod index;
pub mod live;
pub mod mcp;
pub mod model;
pub mod query;
pub mod registry;
pub mod source;
pub mod view;
