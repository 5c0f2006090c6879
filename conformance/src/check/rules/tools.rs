//! What tools cost and say: schemas by their meta-schema, patterns, portability, sizes, hidden texts.

mod words;

use futures_util::FutureExt as _;
use serde_json::Value;

use self::words::{hidden, instruction};
use super::super::rule::Probe::{Asks, Reads};
use super::super::rule::{Outcome, Rule, Scope, finding};
use super::{EVERYWHERE, MUST, PRACTICE};
use crate::calls::tokens;
use crate::probe::{Bench, Revision};
use crate::schema::local::{each, invalid, unusable};

/// How many tokens `tools/list` may take: a tenth of what the smaller models of today hold.
const MOST_TOKENS: usize = 20_000;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "schemas.valid",
        level: MUST,
        section: "2025-11-25, Basic, JSON Schema usage; Tools, Tool",
        title: "The inputSchema and outputSchema of a tool are valid by their dialect, JSON Schema 2020-12 if they do not name one",
        fix: "use the types and keywords of JSON Schema: one invalid schema makes some clients refuse all tools",
        scope: Scope { first: Revision::V2025_11_25, ..EVERYWHERE },
        probe: Reads(valid),
    },
    Rule {
        id: "schemas.patterns",
        level: PRACTICE,
        section: "none (schema portability)",
        title: "Each pattern in a schema is a regular expression",
        fix: "write the pattern in the syntax of ECMA-262, without delimiters and flags",
        scope: EVERYWHERE,
        probe: Reads(compiled),
    },
    Rule {
        id: "schemas.items",
        level: PRACTICE,
        section: "none (schema portability)",
        title: "Each array in an inputSchema says what its items are",
        fix: "add items: some model vendors refuse arrays without it",
        scope: EVERYWHERE,
        probe: Reads(items),
    },
    Rule {
        id: "schemas.required",
        level: PRACTICE,
        section: "none (schema portability)",
        title: "Each name in required is a property of the same object",
        fix: "add the property, or remove the name: models cannot know it, and some model vendors refuse it",
        scope: EVERYWHERE,
        probe: Reads(required),
    },
    Rule {
        id: "tools.price",
        level: PRACTICE,
        section: "none (models)",
        title: "All tools together take at most 20,000 tokens",
        fix: "shorten descriptions and schemas, or offer fewer tools: models read all of them with each request",
        scope: EVERYWHERE,
        probe: Asks(|bench| price(bench).boxed()),
    },
    Rule {
        id: "tools.hidden-text",
        level: PRACTICE,
        section: "Security best practices",
        title: "Names and descriptions have no invisible characters",
        fix: "remove them: people who review the tool cannot see what the model reads",
        scope: EVERYWHERE,
        probe: Reads(no_hidden_text),
    },
    Rule {
        id: "tools.instructions",
        level: PRACTICE,
        section: "Security best practices",
        title: "Descriptions say what a tool does, and do not give orders to the model about users, secrets or other tools",
        fix: "describe the tool alone: scanners and careful clients take such texts for tool poisoning",
        scope: EVERYWHERE,
        probe: Reads(no_instructions),
    },
];

fn schemas(tool: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let names = ["inputSchema", "outputSchema"].into_iter();
    names.filter_map(|name| Some((name, tool.get(name).filter(|it| it.is_object())?)))
}

fn valid(tool: &Value) -> Option<String> {
    schemas(tool).find_map(|(name, schema)| Some(format!("{name}: {}", invalid(schema)?)))
}

fn compiled(tool: &Value) -> Option<String> {
    schemas(tool).find_map(|(_, schema)| {
        each(schema, "", &|schema, _| {
            let own = schema.get("pattern").and_then(Value::as_str);
            let names = schema.get("patternProperties").and_then(Value::as_object);
            let names = names.into_iter().flat_map(|it| it.keys()).map(String::as_str);
            let mut all = own.into_iter().chain(names);
            all.find_map(|it| Some(format!("the pattern {it:?}: {}", unusable(it)?)))
        })
    })
}

fn items(tool: &Value) -> Option<String> {
    each(tool.get("inputSchema")?, "inputSchema", &|schema, at| {
        let kind = schema.get("type")?;
        let is_array = is_stated(at)
            && (kind == "array" || kind.as_array().is_some_and(|it| it.contains(&"array".into())));
        let says = schema.get("items").is_some() || schema.get("prefixItems").is_some();
        (is_array && !says).then(|| format!("{at} is an array without items"))
    })
}

fn required(tool: &Value) -> Option<String> {
    each(tool.get("inputSchema")?, "inputSchema", &|schema, at| {
        // A form among several may rest on the properties beside them.
        if schema.get("type").is_none_or(|it| it != "object") || !is_stated(at) {
            return None;
        }
        let names = schema.get("required").and_then(Value::as_array)?;
        let properties = schema.get("properties");
        let is_open = ["allOf", "anyOf", "oneOf", "patternProperties"];
        if is_open.iter().any(|it| schema.get(*it).is_some()) {
            return None;
        }
        let mut names = names.iter().filter_map(Value::as_str);
        let unknown = names.find(|name| properties.is_none_or(|it| it.get(*name).is_none()))?;
        Some(format!("{at} requires {unknown:?}, which is not among its properties"))
    })
}

/// Whether the schema at this place says what a value is, and not only on what condition.
fn is_stated(at: &str) -> bool {
    !at.split('/').any(|it| matches!(it, "if" | "then" | "else" | "not"))
}

async fn price(bench: &mut Bench) -> Outcome {
    let tools = bench.items("tools/list");
    let all: usize = tools.iter().map(tokens).sum();
    if all <= MOST_TOKENS {
        return Ok(());
    }
    let largest = tools.iter().max_by_key(|it| tokens(it));
    let name = largest.and_then(|it| it.get("name")?.as_str()).unwrap_or_default();
    let seen = format!(
        "{} tools take about {all} tokens; the largest is {name} with about {}",
        tools.len(),
        largest.map_or(0, tokens),
    );
    finding(seen, &bench.page("tools/list"))
}

fn no_hidden_text(tool: &Value) -> Option<String> {
    texts(tool, "", &|at, text| {
        let (character, place) = hidden(text)?;
        let code = u32::from(character);
        Some(format!("{at} has the invisible character U+{code:04X} at character {place}"))
    })
}

fn no_instructions(tool: &Value) -> Option<String> {
    texts(tool, "", &|at, text| Some(format!("{at} says {:?}", instruction(text)?)))
}

/// The first problem that `wrong` finds in a text of a tool, whose depth is limited by the parser.
fn texts(value: &Value, at: &str, wrong: &impl Fn(&str, &str) -> Option<String>) -> Option<String> {
    match value {
        Value::String(text) => wrong(at.trim_start_matches('/'), text),
        Value::Array(items) => items.iter().find_map(|it| texts(it, at, wrong)),
        Value::Object(members) => members
            .iter()
            // Pictures and the like are data.
            .filter(|(name, _)| !matches!(name.as_str(), "icons" | "_meta"))
            .find_map(|(name, it)| texts(it, &format!("{at}/{name}"), wrong)),
        _ => None,
    }
}
