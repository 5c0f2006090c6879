//! Routes through New Eden: the library of the program `starmap-server`.
//!
//! A [`Map`](map::Map) is read from a file once and never changes. Every query is a pure function. Only the module
//! `mcp` depends on MCP.

pub mod activity;
pub mod cli;
pub mod connections;
pub mod errors;
pub mod explore;
pub mod files;
pub mod load;
pub mod map;
pub mod mcp;
mod name;
pub mod picture;
pub mod route;
pub mod stats;
pub mod tour;
pub mod verify;

pub use cli::aria_universe as main;
pub use errors::{
    InsufficientBordersError, InvalidParameterError, RouteNotFoundError, SystemNotFoundError,
    UniverseError,
};
pub use mcp::UniverseServer;
