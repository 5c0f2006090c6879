//! The server's tests through its public surface, in one binary.

mod demo;
mod store;
