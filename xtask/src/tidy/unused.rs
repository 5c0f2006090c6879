//! Every dependency in a manifest is named in the sources that it is for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::{list, text};

/// Dependencies in `cargo metadata --no-deps` that no source of the right kind names. `files` are those under version
/// control by their path below `root`.
///
/// One of the crate itself is for its library and programs, one of its tests for all but the build script, and one of
/// its build for the build script alone. Being named means a path that begins with it, `name::` or `use name;`, outside
/// of comments; a documentation test of a dev-dependency may name it in one. A module of the crate's own with the name
/// of a dependency hides it.
pub(super) fn by_members(
    metadata: &Value,
    files: &BTreeMap<String, String>,
    root: &Path,
) -> Vec<String> {
    let mut findings = Vec::new();
    for package in list(metadata, "packages") {
        for dependency in list(package, "dependencies") {
            let kind = Kind::of(dependency);
            let prefixes: BTreeSet<String> = list(package, "targets")
                .filter(|target| list(target, "kind").any(|target| kind.is_for(target)))
                .filter_map(|target| kind.source_prefix(Path::new(text(target, "src_path")), root))
                .collect();
            let name = local_name(dependency).replace('-', "_");
            let used = files.iter().any(|(path, source)| {
                path.ends_with(".rs")
                    && prefixes.iter().any(|prefix| path.starts_with(prefix))
                    && names(source, &name, kind == Kind::Dev)
            });
            if !used {
                let (package, name) = (text(package, "name"), local_name(dependency));
                let (table, where_to) = kind.words();
                findings.push(format!(
                    "{package}: {name} in [{table}] is not used in {where_to}; remove it, or move it to where it is used"
                ));
            }
        }
    }
    findings
}

/// Entries of `[workspace.dependencies]` in `manifest`, the text of the workspace's own, that no member in `metadata`
/// names.
pub(super) fn by_workspace(manifest: &str, metadata: &Value) -> Vec<String> {
    let used: BTreeSet<&str> = list(metadata, "packages")
        .flat_map(|package| list(package, "dependencies"))
        .flat_map(|dependency| [local_name(dependency), text(dependency, "name")])
        .collect();
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['=', '.', ' ']).next())
        .filter(|name| !name.is_empty() && !name.starts_with('#') && !used.contains(name))
        .map(|name| {
            format!(
                "Cargo.toml: {name} in [workspace.dependencies] is used by no member; remove it"
            )
        })
        .collect()
}

/// What a dependency is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Normal,
    Dev,
    Build,
}

impl Kind {
    fn of(dependency: &Value) -> Self {
        match text(dependency, "kind") {
            "dev" => Self::Dev,
            "build" => Self::Build,
            _ => Self::Normal,
        }
    }

    /// Whether a target of this kind, as cargo calls it, may use it.
    fn is_for(self, target: &Value) -> bool {
        match (self, target.as_str().unwrap_or_default()) {
            (Self::Build, target) => target == "custom-build",
            (Self::Dev, target) => target != "custom-build",
            (Self::Normal, target) => {
                !["custom-build", "test", "example", "bench"].contains(&target)
            }
        }
    }

    /// How the paths of a target's sources begin: a build script is one file, all others are in the folder of their
    /// first.
    fn source_prefix(self, first: &Path, root: &Path) -> Option<String> {
        let first = first.strip_prefix(root).ok()?;
        let prefix = match self {
            Self::Build => first.to_string_lossy().into_owned(),
            Self::Normal | Self::Dev => format!("{}/", first.parent()?.to_string_lossy()),
        };
        Some(prefix.replace('\\', "/"))
    }

    /// The table of the manifest, and the sources.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Normal => ("dependencies", "the sources of its library and programs"),
            Self::Dev => (
                "dev-dependencies",
                "its sources, tests, examples and benches",
            ),
            Self::Build => ("build-dependencies", "its build script"),
        }
    }
}

/// What a crate calls its dependency.
fn local_name(dependency: &Value) -> &str {
    match text(dependency, "rename") {
        "" => text(dependency, "name"),
        renamed => renamed,
    }
}

