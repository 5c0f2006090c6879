//! The MCP server: in memory, over HTTP, and the binary on pipes.

mod harness;
mod hostile;
mod limits;
mod pipe;
mod prompts;
mod resources;
mod tools;
mod transcripts;
mod writes;

pub(crate) use harness::{
    Copy, binary, both_eras, call, client, error_of, listening, settings, structured,
};
