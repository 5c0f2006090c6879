//! MCP over HTTP by the real service, in both eras.

mod answers;
mod cards;
mod completion;
mod extra;
mod isolation;
mod large;
mod outline;
mod prompts;
mod requirements;
mod resources;
mod restart;
mod sessions;
mod subscriptions;
mod tools;
mod view;
mod warnings;
