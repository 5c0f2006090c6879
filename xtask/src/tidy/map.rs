//! Checks that the code map in ARCHITECTURE.md names only existing paths, and every crate.

const HEADING: &str = "## Code map";

/// Entries that do not exist and crates that have no entry, nor the folder that
/// they are in. An entry is a list item that begins with a path
/// in backticks, relative to the root.
pub(super) fn check<'c>(
    architecture: &str,
    crates: impl Iterator<Item = &'c String>,
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
    let is_named = |folder: &&String| {
        entries.contains(&folder.as_str())
            || folder.split('/').next().is_some_and(|top| entries.contains(&top))
    };
    let unnamed = crates.filter(|folder| !is_named(folder));
    let unnamed = unnamed
        .map(|folder| format!("ARCHITECTURE.md: the code map does not name the crate {folder}"));
    missing.chain(unnamed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A\n- `elsewhere`\n## Code map\n- `one/` — a crate\n  - `one/src/lib.rs`: door\n## Next\n- `later`\n";

    #[test]
    fn entries_are_the_list_items_of_its_section() {
        let exists = |path: &str| ["one", "one/src/lib.rs"].contains(&path);
        assert!(check(TEXT, ["one".to_owned()].iter(), exists).is_empty());
    }

    #[test]
    fn a_path_that_is_gone_and_a_crate_without_an_entry_are_found() {
        let gone = check(TEXT, ["one".to_owned()].iter(), |path| path == "one");
        assert_eq!(
            gone,
            ["ARCHITECTURE.md: the code map names one/src/lib.rs, which does not exist"]
        );
        let unnamed = check(TEXT, ["one".to_owned(), "later/in".to_owned()].iter(), |_| true);
        assert_eq!(unnamed, ["ARCHITECTURE.md: the code map does not name the crate later/in"]);
        assert_eq!(check("# No map", ["one".to_owned()].iter(), |_| true).len(), 1);
    }
}
