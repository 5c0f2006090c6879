//! A person's chats for their agent: the library of the program `chat-server`.
//!
//! Exports and live networks are *sources*. Each feeds its data, in one common model, into one local index, and all
//! answers come from there. Only the module `mcp` depends on MCP.

pub mod chat_service;
pub mod cli;
pub mod config;
mod digest;
mod event;
pub mod import;
pub mod index;
mod json;
pub mod live;
mod lock;
pub mod mcp;
pub mod model;
pub mod outgoing;
pub mod query;
pub mod registry;
pub mod source;
pub mod transcribe;
pub mod view;
