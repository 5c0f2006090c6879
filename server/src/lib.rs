//! The universe server: star-system universes over REST and MCP, on one durable command service.

mod access;
pub mod care;
pub mod cli;
pub mod client;
pub mod commands;
pub mod config;
pub mod demo;
mod engine;
mod generate;
pub mod http;
pub mod mcp;
mod metrics;
mod offload;
mod page;
mod picture;
mod requests;
pub mod rest;
pub mod run;
mod socket;
#[cfg(feature = "otlp")]
mod traces;
#[cfg(not(feature = "otlp"))]
#[path = "traces/none.rs"]
mod traces;
pub mod view;

pub use engine::SharedTasks;
/// Where universes are kept.
pub use universe_store as store;
