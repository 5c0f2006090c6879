//! Checks that every dependency in a manifest is used in the sources that it is for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::{list, text};

/// Dependencies in `cargo metadata --no-deps` that no source of the right kind uses. `files` are the files under
/// version control, by their path below `root`.
///
/// A normal dependency is for the library and the programs, a dev-dependency for all sources except the build script,
/// and a build-dependency for the build script only. A source uses a dependency if a path begins with it, `name::` or
/// `use name;`, outside comments. Documentation comments count for dev-dependencies. An unused dependency with the name
/// of a module of the crate is not found.
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

/// Entries of `[workspace.dependencies]` in the text of the workspace's `manifest` that no member in `metadata` uses.
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

/// The kind of a dependency.
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

    /// Whether a target, given by its kind in cargo, may use it.
    fn is_for(self, target: &Value) -> bool {
        match (self, target.as_str().unwrap_or_default()) {
            (Self::Build, target) => target == "custom-build",
            (Self::Dev, target) => target != "custom-build",
            (Self::Normal, target) => {
                !["custom-build", "test", "example", "bench"].contains(&target)
            }
        }
    }

    /// The prefix of the paths of a target's sources. A build script is one file. The sources of any other target are
    /// in the folder of its root file.
    fn source_prefix(self, first: &Path, root: &Path) -> Option<String> {
        let first = first.strip_prefix(root).ok()?;
        let prefix = match self {
            Self::Build => first.to_string_lossy().into_owned(),
            Self::Normal | Self::Dev => format!("{}/", first.parent()?.to_string_lossy()),
        };
        Some(prefix.replace('\\', "/"))
    }

    /// The name of the table in the manifest, and of the sources.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Normal => ("dependencies", "the sources of its library and programs"),
            Self::Dev => ("dev-dependencies", "its sources, tests, examples and benches"),
            Self::Build => ("build-dependencies", "its build script"),
        }
    }
}

/// The name that a crate uses for its dependency.
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

    /// The findings in a crate `a` with a library, a test and a build script, which depends on `some-lib` in one table.
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
