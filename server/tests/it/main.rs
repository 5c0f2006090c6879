//! The server's tests, through its public surface.

mod store;
