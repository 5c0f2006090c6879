//! Checks that the code map in ARCHITECTURE.md names only existing paths, and every crate.

use std::path::Path;

use serde_json::Value;

use super::{list, text};

const HEADING: &str = "## Code map";

/// The folders of the workspace's crates, relative to its root.
pub(super) fn folders(metadata: &Value, root: &Path) -> Vec<String> {
    list(metadata, "packages")
        .filter_map(|package| {
            Path::new(text(package, "manifest_path")).parent()?.strip_prefix(root).ok()
        })
        .map(|folder| folder.to_string_lossy().replace('\\', "/"))
        .collect()
}

/// Entries that do not exist and crates without an entry. An entry is a list item that begins with a path
/// in backticks, relative to the root.
pub(super) fn check(
    architecture: &str,
    crates: &[String],
    exists: impl Fn(&str) -> bool,
) -> Vec<String> {
    let entries: Vec<&str> = architecture
        .lines()
        .skip_while(|line| !line.starts_with(HEADING))
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.trim_start().strip_prefix("- `")?.split_once('`'))
        .map(|(path, _)| path.trim_end_matches('/'))
        .collect();
    let missing = entries.iter().filter(|path| !exists(path));
    let missing = missing
        .map(|path| format!("ARCHITECTURE.md: the code map names {path}, which does not exist"));
    let unnamed = crates.iter().filter(|folder| !entries.contains(&folder.as_str()));
    let unnamed = unnamed
        .map(|folder| format!("ARCHITECTURE.md: the code map does not name the crate {folder}"));
    missing.chain(unnamed).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "# A\n- `elsewhere`\n## Code map\n- `one/` — a crate\n  - `one/src/lib.rs`: door\n## Next\n- `later`\n";

    #[test]
    fn entries_are_the_list_items_of_its_section() {
        let exists = |path: &str| ["one", "one/src/lib.rs"].contains(&path);
        assert!(check(TEXT, &["one".into()], exists).is_empty());
    }

    #[test]
    fn a_path_that_is_gone_and_a_crate_without_an_entry_are_found() {
        let gone = check(TEXT, &["one".into()], |path| path == "one");
        assert_eq!(
            gone,
            ["ARCHITECTURE.md: the code map names one/src/lib.rs, which does not exist"]
        );
        let unnamed = check(TEXT, &["one".into(), "later".into()], |_| true);
        assert_eq!(unnamed, ["ARCHITECTURE.md: the code map does not name the crate later"]);
        assert_eq!(check("# No map", &["one".into()], |_| true).len(), 1);
    }

    #[test]
    fn folders_are_relative_to_the_root() {
        let metadata = json!({"packages": [{"manifest_path": "/r/services/a/Cargo.toml"}]});
        assert_eq!(folders(&metadata, Path::new("/r")), ["services/a"]);
    }
}