/// Whether a path in `source` begins with the crate `name`.
fn names(source: &str, name: &str, in_documentation: bool) -> bool {
    source.lines().any(|line| {
        let code = line.trim_start();
        let documentation = code.starts_with("///") || code.starts_with("//!");
        if code.starts_with("//") && !(documentation && in_documentation) {
            return false;
        }
        line.match_indices(name).any(|(at, _)| {
            let before = line.get(..at).unwrap_or_default();
            let after = line.get(at + name.len()..).unwrap_or_default();
            let earlier = before.strip_suffix("::").unwrap_or(before);
            let begins = !earlier.ends_with(|c: char| c.is_alphanumeric() || "_:.>".contains(c));
            let imported = before.trim_end().ends_with("use") && after.starts_with([';', ' ']);
            begins && (imported || after.starts_with("::"))
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// One crate, `a`, with a library, a test and a build script, that depends on `some-lib` in a table.
    fn findings(kind: &Value, path: &str, source: &str) -> Vec<String> {
        let target = |kind: &str, path: &str| json!({"kind": [kind], "src_path": path});
        let metadata = json!({"packages": [{
            "name": "a",
            "dependencies": [{"name": "some-lib", "kind": kind, "rename": null}],
            "targets": [
                target("lib", "/r/a/src/lib.rs"),
                target("test", "/r/a/tests/it/main.rs"),
                target("custom-build", "/r/a/build.rs"),
            ],
        }]});
        let files = BTreeMap::from([(path.to_owned(), source.to_owned())]);
        by_members(&metadata, &files, Path::new("/r"))
    }

    #[test]
    fn a_dependency_that_nothing_names_is_found_in_each_table() {
        for (kind, table) in [
            (Value::Null, "[dependencies]"),
            (json!("dev"), "[dev-dependencies]"),
            (json!("build"), "[build-dependencies]"),
        ] {
            let found = findings(&kind, "a/src/lib.rs", "fn main() {}");
            assert_eq!(found.len(), 1, "{table}");
            assert!(found[0].starts_with(&format!("a: some-lib in {table} is not used")));
        }
    }

    #[test]
    fn it_is_to_be_named_where_it_is_for() {
        let code = "use some_lib::Thing;";
        assert!(findings(&Value::Null, "a/src/deep/room.rs", code).is_empty());
        assert_eq!(findings(&Value::Null, "a/tests/it/main.rs", code).len(), 1);
        assert_eq!(findings(&Value::Null, "a/build.rs", code).len(), 1);
        assert_eq!(findings(&Value::Null, "b/src/lib.rs", code).len(), 1);
        assert!(findings(&json!("dev"), "a/tests/it/room.rs", code).is_empty());
        assert!(findings(&json!("dev"), "a/src/lib.rs", code).is_empty());
        assert!(findings(&json!("build"), "a/build.rs", code).is_empty());
        assert_eq!(findings(&json!("build"), "a/src/lib.rs", code).len(), 1);
    }

    #[test]
    fn a_use_is_a_path_that_begins_with_the_name() {
        for used in [
            "use some_lib;",
            "use some_lib as lib;",
            "use {std::io, some_lib::Thing};",
            "    let x = some_lib::thing(&::some_lib::Other);",
            "#[some_lib::attribute]",
        ] {
            assert!(names(used, "some_lib", false), "{used}");
        }
        for unused in [
            "// some_lib::Thing",
            "/// [`some_lib::Thing`]",
            "let some_lib = 1;",
            "awesome_lib::Thing",
            "crate::some_lib::Thing",
            "some_library::Thing",
            "mod some_lib;",
        ] {
            assert!(!names(unused, "some_lib", false), "{unused}");
        }
        assert!(names("/// use some_lib::Thing;", "some_lib", true));
        assert!(!names("// use some_lib::Thing;", "some_lib", true));
    }

    #[test]
    fn an_entry_of_the_workspace_that_no_member_names_is_found() {
        let manifest = "[workspace]\nmembers = [\"a\"]\n[workspace.dependencies]\n# Why.\nsome-lib = \"1\"\nlone = { version = \"1\" }\n\n[profile.dev]\ndebug = false\n";
        let metadata = json!({"packages": [
            {"name": "a", "dependencies": [{"name": "some-lib", "kind": "dev"}]},
        ]});
        let found = by_workspace(manifest, &metadata);
        assert_eq!(
            found,
            ["Cargo.toml: lone in [workspace.dependencies] is used by no member; remove it"]
        );
    }
}
