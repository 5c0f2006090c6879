//! What known clients make of tools: names and schemas that they all take, and an order that stays.

use futures_util::FutureExt as _;
use serde_json::Value;

use super::super::calling::make;
use super::super::rule::Probe::{Asks, Reads};
use super::super::rule::{Outcome, Rule, declares, finding};
use super::{EVERYWHERE, MODERN, MUST, PRACTICE, SHOULD};
use crate::probe::Bench;
use crate::rpc_client::headers::misplaced;

/// The longest name that models of all vendors can be given.
const LONGEST: usize = 64;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "tools.portable-name",
        level: PRACTICE,
        section: "none (clients)",
        title: "The name of a tool has at most 64 characters, and no dot",
        fix: "shorten the name, and write _ for each dot: some clients and model vendors refuse other names, or all tools with them",
        scope: EVERYWHERE,
        probe: Reads(portable_name),
    },
    Rule {
        id: "schemas.root",
        level: PRACTICE,
        section: "none (schema portability)",
        title: "An inputSchema has no anyOf, oneOf, allOf, not, enum or $ref at its root",
        fix: "list only properties at the root: some model vendors refuse the rest",
        scope: EVERYWHERE,
        probe: Reads(root),
    },
    Rule {
        id: "schemas.property-names",
        level: PRACTICE,
        section: "none (schema portability)",
        title: "The name of a property of an inputSchema has 1 to 64 characters, which are A–Z a–z 0–9 _ - .",
        fix: "rename the property: some model vendors refuse other names",
        scope: EVERYWHERE,
        probe: Reads(property_names),
    },
    Rule {
        id: "schemas.header-names",
        level: MUST,
        section: "2026-07-28, Streamable HTTP, Custom headers from tool parameters",
        title: "Each x-mcp-header is a valid and unique header name, on a string, integer or boolean that is reached through `properties` only",
        fix: "use letters, digits and hyphens, and each name once, or remove x-mcp-header: clients drop the tool otherwise",
        scope: MODERN,
        probe: Reads(header_names),
    },
    Rule {
        id: "tools.order",
        level: SHOULD,
        section: "2026-07-28, Tools, Listing tools",
        title: "The same tools are listed in the same order each time, whatever was called before (a MUST)",
        fix: "sort the tools, or keep the order in which they were added; and keep no state of a connection",
        scope: MODERN,
        probe: Asks(|bench| order(bench).boxed()),
    },
];

fn portable_name(tool: &Value) -> Option<String> {
    let name = tool.get("name").and_then(Value::as_str)?;
    let length = name.chars().count();
    match length {
        _ if length > 128 => None,
        _ if length > LONGEST => Some(format!("its name has {length} characters")),
        _ => name.contains('.').then(|| "its name has a dot".to_owned()),
    }
}

fn root(tool: &Value) -> Option<String> {
    let schema = tool.get("inputSchema")?;
    let names = ["anyOf", "oneOf", "allOf", "not", "enum", "$ref"];
    let has = names.iter().find(|name| schema.get(**name).is_some())?;
    Some(format!("its inputSchema has {has} at its root"))
}

fn property_names(tool: &Value) -> Option<String> {
    let properties = tool.pointer("/inputSchema/properties")?.as_object()?;
    let is_good = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let bad = properties
        .keys()
        .find(|name| !(1..=LONGEST).contains(&name.len()) || !name.chars().all(is_good))?;
    Some(format!("the name of its property {bad:?} is empty, too long, or has other characters"))
}

fn header_names(tool: &Value) -> Option<String> {
    misplaced(tool.get("inputSchema")?)
}

async fn order(bench: &mut Bench) -> Outcome {
    declares(bench, "tools")?;
    let names = |tools: &[Value]| -> Vec<_> {
        tools.iter().filter_map(|tool| tool.get("name").cloned()).collect()
    };
    let first = names(bench.items("tools/list"));
    for after_calls in [false, false, true] {
        if after_calls {
            make(bench).await;
        }
        let (tools, pages) = bench.all("tools/list", "tools").await;
        let is_whole = pages.iter().all(|page| page.result().is_some());
        if let Some(page) = pages.last().filter(|_| is_whole && names(&tools) != first) {
            let when = if after_calls { " after the tools were called" } else { "" };
            return finding(format!("the list changed{when}"), page);
        }
    }
    Ok(())
}
