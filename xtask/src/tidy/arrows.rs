//! Dependencies point one way: between the crates, and between the rooms of `mcp-proto`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{list, text};

/// Which crates of the workspace a crate may use. Tests may use what they like.
const CRATES: [(&str, &[&str]); 9] = [
    ("mcp-proto", &[]),
    ("universe-core", &[]),
    (
        "universe-server",
        &["mcp-proto", "service-host", "universe-core"],
    ),
    ("mcp-conformance", &["mcp-proto"]),
    ("service-host", &["mcp-proto"]),
    ("spec-server", &["mcp-proto", "service-host"]),
    ("chat-server", &["mcp-proto", "service-host"]),
    ("starmap-server", &["mcp-proto", "service-host"]),
    ("xtask", &[]),
];

/// The rooms of `mcp-proto` by storey, the lowest first. A room uses its own storey and those below.
const STOREYS: [&[&str]; 6] = [
    &[
        "accept",
        "json",
        "jsonrpc",
        "seal",
        "uri_template",
        "version",
    ],
    &["cache", "content", "lifecycle", "logging"],
    &[
        "schema",
        "change",
        "context",
        "interrupt",
        "input",
        "tool",
        "resource",
        "prompt",
        "completion",
        "skill",
        "app",
        "task",
    ],
    &["server"],
    &["session"],
    &["http", "stdio", "client", "guide"],
];

/// Rooms that do not know each other although they share a storey.
const STRANGERS: [(&str, &str); 1] = [("http", "stdio")];

/// Dependencies in `cargo metadata --no-deps` that point the wrong way, and crates without a rule.
pub(super) fn between_crates(metadata: &Value) -> Vec<String> {
    let members: BTreeSet<&str> = list(metadata, "packages")
        .map(|package| text(package, "name"))
        .collect();
    let mut findings = Vec::new();
    for package in list(metadata, "packages") {
        let name = text(package, "name");
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == name) else {
            findings.push(format!(
                "{name}: a crate without a rule in xtask/src/tidy/arrows.rs"
            ));
            continue;
        };
        let used = list(package, "dependencies").filter(|used| text(used, "kind") != "dev");
        let used = used
            .map(|used| text(used, "name"))
            .filter(|used| members.contains(used));
        for wrong in used.filter(|used| !allowed.contains(used)) {
            findings.push(format!("{name} may not depend on {wrong}"));
        }
    }
    findings
}

/// Uses of one room by another that point the wrong way, in the `(path below src, text)` of `mcp-proto`.
pub(super) fn inside_library<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, text) in files {
        let room = path
            .split('/')
            .next()
            .unwrap_or(path)
            .trim_end_matches(".rs");
        if room == "lib" {
            continue;
        }
        let Some(storey) = storey(room) else {
            findings.push(format!(
                "mcp-proto/src/{path}: a room without a storey in xtask/src/tidy/arrows.rs"
            ));
            continue;
        };
        for used in rooms_used(text) {
            let Some(below) = self::storey(used) else {
                findings.push(format!(
                    "mcp-proto/src/{path}: crate::{used} is no room; name the one it is from"
                ));
                continue;
            };
            let pair = |(a, b): &(&str, &str)| (room, used) == (*a, *b) || (used, room) == (*a, *b);
            if below > storey || STRANGERS.iter().any(pair) {
                findings.push(format!("mcp-proto/src/{path}: {room} may not know {used}"));
            }
        }
    }
    findings
}

fn storey(room: &str) -> Option<usize> {
    STOREYS.iter().position(|rooms| rooms.contains(&room))
}

/// The first names after `crate::`, also of a `crate::{…}` group, outside of comments.
fn rooms_used(text: &str) -> BTreeSet<&str> {
    let mut used = BTreeSet::new();
    for (at, found) in text.match_indices("crate::") {
        let line = text
            .get(..at)
            .and_then(|before| before.rsplit('\n').next())
            .unwrap_or_default();
        if line.trim_start().starts_with("//")
            || line.ends_with(|c: char| c.is_alphanumeric() || c == '$')
        {
            continue;
        }
        let rest = text.get(at + found.len()..).unwrap_or_default();
        match rest.strip_prefix('{') {
            Some(group) => used.extend(members(group)),
            None => used.extend(name(rest)),
        }
    }
    used
}

