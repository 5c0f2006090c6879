//! The universe server: star-system universes over REST and MCP, on one durable command service.

pub mod care;
pub mod cli;
pub mod client;
pub mod commands;
pub mod config;
pub mod demo;
pub mod http;
pub mod mcp;
mod metrics;
mod offload;
mod page;
mod reach;
mod requests;
pub mod rest;
pub mod run;
pub mod store;
#[cfg(feature = "otlp")]
mod traces;
#[cfg(not(feature = "otlp"))]
#[path = "traces/none.rs"]
mod traces;
pub mod view;
