//! The MCP server `aria-universe`: tools, resources and prompts over one map.

mod address;
mod completion;
pub(crate) mod extras;
mod names;
pub(crate) mod places;
mod prompts;
pub(crate) mod records;
mod reload;
mod resources;
mod server;
pub(crate) mod tools;
mod universe;

pub(crate) use names::nearest_names;
pub use names::resolve_system_name;
pub use server::{RunError, SERVER_NAME, UniverseServer};
pub(crate) use universe::Snapshot;
