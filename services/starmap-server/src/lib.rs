//! Routes through New Eden: the library of the program `starmap-server`.
//!
//! A [`Map`](map::Map) is read from a file, once, and never changes; everything asked of it is a pure function. Only the
//! room `mcp` knows of MCP.

pub mod diff;
pub mod explore;
pub mod load;
pub mod map;
pub mod route;
pub mod stats;
pub mod tour;
pub mod verify;
