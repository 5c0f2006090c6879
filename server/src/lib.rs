//! The universe server.
