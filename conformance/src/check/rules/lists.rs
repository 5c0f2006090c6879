//! Lists and what stands in them.

use std::collections::BTreeSet;

use futures_util::FutureExt as _;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::super::rule::Probe::{Asks, Reads};
use super::super::rule::{Outcome, Rule, Scope, finding, holds_for, holds_if, served};
use super::{EVERYWHERE, MODERN, MUST, PRACTICE, SHOULD};
use crate::probe::{Bench, Exchange, Revision};
use crate::schema::local::each;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "lists.declared",
        level: MUST,
        section: "Tools, Resources, Prompts: Capabilities, Listing",
        title: "If a capability is declared, its list can be read",
        fix: "answer tools/list, resources/list or prompts/list, with an empty list if there are no items; or do not declare the capability",
        scope: EVERYWHERE,
        probe: Asks(|bench| declared(bench).boxed()),
    },
    Rule {
        id: "lists.unknown-cursor",
        level: SHOULD,
        section: "Pagination",
        title: "An unknown cursor is refused with −32602",
        fix: "answer with code −32602 if a cursor is not one of yours",
        scope: EVERYWHERE,
        probe: Asks(|bench| unknown_cursor(bench).boxed()),
    },
    Rule {
        id: "lists.end",
        level: PRACTICE,
        section: "Pagination",
        title: "A list has at most a hundred pages, and no cursor is repeated",
        fix: "leave nextCursor out of the last page",
        scope: EVERYWHERE,
        probe: Asks(|bench| end(bench).boxed()),
    },
    Rule {
        id: "lists.cache-scope",
        level: MUST,
        section: "2026-07-28, Caching, Pagination",
        title: "All pages of a list have the same cacheScope",
        fix: "give each page the scope of the first page; private if any page requires it",
        scope: MODERN,
        probe: Asks(|bench| cache_scope(bench).boxed()),
    },
    Rule {
        id: "tools.unique",
        level: SHOULD,
        section: "Tools, Tool names",
        title: "No two tools have the same name",
        fix: "name each tool differently",
        scope: EVERYWHERE,
        probe: Asks(|bench| unique(bench, "tools/list", "name").boxed()),
    },
    Rule {
        id: "resources.unique",
        level: PRACTICE,
        section: "Resources",
        title: "No two resources have the same URI",
        fix: "list each resource once",
        scope: EVERYWHERE,
        probe: Asks(|bench| unique(bench, "resources/list", "uri").boxed()),
    },
    Rule {
        id: "prompts.unique",
        level: PRACTICE,
        section: "Prompts",
        title: "No two prompts have the same name",
        fix: "name each prompt differently",
        scope: EVERYWHERE,
        probe: Asks(|bench| unique(bench, "prompts/list", "name").boxed()),
    },
    Rule {
        id: "tools.name-characters",
        level: SHOULD,
        section: "2025-11-25, Tools, Tool names",
        title: "The name of a tool has 1 to 128 characters, which are A–Z a–z 0–9 _ - .",
        fix: "name tools with letters, digits, underscores and hyphens",
        scope: Scope { first: Revision::V2025_11_25, ..EVERYWHERE },
        probe: Reads(name_characters),
    },
    Rule {
        id: "tools.description",
        level: PRACTICE,
        section: "Tools",
        title: "Every tool has a description",
        fix: "describe what each tool does: models choose tools by their descriptions",
        scope: EVERYWHERE,
        probe: Reads(description),
    },
    Rule {
        id: "schemas.local-references",
        level: PRACTICE,
        section: "none (schema portability)",
        title: "A schema refers only to its own definitions, and these are there",
        fix: "use only references such as #/$defs/…, to what the schema has: clients do not fetch schemas",
        scope: EVERYWHERE,
        probe: Reads(local_references),
    },
];

async fn declared(bench: &mut Bench) -> Outcome {
    for (method, _, pages) in &bench.lists {
        // Templates have no capability of their own.
        let is_free =
            |page: &Exchange| *method == "resources/templates/list" && page.code() == Some(-32601);
        let refused = pages.iter().find(|page| page.result().is_none() && !is_free(page));
        if let Some(page) = refused {
            return served(method, page);
        }
    }
    Ok(())
}

