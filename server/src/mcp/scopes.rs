//! Which scopes a caller of MCP needs for what it wants. A refusal names the universe that was asked for, whether it is
//! there or not.
//!
//! This is judged by the request alone, before anything is read. Lists and hints cannot be judged so: the command
//! service that such a caller's handlers get sees only the caller's universes, and a mistake in judging finds nothing
//! either.

use mcp_proto::scopes::Wanted;
use mcp_proto::{Context, Scopes, ServerBuilder};
use serde_json::{Map, Value};

use super::address::{self, Address};
use super::view;
use crate::access::{Access, Reach};
use crate::commands::CommandService;

/// The argument of prompts that names a universe.
const UNIVERSE: &str = "universe";

/// The tools that do not name a universe, and the tool that deletes one.
const CREATE: &str = "create_universe";
const LIST: &str = "list_universes";
const DELETE: &str = "delete_universe";

type ToolArguments<'g> = Option<&'g Map<String, Value>>;

/// Adds the check of callers' scopes, by universe. `reading` are the names of the tools that only read.
pub(super) fn add(
    builder: ServerBuilder<CommandService>,
    reading: Vec<String>,
) -> ServerBuilder<CommandService> {
    builder.scopes_by(move |wanted, has| {
        let reach = Reach::of(Some(has));
        match wanted {
            Wanted::Tool(name, given) => {
                let only_reads = reading.iter().any(|it| it == name);
                of_tool(&reach, name, only_reads, given)
            }
            Wanted::Prompt(_, given) => {
                let universe = text(given, UNIVERSE).filter(|id| !id.trim().is_empty());
                of_any(&reach, Access::Read, universe.map(str::trim))
            }
            // The list is limited to readable universes, and the page and the templates contain no data.
            Wanted::Resource(uri)
                if uri == address::LIST || uri == view::URI || address::is_template(uri) =>
            {
                reach.missing_somewhere(Access::Read)
            }
            Wanted::Resource(uri) => {
                let universe = Address::read(uri).map(|address| address.universe);
                reach.missing(Access::Read, universe.as_deref())
            }
            Wanted::Completion(params) => {
                let context = params.get("context").and_then(Value::as_object);
                let given = context.and_then(|it| it.get("arguments")?.as_object());
                of_any(&reach, Access::Read, text(given, "id"))
            }
            _ => Some(Scopes::of(["admin"])),
        }
    })
}

/// The service, limited to the universes that the caller of a request may access.
pub(super) fn within(service: &CommandService, context: &Context) -> CommandService {
    service.within(Reach::of(context.extension::<Scopes>()))
}

fn of_tool(
    reach: &Reach,
    name: &str,
    only_reads: bool,
    given: ToolArguments<'_>,
) -> Option<Scopes> {
    let universe = text(given, "universeId");
    match name {
        CREATE => reach.missing(Access::Write, None),
        LIST => reach.missing_somewhere(Access::Read),
        DELETE => of_any(reach, Access::Admin, universe),
        _ if only_reads => of_any(reach, Access::Read, universe),
        _ => of_any(reach, Access::Write, universe),
    }
}

/// The missing scopes for a universe or, without one, for listing the tool or resource.
fn of_any(reach: &Reach, access: Access, universe: Option<&str>) -> Option<Scopes> {
    match universe {
        Some(id) => reach.missing(access, Some(id)),
        None => reach.missing_somewhere(access),
    }
}

fn text<'g>(given: ToolArguments<'g>, name: &str) -> Option<&'g str> {
    given?.get(name)?.as_str()
}
