//! Prompts: one that builds a star system, one that explains a universe.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::{
    ContentBlock, Context, GetPromptResult, Prompt, PromptArgument, PromptMessage, RequestError,
    ServerBuilder,
};

use super::resources::read;
use super::{address, find, scopes};
use crate::commands::CommandService;
use crate::view::tree::Part;

/// The prompt for building a star system.
pub(super) const MODEL: &str = "model_star_system";
/// The prompt for explaining a universe.
pub(super) const EXPLAIN: &str = "explain_universe";

/// The most entities of a universe in a prompt. The model can read the others itself.
const MAX_SHOWN: usize = 300;
/// The longest argument in bytes.
const MAX_ARGUMENT: usize = 4 * 1024;

/// A small system, with one command per line. A test sends these commands.
const EXAMPLE: &str = include_str!("../../data/example-system.jsonl");

/// A first introduction to the commands for a model.
const GUIDE: &str = "\
How to build it, with send_universe_command, one command a call:

1. list_universe_commands gives the commands by category; with `category` (\"Star CRUD\" first) it gives every member of \
a body and what it means. Do that before the first command.
2. Bodies of every kind are added with addStar; `bodyType` says whether it is a star, planet, moon, asteroid, comet, \
lagrangePoint or blackHole. A parent comes before what orbits it: the star with `parentId` null, then planets, then moons.
3. Ids are yours to choose, must be new in the universe and are easiest to use in kebab case with the system's name in \
front, like `aurelia-c-1`.
4. Mass and radius are in Earths, distances in astronomical units, unless the universe already has bodies in other \
units. `orbitalSpeed` is in degrees per second: 360 divided by the period in seconds (86400 a day). `orbitalPhase` is \
where on its orbit a body is at time 0, in degrees: spread them out. An orbit that is not a circle has an `eccentricity`, a \
tilted one `orbitRotX`. Keep periods and distances consistent with the mass of what is orbited (Kepler's third law).
5. Rings are made with updateRing, disks of young systems with addProtoplanetaryDisk. setSmallBodyFields and setNebulae \
replace all of them: read those that are there first and send them along.
6. When the bodies are there, addGroup makes a group of the star (a `system`), so that people find it.
7. A command that is refused has changed nothing; the answer says why and what would be right. Correct it and continue.
8. At the end read the tree resource of the universe, compare it with the plan, and say what you built, what is known \
and what you invented.";

/// Adds the prompts; `origin` explains where universes come from.
pub(super) fn add(
    builder: ServerBuilder<CommandService>,
    origin: &str,
) -> ServerBuilder<CommandService> {
    let model = Prompt::new(
        MODEL,
        "Build a star system, real or invented, in a universe: what to know, in which order, and a worked example.",
    )
    .with_title("Model a star system")
    .with_argument(PromptArgument::required(
        "system",
        "What to model, such as \"TRAPPIST-1\" or \"a red dwarf with five rocky planets and a comet\"",
    ))
    .with_argument(universe_argument(false));
    let explain = Prompt::new(
        EXPLAIN,
        "Explain what is in a universe: its systems, what orbits what, what stands out.",
    )
    .with_title("Explain a universe")
    .with_argument(universe_argument(true));
    let origin: Arc<str> = origin.into();
    builder
        .raw_prompt(model, move |service, arguments, context: Context| {
            let origin = Arc::clone(&origin);
            let service = scopes::within(&service, &context);
            async move { model_star_system(service, arguments, &origin).await }
        })
        .raw_prompt(explain, |service, arguments, context: Context| {
            explain_universe(scopes::within(&service, &context), arguments)
        })
}

fn universe_argument(required: bool) -> PromptArgument {
    if required {
        PromptArgument::required("universe", "The id of the universe")
    } else {
        PromptArgument::optional(
            "universe",
            "The id of the universe to build it in; without one the model asks which",
        )
    }
}

async fn model_star_system(
    service: CommandService,
    arguments: BTreeMap<String, String>,
    origin: &str,
) -> Result<GetPromptResult, RequestError> {
    let system = argument(&arguments, "system")?;
    let universe = argument(&arguments, "universe")?;
    let place = if universe.is_empty() {
        format!(
            "Build it in the universe that I name; ask me if I have not. {} lists them. {origin}.",
            address::LIST
        )
    } else {
        format!(
            "Build it in the universe with the id {universe:?}, beside what is there. Its outline follows."
        )
    };
    let text = format!(
        "Model this star system in a simulated universe: {system}\n\n{place}\n\n{GUIDE}\n\nA small system as an example, \
         one command a line:\n\n```json\n{EXAMPLE}```"
    );
    let mut messages = vec![PromptMessage::user(ContentBlock::text(text))];
    if !universe.is_empty() {
        messages.push(outline(&service, universe).await?);
    }
    Ok(GetPromptResult::new(messages).with_description("How to build a star system by commands"))
}

async fn explain_universe(
    service: CommandService,
    arguments: BTreeMap<String, String>,
) -> Result<GetPromptResult, RequestError> {
    let universe = argument(&arguments, "universe")?;
    let outline = outline(&service, universe).await?;
    let uri = address::universe(universe);
    let text = format!(
        "Explain the universe with the id {universe:?} to somebody who has never seen it: which systems there are, what \
         orbits what, how the groups are ordered, and what stands out. Its outline follows. What you need beyond that \
         you can read: single entities such as {uri}/stars/ID, the whole state at {uri}, and what happened last at \
         {uri}/events. Say what you read in it and what you only suppose."
    );
    let messages = [PromptMessage::user(ContentBlock::text(text)), outline];
    Ok(GetPromptResult::new(messages).with_description("What is in a universe"))
}

/// The tree of a universe, up to the size that a prompt should have.
async fn outline(service: &CommandService, id: &str) -> Result<PromptMessage, RequestError> {
    let universe = find::universe(service, id).await?;
    let part = Part { entities: MAX_SHOWN, ..Part::default() };
    let tree = read::outline(universe, part).await?;
    Ok(PromptMessage::user(ContentBlock::resource(tree)))
}

/// An argument, empty if it was not given.
fn argument<'a>(
    arguments: &'a BTreeMap<String, String>,
    name: &str,
) -> Result<&'a str, RequestError> {
    let given = arguments.get(name).map_or("", |given| given.trim());
    if given.len() > MAX_ARGUMENT {
        return Err(RequestError::invalid_params(format!(
            "the argument {name} is longer than {MAX_ARGUMENT} bytes"
        )));
    }
    Ok(given)
}
