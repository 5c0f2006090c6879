//! The MCP server: in memory, over HTTP, and the binary on pipes.

mod harness;
mod hostile;
mod limits;
mod mutations;
mod openspec;
mod reports;
mod roots;
mod servers;
mod token;
mod tools;
mod transcripts;
mod whole;
mod workflow;
mod writes;

pub(crate) use harness::{Copy, HANG, binary, client, copy_folder, settings, structured};
