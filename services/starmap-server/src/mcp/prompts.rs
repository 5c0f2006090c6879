//! Prompts for a haul, a roam and the move of a fleet. Each includes data from the map, so that the model starts from
//! facts.

mod facts;

use mcp_proto::{
    ContentBlock, Context, GetPromptResult, Prompt, PromptMessage, RequestError, ResourceContents,
    ServerBuilder,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::map::SystemIndex;

use super::address;
use super::resources::{JSON, known_system, now, refused};
use super::universe::{Snapshot, Universe};
use super::views::SystemView;

/// The arguments of prompts that are names of systems.
pub(crate) const SYSTEM_ARGUMENTS: [(&str, &str); 5] = [
    ("plan_haul", "origin"),
    ("plan_haul", "destination"),
    ("plan_roam", "origin"),
    ("plan_fleet_move", "origin"),
    ("plan_fleet_move", "destination"),
];

/// The most characters that are used of a user's own text.
const MAX_WISH: usize = 2_000;

#[derive(Debug, Deserialize, JsonSchema)]
struct Haul {
    /// The system where the cargo is.
    origin: String,
    /// The system where it should go.
    destination: String,
    /// What is hauled, in which ship, and what it is worth.
    cargo: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Roam {
    /// The system to set out from.
    origin: String,
    /// What to hunt, with whom, for how long.
    wishes: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct FleetMove {
    /// The system where the fleet is.
    origin: String,
    /// The system where it should be.
    destination: String,
    /// Which ships, how many, and what for.
    fleet: Option<String>,
}

/// Adds the prompts.
pub(crate) fn add(builder: ServerBuilder<Universe>) -> ServerBuilder<Universe> {
    builder
        .prompt(
            Prompt::new(
                "plan_haul",
                "Plan how to bring cargo from one system to another in one piece.",
            )
            .with_title("Plan a haul"),
            haul,
        )
        .prompt(
            Prompt::new("plan_roam", "Plan a roam for targets around a system.")
                .with_title("Plan a roam"),
            roam,
        )
        .prompt(
            Prompt::new("plan_fleet_move", "Plan how a fleet moves from one system to another.")
                .with_title("Plan a fleet move"),
            fleet_move,
        )
}

async fn haul(
    universe: Universe,
    asked: Haul,
    _context: Context,
) -> Result<GetPromptResult, RequestError> {
    let now = now(&universe)?;
    let origin = known_system(&now.map, &asked.origin)?;
    let destination = known_system(&now.map, &asked.destination)?;
    let facts = facts::ways(&now, origin, destination).map_err(|error| refused(&error))?;
    let text = format!(
        "Plan a haul from {} to {}.{}\n\nWhat the map says (data {}):\n\n{facts}\n\nCompare the ways: what the safe one \
         costs in jumps, what the short one risks. Look at pipes and at every step across the edge of high security. Use \
         the tools route (with avoid_systems and alternatives), analyze and, if an overlay is loaded, gatecamp_risk for \
         what you need beyond this. End with one recommended way, the systems where to look before each jump, and when to \
         turn back.",
        now.map.name(origin),
        now.map.name(destination),
        wish("Cargo", asked.cargo.as_deref()),
        now.map.version()
    );
    prompt(&now, text, &[origin, destination], "A haul, with the ways there are")
}

async fn roam(
    universe: Universe,
    asked: Roam,
    _context: Context,
) -> Result<GetPromptResult, RequestError> {
    let now = now(&universe)?;
    let origin = known_system(&now.map, &asked.origin)?;
    let facts = facts::surroundings(&now, origin);
    let text = format!(
        "Plan a roam from {}.{}\n\nWhat the map says (data {}):\n\n{facts}\n\nUse the tools loop (a round trip past border \
         systems), nearest, route with mode unsafe and, if an overlay is loaded, hotspots and activity. End with a way that \
         comes home, with its length, where to expect targets, where to expect to be one, and a way out from each stretch.",
        now.map.name(origin),
        wish("Wishes", asked.wishes.as_deref()),
        now.map.version()
    );
    prompt(&now, text, &[origin], "A roam, with what lies around")
}

async fn fleet_move(
    universe: Universe,
    asked: FleetMove,
    _context: Context,
) -> Result<GetPromptResult, RequestError> {
    let now = now(&universe)?;
    let origin = known_system(&now.map, &asked.origin)?;
    let destination = known_system(&now.map, &asked.destination)?;
    let ways = facts::ways(&now, origin, destination).map_err(|error| refused(&error))?;
    let text = format!(
        "Plan how a fleet moves from {} to {}.{}\n\nWhat the map says (data {}):\n\n{ways}\n\nFind where the fleet can be \
         split or held: systems with two gates, steps across the edge of high security. Use the tools route (with \
         connections for jump bridges and wormholes), analyze, jump_range for ships with jump drives, and distances for \
         where others are. End with the way in legs, a rally point for each, where scouts go ahead, and a second way if the \
         first is held.",
        now.map.name(origin),
        now.map.name(destination),
        wish("Fleet", asked.fleet.as_deref()),
        now.map.version()
    );
    prompt(&now, text, &[origin, destination], "A fleet move, with the ways there are")
}

/// The prompt text, with the two ends of the route as resources.
fn prompt(
    now: &Snapshot,
    mut text: String,
    systems: &[SystemIndex],
    description: &str,
) -> Result<GetPromptResult, RequestError> {
    for problem in now.all_problems() {
        text.push_str(&format!("\n! {problem}"));
    }
    let mut messages = vec![PromptMessage::user(ContentBlock::text(text))];
    for &system in systems {
        let view = SystemView::of(now, system);
        let uri = address::of("system", &view.system.name);
        let json = serde_json::to_string(&view)?;
        let contents = ResourceContents::text(uri, json).with_mime_type(JSON);
        messages.push(PromptMessage::user(ContentBlock::resource(contents)));
    }
    Ok(GetPromptResult::new(messages).with_description(description))
}

/// The user's own text, on a separate line.
fn wish(what: &str, given: Option<&str>) -> String {
    match given.map(str::trim).filter(|given| !given.is_empty()) {
        Some(given) => {
            let given: String = given.chars().take(MAX_WISH).collect();
            format!("\n{what}: {given}")
        }
        None => String::new(),
    }
}
