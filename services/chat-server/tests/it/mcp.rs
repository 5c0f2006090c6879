//! The server over MCP.

pub(crate) mod harness;
mod hostile;
mod lifecycle;
mod pipe;
mod privacy;
mod streaming;
mod transcripts;
