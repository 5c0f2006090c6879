//! The MCP layer: tools, resources, prompts and completion over a project. It only formats answers; their contents come
//! from the other modules.

mod address;
mod completion;
mod failure;
mod prompts;
mod resources;
mod roots;
mod state;
mod tools;
mod watch;

use mcp_proto::{BuildError, Server};

pub use state::Settings;

use state::ServerState;

/// The name of the server on the wire.
pub const SERVER_NAME: &str = "spox";

/// The MCP server of the project in `settings`. It must be called within a runtime: a task watches the folders of the
/// project and ends with the server.
///
/// Nothing is read before a client asks. A folder without a project is served too, since one may be created there
/// later. Until then every answer is the error that there is no project.
///
/// # Errors
/// A tool or a template that cannot be served. A test proves that all can be.
pub fn server(settings: Settings) -> Result<Server, BuildError> {
    let allow_writes = settings.allow_writes;
    let state = ServerState::new(settings);
    let builder = Server::builder(SERVER_NAME, env!("CARGO_PKG_VERSION"), state.clone())
        .title("Specifications and changes")
        .description("The specs of a repository, and the proposals to change them.")
        .instructions(instructions(allow_writes));
    let builder = tools::add(builder, allow_writes);
    let builder = prompts::add(resources::add(builder));
    let server = service_host::guard(completion::add(builder)).build()?;
    watch::start(&state, &server);
    Ok(server)
}

/// The instructions for a model.
fn instructions(allow_writes: bool) -> String {
    let writes = if allow_writes {
        "A change goes from new_change over next_step and write_artifact to complete_task and archive_change."
    } else {
        "Nothing here writes: edit the files yourself, as next_step says."
    };
    format!(
        "What this software does (specs: requirements with scenarios) and the proposals to alter it (changes). Before you \
         write code or propose a change, find what is specified: search_specs or list_specs, then \
         get_spec_requirements. list_changes shows what is in the works, next_step what to do in a change. After edits \
         run validate_spec or validate_change. {writes} Whole files are the resources spec://ID and change://ID."
    )
}
