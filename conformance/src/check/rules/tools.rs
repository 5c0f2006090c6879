//! What tools cost and say: schemas by their meta-schema, patterns, portability, sizes, hidden texts.

mod words;

use std::collections::HashSet;
use std::future::ready;

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use self::words::{hidden, instruction};
use super::super::rule::Probe::{Asks, Reads};
use super::super::rule::{Outcome, Rule, Scope, every_item, finding};
use super::{EVERYWHERE, MUST, PRACTICE};
use crate::calls::tokens;
use crate::probe::{Bench, Revision};
use crate::schema::local::{each, invalid, none_fits, unfit, unusable};

/// How many tokens `tools/list` may take: a tenth of what the smaller models of today hold.
const MOST_TOKENS: usize = 20_000;

/// The hints of a tool (schema: `ToolAnnotations`).
const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

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
        id: "schemas.dialect",
        level: PRACTICE,
        section: "2025-11-25, Basic, JSON Schema usage",
        title: "A schema that names its dialect names JSON Schema 2020-12",
        fix: "write in 2020-12, or leave $schema out: clients need not know another dialect, and some drop such tools",
        scope: EVERYWHERE,
        probe: Reads(dialect),
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
        id: "schemas.values",
        level: PRACTICE,
        section: "JSON Schema Validation 2020-12, 6.1.2 and 9.2",
        title: "A default fits its schema, and an enum has values, each once, of which some fit its type",
        fix: "correct the default or the enum: some clients send the default, and some model vendors refuse the tool",
        scope: EVERYWHERE,
        probe: Reads(values),
    },
    Rule {
        id: "tools.hints",
        level: PRACTICE,
        section: "Tools, ToolAnnotations",
        title: "Hints stand in annotations, are spelt as in the schema, and do not contradict each other",
        fix: "write readOnlyHint, destructiveHint, idempotentHint and openWorldHint into annotations: clients ignore others, and ask the user, or do not",
        scope: EVERYWHERE,
        probe: Reads(hints),
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
        title: "Names and descriptions, also of prompts and resources, and the instructions have no invisible characters",
        fix: "remove them: people who review the server cannot see what the model reads",
        scope: EVERYWHERE,
        probe: Asks(|bench| ready(no_hidden_texts(bench)).boxed()),
    },
    Rule {
        id: "tools.instructions",
        level: PRACTICE,
        section: "Security best practices",
        title: "Descriptions, also of prompts and resources, do not give orders to the model about users, secrets or other tools",
        fix: "describe what it is alone: scanners and careful clients take such texts for tool poisoning",
        scope: EVERYWHERE,
        probe: Asks(|bench| ready(listed(bench, no_instructions)).boxed()),
    },
];

fn schemas(tool: &Value) -> impl Iterator<Item = (&'static str, &Value)> {
    let names = ["inputSchema", "outputSchema"].into_iter();
    names.filter_map(|name| Some((name, tool.get(name).filter(|it| it.is_object())?)))
}

fn valid(tool: &Value) -> Option<String> {
    schemas(tool).find_map(|(name, schema)| Some(format!("{name}: {}", invalid(schema)?)))
}

fn dialect(tool: &Value) -> Option<String> {
    schemas(tool).find_map(|(name, schema)| {
        let named = schema.get("$schema")?.as_str()?;
        let is_usual =
            named.trim_end_matches('#') == "https://json-schema.org/draft/2020-12/schema";
        (!is_usual).then(|| format!("{name} names {named}"))
    })
}

fn hints(tool: &Value) -> Option<String> {
    let beside = HINTS.iter().find(|it| tool.get(**it).is_some());
    if let Some(hint) = beside {
        return Some(format!("{hint} stands beside annotations, not in it"));
    }
    let annotations = tool.get("annotations")?.as_object()?;
    let is_misspelt = |name: &&String| {
        let plain = name.replace(['_', '-'], "");
        !HINTS.contains(&name.as_str()) && HINTS.iter().any(|it| it.eq_ignore_ascii_case(&plain))
    };
    if let Some(name) = annotations.keys().find(is_misspelt) {
        return Some(format!("annotations has {name}, which no client knows"));
    }
    let is_set = |hint: &str| annotations.get(hint) == Some(&Value::Bool(true));
    (is_set("readOnlyHint") && is_set("destructiveHint"))
        .then(|| "it has both readOnlyHint and destructiveHint".to_owned())
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

fn values(tool: &Value) -> Option<String> {
    schemas(tool).find_map(|(name, schema)| {
        each(schema, name, &|schema, at| {
            let default = schema.get("default");
            if let Some(problem) = default.and_then(|it| unfit(schema, it).ok().flatten()) {
                return Some(format!("the default of {at}: {problem}"));
            }
            let values = schema.get("enum")?.as_array()?;
            let mut before = HashSet::new();
            match values.iter().find(|it| !before.insert(*it)) {
                _ if values.is_empty() => Some(format!("{at} has an enum without values")),
                Some(value) => Some(format!("{at} has {value} twice in its enum")),
                None if none_fits(schema, values) => {
                    Some(format!("no value of the enum of {at} fits the rest of its schema"))
                }
                None => None,
            }
        })
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

/// Judges what is listed for models to read.
fn listed(bench: &Bench, wrong: fn(&Value) -> Option<String>) -> Outcome {
    let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    lists.iter().try_for_each(|list| every_item(bench, list, wrong))
}

fn no_hidden_texts(bench: &Bench) -> Outcome {
    listed(bench, no_hidden_text)?;
    let instructions = bench.greeting.result().and_then(|it| it.get("instructions"));
    match no_hidden_text(&json!({ "instructions": instructions })) {
        Some(problem) => finding(problem, &bench.greeting),
        None => Ok(()),
    }
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
