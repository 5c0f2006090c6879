//! The MCP server `aria-universe`: tools, resources and prompts over one map.

mod address;
mod arguments;
mod completion;
mod feed;
mod loaded;
mod names;
mod prompts;
mod records;
mod reload;
mod resources;
mod server;
mod tools;
mod travel;
mod universe;
mod views;

pub use feed::FeedSource;
pub(crate) use names::did_you_mean;
pub use names::resolve_system_name;
pub use server::{RunError, SERVER_NAME, UniverseServer};
