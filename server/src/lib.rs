//! The universe server: star-system universes over REST and MCP, on one durable command service.

pub mod commands;
pub mod demo;
pub mod store;
