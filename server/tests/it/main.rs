//! The server's integration tests, one module for each room.

mod demo;
