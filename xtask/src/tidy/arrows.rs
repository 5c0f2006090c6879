//! Dependencies point one way: between the crates, and between the modules of `mcp-proto`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::imports::{self, Module};
use super::{list, text};

/// The crates of this project that each crate may use. Tests may use any crate. What is in `lab/` may use all, and is
/// used by none.
const CRATES: [(&str, &[&str]); 14] = [
    ("known-range", &[]),
    ("mcp-proto", &["known-range"]),
    ("mcp-proto-client", &["known-range", "mcp-proto"]),
    ("mcp-skills", &["known-range", "mcp-proto", "mcp-proto-client"]),
    ("universe-core", &["known-range"]),
    ("universe-store", &["known-range"]),
    ("universe-nats", &["universe-store"]),
    (
        "universe-server",
        &[
            "known-range",
            "mcp-proto",
            "service-host",
            "universe-core",
            "universe-nats",
            "universe-store",
        ],
    ),
    ("mcp-conformance", &["known-range", "mcp-proto"]),
    ("service-host", &["known-range", "mcp-proto"]),
    ("spec-server", &["known-range", "mcp-proto", "service-host"]),
    ("chat-server", &["known-range", "mcp-proto", "service-host"]),
    ("starmap-server", &["known-range", "mcp-proto", "mcp-proto-client", "service-host"]),
    ("xtask", &["known-range"]),
];

/// The modules of `mcp-proto` by layer, the lowest first. A module may use only modules of lower layers.
const LAYERS: [&[&str]; 15] = [
    &["locked"],
    &["budget"],
    &[
        "accept_loop",
        "blocking",
        "cache",
        "cause",
        "change",
        "json",
        "logging",
        "scopes",
        "uri_template",
        "version",
    ],
    &["content", "jsonrpc", "seal"],
    &["lifecycle", "outbox", "schema"],
    &["call", "input", "running"],
    &["interrupt", "task"],
    &["context"],
    &["handler", "registry", "service"],
    &["completion", "prompt", "resource", "tool"],
    &["apps", "local", "state"],
    &["server"],
    &["http", "layers", "stdio"],
    &["guide", "legacy"],
    &["error", "session"],
];

/// The older revisions (`legacy`), and the modules of lower layers that may still name that module.
const LEGACY: (&str, &[&str]) = ("legacy", &["http", "stdio", "server"]);

/// Dependencies that point the wrong way, and crates without a rule. `packages` are from `cargo metadata --no-deps`.
pub(super) fn between_crates(packages: &[Value]) -> Vec<String> {
    let members: BTreeSet<&str> = packages.iter().map(|package| text(package, "name")).collect();
    let mut findings = Vec::new();
    let bound = packages.iter().filter(|package| !text(package, "manifest_path").contains("/lab/"));
    for package in bound {
        let name = text(package, "name");
        let Some((_, allowed)) = CRATES.iter().find(|(known, _)| *known == name) else {
            findings.push(format!("{name}: a crate without a rule in xtask/src/tidy/arrows.rs"));
            continue;
        };
        let used = list(package, "dependencies").filter(|used| text(used, "kind") != "dev");
        let used = used.map(|used| text(used, "name")).filter(|used| members.contains(used));
        for wrong in used.filter(|used| !allowed.contains(used)) {
            findings.push(format!("{name} may not depend on {wrong}"));
        }
    }
    findings
}

/// Uses of one module by another that point the wrong way, in `mcp-proto`. Each file is `(path below src, text)`.
pub(super) fn inside_library<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Vec<String> {
    let imports = imports::read(files);
    let mut findings = Vec::new();
    for (module, used) in &imports {
        let path = module.join("/");
        let Some((name, layer)) = layer_of(module) else {
            findings.push(format!(
                "mcp-proto/src/{path}.rs: a module without a layer in xtask/src/tidy/arrows.rs"
            ));
            continue;
        };
        for used in used {
            let Some((other, other_layer)) = layer_of(used) else {
                findings.push(format!(
                    "mcp-proto/src/{path}.rs: crate::{} is not a module; name the one it is from",
                    used.join("::")
                ));
                continue;
            };
            let is_legacy = other == LEGACY.0 && LEGACY.1.contains(&name);
            if other != name && other_layer >= layer && !is_legacy {
                findings.push(format!("mcp-proto/src/{path}.rs: {name} may not know {other}"));
            }
        }
    }
    findings
}

