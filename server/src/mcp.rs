//! The MCP dialect: exactly three tools over the command service (REQ-MCP-1), and beside them resources, prompts and
//! completion.

mod address;
mod arguments;
mod completion;
mod find;
mod history;
mod picture;
mod prompts;
mod resources;
mod results;
mod scopes;
mod tools;
mod updates;
mod view;

use mcp_proto::{BuildError, Server};
use universe_core::Strictness;

use crate::commands::CommandService;
use crate::{metrics, traces};

pub use tools::ToolSet;

/// The name of the server in MCP messages.
pub const SERVER_NAME: &str = "universe-server";

/// The MCP server over `service`, beside REST. Models are given `rest_url` as the address for creating and listing
/// universes. Without it, the instructions only mention that REST can do so.
///
/// # Errors
/// A tool whose schema is invalid. A test shows that all are valid.
pub fn server(
    service: CommandService,
    tools: ToolSet,
    rest_url: Option<&str>,
) -> Result<Server, BuildError> {
    let rest = rest_url.map_or_else(
        || "the REST API of this server".to_owned(),
        |url| {
            format!(
                "the REST API: GET {url}/universes lists them, POST {url}/universes creates one"
            )
        },
    );
    build(service, tools, &format!("Ids come from {rest}"))
}

/// The MCP server over `service`, without REST beside it.
///
/// # Errors
/// As for [`server`].
pub fn stdio_server(service: CommandService, tools: ToolSet) -> Result<Server, BuildError> {
    build(
        service,
        tools,
        "There is no REST API beside this connection: universes are made over REST, by a universe-server that listens \
         on the same data directory",
    )
}

fn build(service: CommandService, set: ToolSet, origin: &str) -> Result<Server, BuildError> {
    let origin = match set {
        ToolSet::Core => origin,
        ToolSet::Extra => "list_universes lists the universes, create_universe makes one",
    };
    let changing = service.clone();
    let is_lenient = service.strictness() == Strictness::Lenient;
    let builder = Server::builder(SERVER_NAME, env!("CARGO_PKG_VERSION"), service)
        .title("Star-system universes")
        .observe(metrics::operation)
        .observe(traces::operation)
        .observe(service_host::audit)
        .instructions(instructions(origin));
    let builder = prompts::add(view::add(resources::add(tools::add(builder, set))), origin);
    let server = completion::add(builder).build()?;
    if is_lenient {
        server.layer(&mcp_proto::layers::lenient());
    }
    updates::watch(&changing, &server);
    Ok(server)
}

/// The instructions for a model; `origin` explains where universes and their ids come from.
fn instructions(origin: &str) -> String {
    format!(
        "Simulated universes of stars, planets, moons, belts, disks and nebulae. Every tool takes a universeId; \
         the demo universe, if the server was started with --demo, is \"sol\". {origin}; an unknown id is \
         answered with the known ones. Read with get_universe_state, ask list_universe_commands (with a category for \
         all details) what can be changed and how, and change with send_universe_command, one command at a time. \
         A refused command changes nothing and says why. The same universes are resources: universe:// lists them, \
         universe://ID/tree is an outline of one, universe://ID/picture.png a chart, universe://ID/stars/BODY and \
         similar URIs are single entities, and universe://ID/events is the history; subscribe to be notified of \
         changes. The prompt model_star_system shows how to build."
    )
}