async fn unknown_cursor(bench: &mut Bench) -> Outcome {
    let is_served = |pages: &[Exchange]| pages.iter().any(|page| page.result().is_some());
    let served = bench.lists.iter().filter(|(.., pages)| is_served(pages));
    let methods: Vec<_> = served.map(|(method, ..)| *method).collect();
    for method in methods {
        let exchange = bench.ask(method, json!({"cursor": "no cursor of this server"})).await;
        // A server may have methods that it does not serve though their family is declared.
        holds_for(matches!(exchange.code(), Some(-32602 | -32601)), method, &exchange)?;
    }
    Ok(())
}

async fn end(bench: &mut Bench) -> Outcome {
    for (method, _, pages) in &bench.lists {
        let mut seen = BTreeSet::new();
        for page in pages {
            let cursor = page.result().and_then(|it| it.get("nextCursor"));
            let Some(cursor) = cursor.and_then(Value::as_str) else {
                continue;
            };
            holds_if(
                seen.insert(cursor.to_owned()),
                format!("{method}: the cursor {cursor:?} was returned twice"),
                page,
            )?;
        }
        if seen.len() >= 100 {
            return finding(format!("{method} has more than 100 pages"), &bench.page(method));
        }
    }
    Ok(())
}

async fn cache_scope(bench: &mut Bench) -> Outcome {
    for (method, _, pages) in &bench.lists {
        // Its presence and values are checked by the schema.
        let scope = |page: &Exchange| page.result()?.get("cacheScope").cloned();
        let first = pages.first().and_then(scope);
        let mut pages = pages.iter().filter(|page| scope(page).is_some());
        if let Some(page) = pages.find(|page| scope(page) != first) {
            return finding(format!("{method}: two pages differ in cacheScope"), page);
        }
    }
    Ok(())
}

async fn unique(bench: &mut Bench, method: &str, member: &str) -> Outcome {
    let mut seen = BTreeSet::new();
    for item in bench.items(method) {
        let Some(key) = item.get(member).and_then(Value::as_str) else {
            continue;
        };
        holds_if(seen.insert(key), format!("{key:?} is listed twice"), &bench.page(method))?;
    }
    Ok(())
}

fn name_characters(tool: &Value) -> Option<String> {
    let name = tool.get("name").and_then(Value::as_str)?;
    let is_good = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let good = (1..=128).contains(&name.len()) && name.chars().all(is_good);
    (!good).then(|| "its name is empty, too long, or has other characters".to_owned())
}

fn description(tool: &Value) -> Option<String> {
    let text = tool.get("description").and_then(Value::as_str);
    let good = text.is_some_and(|text| !text.trim().is_empty());
    (!good).then(|| "it has no description".to_owned())
}

fn local_references(tool: &Value) -> Option<String> {
    let schemas = [tool.get("inputSchema"), tool.get("outputSchema")];
    schemas.into_iter().flatten().find_map(|schema| {
        each(schema, "", &|part, _| {
            let reference = part.get("$ref")?.as_str()?;
            let Some(fragment) = reference.strip_prefix('#') else {
                return Some(format!("a schema refers to {reference:?}"));
            };
            (!is_there(schema, fragment))
                .then(|| format!("a schema refers to {reference:?}, which is not there"))
        })
    })
}

/// Whether a fragment stands for a part of a schema: a JSON Pointer, or an anchor.
fn is_there(schema: &Value, fragment: &str) -> bool {
    let Ok(fragment) = percent_decode_str(fragment).decode_utf8() else { return false };
    let has = |part: &Value, keyword| part.get(keyword).is_some_and(|it| *it == *fragment);
    let is_named = |part: &Value, at: &str| {
        // References within a part that has an `$id` are relative to it: such schemas are not judged.
        let is_other = !at.is_empty() && part.get("$id").is_some();
        (is_other || has(part, "$anchor") || has(part, "$dynamicAnchor")).then_some(())
    };
    schema.pointer(&fragment).is_some() || each(schema, "", &is_named).is_some()
}