/// The first names of the members of a `{…}` group, whose opening brace is already read.
fn members(group: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut start = Some(0);
    let mut found = Vec::new();
    for (at, c) in group.char_indices() {
        if let Some(from) = start.filter(|_| !c.is_whitespace()) {
            found.extend(group.get(from.max(at)..).and_then(name));
            start = None;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = Some(at + 1),
            _ => {}
        }
    }
    found
}

fn name(text: &str) -> Option<&str> {
    let end = text
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(text.len());
    text.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn library(path: &str, text: &str) -> Vec<String> {
        inside_library(std::iter::once((path, text)))
    }

    #[test]
    fn a_crate_uses_only_what_its_rule_allows() {
        let metadata = |used: &str, kind: Value| {
            json!({"packages": [
                {"name": "mcp-proto", "dependencies": [{"name": used, "kind": kind}, {"name": "hyper", "kind": null}]},
                {"name": "universe-core", "dependencies": []},
            ]})
        };
        assert_eq!(
            between_crates(&metadata("universe-core", Value::Null)),
            ["mcp-proto may not depend on universe-core"]
        );
        assert_eq!(
            between_crates(&metadata("universe-core", json!("build"))).len(),
            1
        );
        assert!(between_crates(&metadata("universe-core", json!("dev"))).is_empty());
        assert!(between_crates(&metadata("bytes", Value::Null)).is_empty());
    }

    #[test]
    fn a_new_crate_needs_a_rule() {
        let metadata = json!({"packages": [{"name": "newcomer", "dependencies": []}]});
        assert_eq!(
            between_crates(&metadata),
            ["newcomer: a crate without a rule in xtask/src/tidy/arrows.rs"]
        );
    }

    #[test]
    fn rooms_use_those_below_and_beside() {
        assert!(
            library(
                "http/head.rs",
                "use crate::jsonrpc::Message;\nuse crate::session::SessionId;"
            )
            .is_empty()
        );
        assert!(
            library(
                "tool.rs",
                "use crate::{content::{ContentBlock, Icon}, schema, jsonrpc as rpc};"
            )
            .is_empty()
        );
        assert!(library("lib.rs", "pub use crate::http::StreamableHttpService;").is_empty());
    }

    #[test]
    fn an_arrow_that_points_up_is_found_in_every_form() {
        for text in [
            "use crate::session::SessionId;",
            "use crate::{\n    jsonrpc::{Id, Message},\n    session::{\n        SessionId,\n    },\n};",
            "fn f(id: &crate::session::SessionId) {}",
            "pub(crate) use crate::session;",
        ] {
            assert_eq!(
                library("tool.rs", text),
                ["mcp-proto/src/tool.rs: tool may not know session"],
                "{text}"
            );
        }
        assert_eq!(library("jsonrpc.rs", "use crate::tool::Tool;").len(), 1);
        assert_eq!(
            library("server/calls.rs", "use crate::http::Head;").len(),
            1
        );
    }

    #[test]
    fn http_and_stdio_are_strangers() {
        assert_eq!(
            library("stdio.rs", "use crate::http::Head;"),
            ["mcp-proto/src/stdio.rs: stdio may not know http"]
        );
        assert_eq!(library("http/sse.rs", "use crate::stdio;").len(), 1);
    }

    #[test]
    fn neither_a_new_room_nor_the_front_door_hides_an_arrow() {
        assert_eq!(library("attic.rs", "").len(), 1);
        assert_eq!(library("tool.rs", "use crate::Server;").len(), 1);
    }

    #[test]
    fn comments_and_other_crates_are_no_arrows() {
        assert!(
            library(
                "tool.rs",
                "/// See [`crate::http`].\n//! crate::session\nuse mycrate::http;"
            )
            .is_empty()
        );
    }
}
