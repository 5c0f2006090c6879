//! The universe server.

pub mod store;
