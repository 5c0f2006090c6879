//! The MCP server `aria-universe`: tools, resources and prompts over one map.

mod address;
pub(crate) mod arguments;
mod completion;
mod feed;
mod loaded;
mod names;
mod prompts;
pub(crate) mod records;
mod reload;
mod resources;
mod server;
pub(crate) mod tools;
mod travel;
mod universe;
pub(crate) mod views;

pub use feed::FeedSource;
pub use names::resolve_system_name;
pub(crate) use names::{did_you_mean, known_constellation, known_region};
pub use server::{RunError, SERVER_NAME, UniverseServer};
pub(crate) use universe::{Snapshot, connections_on, seconds_now};
