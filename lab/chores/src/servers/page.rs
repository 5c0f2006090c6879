//! The page about the servers that were checked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;
use toml::Table;

use xtask::{Result, root, say};

use super::Server;

/// The most characters of a line of an exchange.
const LINE: usize = 200;

/// The findings of a rule: which server and transport, and what was seen.
type Found = Vec<(String, String)>;

/// Writes the page. `true` when each MUST finding was confirmed by hand.
pub(super) fn write(list: &Table, servers: &[Server]) -> Result<bool> {
    let (mut rows, mut left) = (String::new(), String::new());
    let mut broken: BTreeMap<(String, String), Found> = BTreeMap::new();
    let (mut at, mut version, mut judged) = (String::new(), String::new(), BTreeSet::new());
    for server in servers {
        for transport in server.transports() {
            let name = format!("{}, {transport}", server.name());
            let report = server.report(transport).unwrap_or_default();
            let target = report.pointer("/targets/0").unwrap_or(&Value::Null);
            if member(target, "server").is_null() {
                let why = match text(target, "unreachable") {
                    "" if report.is_null() => {
                        "no check of it ended in time on a machine that was busy"
                    }
                    "" => "it did not answer in time in each revision",
                    why => why,
                };
                writeln!(left, "- {name}: {}", line(why))?;
                continue;
            }
            judged.insert(server.name());
            let (day, time) = text(&report, "at").split_once('T').unwrap_or_default();
            at = at.max(day.to_owned());
            text(&report, "version").clone_into(&mut version);
            let found = || members(target, "cases").filter(|it| member(it, "verdict") == "finding");
            let counts = ["MUST", "SHOULD", "practice"].map(|level| {
                let rules = found().filter(|case| member(case, "level") == level);
                let rules: BTreeSet<_> = rules.map(|case| text(case, "name")).collect();
                rules.len().to_string()
            });
            let calls = member(target, "calls");
            let calls = match member(calls, "tools").as_u64() {
                Some(tools) => format!("{} of {tools}", member(calls, "called")),
                None => "–".to_owned(),
            };
            let time = time.get(..5).unwrap_or(time);
            let (revisions, counts) = (revisions(&report, "cases").join(", "), counts.join(" | "));
            let row = format!("{} | {transport} | {revisions} | {counts} | {calls}", server.name());
            writeln!(rows, "| {row} | {time} |")?;
            for case in found() {
                let key = (text(case, "level").to_owned(), text(case, "name").to_owned());
                let all = broken.entry(key).or_default();
                if all.last().is_none_or(|(last, _)| *last != name) {
                    all.push((name.clone(), seen(case)));
                }
            }
        }
    }
    let note = list.get("note").and_then(toml::Value::as_str).unwrap_or_default();
    let mut page = format!(
        "# Published servers, judged\n\n\
        {} programs of others, checked with `mcp-conformance` {version} on {at}, in the newest revision with sessions\n\
        that they speak and in the one without (2026-07-28). The numbers are of rules: a rule that is broken in both\n\
        revisions counts once. Each MUST finding is below with its bytes, and whether a person repeated it\n\
        and compared it with the specification.\n\n\
        This page is written by `cargo xtask servers` from [servers.toml](servers.toml), which says how each server is\n\
        installed and started. The servers have no network but their own loopback, no accounts and no data, and only tools\n\
        that are marked as read-only are called. {note}\n\n\
        | server | transport | revisions | MUST | SHOULD | practice | tools called | judged (UTC) |\n\
        |---|---|---|---|---|---|---|---|\n{rows}",
        judged.len()
    );
    let is_confirmed = musts(&mut page, list, &broken)?;
    page.push_str("\n## SHOULD and practice\n\n| rule | level | servers |\n|---|---|---|\n");
    for ((level, rule), all) in broken.iter().filter(|((level, _), _)| level != "MUST") {
        writeln!(page, "| `{rule}` | {level} | {} |", programs(all).len())?;
    }
    page.push_str("\n## Not judged\n\n");
    for entry in list.get("left").and_then(toml::Value::as_array).into_iter().flatten() {
        let of = |member| entry.get(member).and_then(toml::Value::as_str).unwrap_or_default();
        writeln!(page, "- {}: {}", of("what"), of("why"))?;
    }
    page.push_str(&left);
    fs::write(root().join("conformance/docs/servers.md"), page)?;
    say(&format!("{} servers were judged", judged.len()))?;
    Ok(is_confirmed)
}

/// The revisions that a report names, in their order: those that are spoken, or those of its cases.
pub(super) fn revisions<'a>(report: &'a Value, of: &str) -> Vec<&'a str> {
    let all = members(report.pointer("/targets/0").unwrap_or(&Value::Null), of);
    let all = all.map(|it| it.as_str().unwrap_or_else(|| text(it, "revision")));
    BTreeSet::from_iter(all).into_iter().collect()
}

/// The MUST findings, by rule. `true` when each was confirmed.
fn musts(
    page: &mut String,
    list: &Table,
    broken: &BTreeMap<(String, String), Found>,
) -> Result<bool> {
    let mut is_confirmed = true;
    page.push_str("\n## MUST findings\n");
    for ((_, rule), all) in broken.iter().filter(|((level, _), _)| level == "MUST") {
        let confirmed = list.get("confirmed").and_then(|it| it.get(rule));
        let why = confirmed.and_then(|it| it.get("why")?.as_str()).unwrap_or_default();
        let names = confirmed.and_then(|it| it.get("servers")?.as_array()).into_iter().flatten();
        let names: Vec<_> = names.filter_map(toml::Value::as_str).collect();
        writeln!(page, "\n### `{rule}` ({})\n\n{why}\n", programs(all).len())?;
        page.push_str("| server | seen | confirmed |\n|---|---|---|\n");
        for (name, seen) in all {
            let is_known = names.iter().any(|it| name.starts_with(it));
            is_confirmed &= is_known;
            writeln!(
                page,
                "| {name} | {seen} | {} |",
                if is_known { "yes" } else { "**not yet**" }
            )?;
        }
    }
    Ok(is_confirmed)
}

/// The servers of findings, each once.
fn programs(all: &Found) -> BTreeSet<&str> {
    all.iter().filter_map(|(name, _)| Some(name.rsplit_once(", ")?.0)).collect()
}

/// What a finding says, and the bodies of its exchange.
fn seen(case: &Value) -> String {
    let body = |mark: &str| {
        let mut lines = text(case, "exchange").lines().filter_map(|it| it.strip_prefix(mark));
        let body = lines.find(|it| it.contains('{'));
        body.map_or("nothing".to_owned(), |it| format!("`{}`", line(it).replace('`', "'")))
    };
    format!("{}; sent {}, came {}", line(text(case, "seen")), body("> "), body("< "))
}

/// A text in a cell: one line, not too long.
fn line(text: &str) -> String {
    let one = text.replace(['\n', '\r'], " ").replace('|', "\\|");
    match one.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", one.get(..end).unwrap_or_default()),
        None => one,
    }
}

fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn members<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    member(value, name).as_array().into_iter().flatten()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    member(value, name).as_str().unwrap_or_default()
}