/// Circles of files that use each other, in the crate whose sources are below `folder`.
pub(super) fn circles<'f>(
    folder: &str,
    files: impl Iterator<Item = (&'f str, &'f str)>,
) -> Vec<String> {
    let imports = imports::read(files);
    let circles = imports::circles(&imports).into_iter().map(|circle| {
        let circle: Vec<_> = circle.iter().map(|module| module.join("/")).collect();
        format!("{folder}: these files use each other in a circle: {}", circle.join(", "))
    });
    circles.collect()
}

/// The top-level module that a file belongs to, and its layer.
fn layer_of(module: &Module) -> Option<(&str, usize)> {
    let name = module.first()?;
    let layer = LAYERS.iter().position(|names| names.contains(&name.as_str()))?;
    Some((name, layer))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The findings in one file of a library that has a file for each module.
    fn library(path: &str, text: &str) -> Vec<String> {
        let files: Vec<String> = LAYERS
            .iter()
            .flat_map(|names| names.iter())
            .map(|name| format!("{name}.rs"))
            .filter(|file| file != path)
            .collect();
        let others = files.iter().map(|file| (file.as_str(), ""));
        inside_library(others.chain([(path, text)]))
    }

    #[test]
    fn a_crate_uses_only_what_its_rule_allows() {
        let metadata = |used: &str, kind: Value| {
            [
                json!({"name": "mcp-proto", "dependencies": [{"name": used, "kind": kind}, {"name": "hyper"}]}),
                json!({"name": "universe-core", "dependencies": []}),
            ]
        };
        assert_eq!(
            between_crates(&metadata("universe-core", Value::Null)),
            ["mcp-proto may not depend on universe-core"]
        );
        assert_eq!(between_crates(&metadata("universe-core", json!("build"))).len(), 1);
        assert!(between_crates(&metadata("universe-core", json!("dev"))).is_empty());
        assert!(between_crates(&metadata("bytes", Value::Null)).is_empty());
    }

    #[test]
    fn a_new_crate_needs_a_rule() {
        let metadata = [json!({"name": "newcomer", "dependencies": []})];
        assert_eq!(
            between_crates(&metadata),
            ["newcomer: a crate without a rule in xtask/src/tidy/arrows.rs"]
        );
    }

    #[test]
    fn modules_use_those_below() {
        let text =
            "use crate::jsonrpc::Message;\nuse crate::server::Server;\nuse super::config::X;";
        assert!(library("http/head.rs", text).is_empty());
        let text = "use crate::{content::{ContentBlock, Icon}, schema, jsonrpc as rpc};";
        assert!(library("tool.rs", text).is_empty());
        assert!(library("lib.rs", "pub use crate::http::StreamableHttpService;").is_empty());
    }

    #[test]
    fn an_arrow_that_points_up_or_aside_is_found_in_every_form() {
        for text in [
            "use crate::server::Server;",
            "use crate::{\n    jsonrpc::{Id, Message},\n    server::{\n        Server,\n    },\n};",
            "fn f(id: &crate::server::Server) {}",
            "use super::server::Server;",
        ] {
            assert_eq!(
                library("tool.rs", text),
                ["mcp-proto/src/tool.rs: tool may not know server"],
                "{text}"
            );
        }
        for (path, text) in [
            ("jsonrpc.rs", "use crate::tool::Tool;"),
            ("server/calls.rs", "use crate::http::Head;"),
            ("stdio.rs", "use crate::http::Head;"),
            ("http/sse.rs", "use crate::stdio::X;"),
        ] {
            assert_eq!(library(path, text).len(), 1, "{path}: {text}");
        }
    }

    #[test]
    fn the_older_revisions_are_named_by_few() {
        let text = "use crate::legacy::Session;";
        for path in ["http/config.rs", "stdio/connection.rs", "server/run.rs"] {
            assert!(library(path, text).is_empty(), "{path}");
        }
        for path in ["context.rs", "task/entry.rs", "tool/registry.rs", "local.rs"] {
            assert_eq!(library(path, text).len(), 1, "{path}");
        }
    }

    #[test]
    fn a_circle_of_files_is_found_within_a_module_too() {
        let files = [
            ("http/head.rs", "use super::body::X;"),
            ("http/body.rs", "use crate::http::head::X;"),
        ];
        assert_eq!(
            circles("mcp-proto/src", files.into_iter()),
            ["mcp-proto/src: these files use each other in a circle: http/body, http/head"]
        );
    }

    #[test]
    fn neither_a_new_module_nor_the_front_door_hides_an_arrow() {
        assert_eq!(library("attic.rs", "").len(), 1);
        assert_eq!(library("tool.rs", "use crate::Server;").len(), 1);
    }
}
