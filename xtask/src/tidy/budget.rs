//! The lines of code that each crate may have, by `budget.toml`.

use std::collections::BTreeMap;

use super::code;

/// The file with the number of each crate.
pub(super) const PATH: &str = "budget.toml";

/// A crate, its lines of code, and how many it may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) name: String,
    lines: usize,
    budget: Option<usize>,
}

/// A row for each of the `crates`, each with its folder. `files` are the files under version control, by path.
///
/// # Errors
/// When the numbers cannot be read.
pub(super) fn rows(
    crates: &BTreeMap<String, String>,
    files: &BTreeMap<String, String>,
) -> Result<Vec<Row>, String> {
    let text = files.get(PATH).map_or("", String::as_str);
    let budget: toml::Table = text.parse().map_err(|error| format!("{PATH}: {error}"))?;
    let budget = budget.get("code").and_then(toml::Value::as_table);
    let budget = budget.ok_or_else(|| format!("{PATH}: there is no table [code]"))?;
    let rows = crates.iter().map(|(name, folder)| {
        let sources = files.iter().filter(|(path, _)| owner(crates, path) == Some(folder.as_str()));
        let sources = sources.filter(|(path, _)| path.ends_with(".rs") && !is_test(path));
        Row {
            name: name.clone(),
            lines: sources.map(|(_, text)| code::lines(text)).sum(),
            budget: budget.get(name).and_then(|it| usize::try_from(it.as_integer()?).ok()),
        }
    });
    Ok(rows.collect())
}

/// The folder of the crate that a file belongs to.
fn owner<'c>(crates: &'c BTreeMap<String, String>, path: &str) -> Option<&'c str> {
    let folders = crates.values().map(String::as_str);
    let around = folders
        .filter(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    around.max_by_key(|folder| folder.len())
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests" || part == "tests.rs")
}

impl Row {
    /// The row as a line of a table.
    pub(super) fn line(&self) -> String {
        let budget = self.budget.map_or_else(|| "none".to_owned(), |budget| budget.to_string());
        format!("{:<20} {:>7} of {budget:>7}", self.name, self.lines)
    }

    /// What is wrong with it.
    pub(super) fn finding(&self) -> Option<String> {
        let Self { name, lines, budget } = self;
        match budget {
            Some(budget) if lines <= budget => None,
            Some(budget) => Some(format!(
                "{name}: {lines} lines of code, more than its {budget}: raise it in {PATH} with a sentence that says \
                 why and what it replaced, or remove lines"
            )),
            None => Some(format!("{name}: {lines} lines of code, and {PATH} has no number for it")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(budget: &str) -> Vec<String> {
        let texts = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
        };
        let crates: BTreeMap<String, String> = texts(&[("outer", "outer"), ("inner", "outer/in")]);
        let files = texts(&[
            (PATH, budget),
            ("outer/src/lib.rs", "//! x\nfn one() {}\nfn two() {}\n#[cfg(test)]\nmod tests;\n"),
            ("outer/src/tests.rs", "fn three() {}\n"),
            ("outer/tests/it/main.rs", "fn three() {}\n"),
            ("outer/examples/e.rs", "fn three() {}\n"),
            ("outer/in/src/lib.rs", "fn one() {}\n"),
            ("outer/README.md", "fn four() {}\n"),
        ]);
        match rows(&crates, &files) {
            Ok(rows) => rows.iter().filter_map(Row::finding).collect(),
            Err(error) => vec![error],
        }
    }

    #[test]
    fn each_crate_has_its_number_and_keeps_to_it() {
        assert!(findings("[code]\ninner = 1\n# Why.\nouter = 3\n").is_empty());
        let more = findings("[code]\ninner = 1\nouter = 2\n");
        assert_eq!(more.len(), 1);
        assert!(more[0].starts_with("outer: 3 lines of code, more than its 2: "), "{more:?}");
        assert!(findings("[code]\nouter = 3\n")[0].starts_with("inner: 1 lines of code, and"));
        assert!(findings("")[0].contains("no table [code]"));
        assert!(findings("[code")[0].starts_with(PATH));
    }
}
