//! MCP over HTTP by the real service, in both eras.

mod isolation;
mod requirements;
mod sessions;
mod tools;
