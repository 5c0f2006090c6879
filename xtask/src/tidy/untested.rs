//! Checks that a library with `test = false` has no tests in its sources: they would never run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{list, text};

/// Tests in the sources of libraries that have `test = false`. `packages` are from `cargo metadata --no-deps`, and
/// `files` the files under version control, by their path below `root`.
pub(super) fn check(
    packages: &[Value],
    files: &BTreeMap<String, String>,
    root: &Path,
) -> Vec<String> {
    packages
        .iter()
        .flat_map(|package| list(package, "targets"))
        .filter(|target| list(target, "kind").any(|kind| kind == "lib"))
        .filter(|target| target.get("test").and_then(Value::as_bool) == Some(false))
        .filter_map(|target| Path::new(text(target, "src_path")).parent())
        .filter_map(|folder| Some(folder.strip_prefix(root).ok()?.to_str()?.replace('\\', "/")))
        .flat_map(|folder| {
            files.iter().filter(move |(path, _)| path.starts_with(&format!("{folder}/")))
        })
        .filter(|(path, source)| path.ends_with(".rs") && has_tests(source))
        .map(|(path, _)| {
            format!(
                "{path}: a test that never runs; put it into tests/, or remove `test = false` from \
                 the manifest"
            )
        })
        .collect()
}

fn has_tests(source: &str) -> bool {
    let mut lines = source.lines().map(str::trim);
    lines.any(|line| {
        line.starts_with("#[") && (line.contains("cfg(test)") || line.contains("test]"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(tested: bool, source: &str) -> Vec<String> {
        let packages = [json!({"targets": [
            {"kind": ["lib"], "src_path": "/r/a/src/lib.rs", "test": tested},
            {"kind": ["test"], "src_path": "/r/a/tests/it/main.rs", "test": true},
        ]})];
        let file = |path: &str| (path.to_owned(), source.to_owned());
        let files = BTreeMap::from([file("a/src/deep/room.rs"), file("a/tests/it/main.rs")]);
        check(&packages, &files, Path::new("/r"))
    }

    #[test]
    fn a_test_that_never_runs_is_found() {
        for source in ["#[cfg(test)]\nmod tests;", "    #[test]", "#[tokio::test]"] {
            let found = findings(false, source);
            assert_eq!(found.len(), 1, "{source}");
            assert!(found[0].starts_with("a/src/deep/room.rs: "), "{source}");
            assert!(findings(true, source).is_empty(), "{source}");
        }
        assert!(findings(false, "fn latest() {}\n// #[test]").is_empty());
    }
}
