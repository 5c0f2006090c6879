//! The server over MCP.

mod attachments;
mod copies;
pub(crate) mod harness;
mod hidden;
mod hostile;
mod lifecycle;
mod limits;
mod listener;
mod logs;
mod once;
mod pipe;
mod privacy;
mod sending;
mod streaming;
mod transcribed;
mod transcripts;
mod unchecked;
