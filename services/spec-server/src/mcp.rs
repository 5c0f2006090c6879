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
        "complete_task ticks a task off; archive_change applies a finished change to the specs and moves it to the \
             archive: look at preview_change first."
    } else {
        "preview_change shows what a change would make of the specs. Nothing here writes: specs and changes are \
             files, edit them as such."
    };
    format!(
        "The specifications of this repository (specs: requirements with scenarios that say what the software does) and \
         the active proposals to change them (changes). Before you write code or propose a change, find what is \
         specified already: search_specs by words, or list_specs, then get_spec_requirements for the requirements of \
         one spec and get_scenario for one scenario in full. list_changes and get_change show what is being changed; \
         its tasks say what is to be done next. After editing a spec or a change run validate_spec or validate_change \
         and correct what they name. {writes} Ids that do not exist are answered with the nearest that do. Whole files are \
         the resources spec://ID and change://ID."
    )
}
