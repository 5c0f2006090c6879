//! The universe server.

pub mod demo;
