//! Checks the table of the protocol's rules: each rule has a row, and each row names a test that exists.
//!
//! A row is `| id | rule | tests |`. The tests are separated by commas: `` `file::function` `` for a function below
//! `mcp-proto/tests/it/`, `` `src/file::function` `` for one beside the code, `` `client/file::function` `` for one of
//! the client, `` `server/file::function` `` for one of the universe server, `suite: scenario` for a scenario of the
//! official suites. A rule for clients only may have the word `client` instead of a test, and a rule for intermediaries
//! the word `proxy`.

use std::collections::{BTreeMap, BTreeSet};

/// The path of the table.
pub(super) const PATH: &str = "mcp-proto/CHECKLIST.md";

/// The families of rules, with the number of rules in each. Rules are numbered from 1.
const FAMILIES: &str = "B21 D7 H24 X8 T8 R12 L9 K5 O12 E13 I8 P23 Q13 A14";

/// The words that replace tests in a row whose rule applies only to clients, or to intermediaries.
const OTHERS: [&str; 2] = ["client", "proxy"];

/// The result of reading the table.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Checklist {
    pub(super) rows: usize,
    /// The rules that do not apply to servers and have no test.
    pub(super) others: Vec<String>,
    pub(super) findings: Vec<String>,
}

/// Reads the table in `text`, and looks up each test in `files`, which are by path, or in `scenarios`.
pub(super) fn check(
    text: &str,
    files: &BTreeMap<String, String>,
    scenarios: &BTreeSet<&str>,
) -> Checklist {
    let wanted = rules();
    let mut read = Checklist::default();
    let mut seen = BTreeSet::new();
    for (number, row) in rows(text) {
        read.rows += 1;
        let [id, rule, tests] = row.as_slice() else {
            read.findings.push(format!("{PATH}:{number}: a row is | id | rule | tests |"));
            continue;
        };
        if !wanted.iter().any(|wanted| wanted == id) {
            read.findings.push(format!("{PATH}:{number}: there is no rule {id:?}"));
        }
        if !seen.insert(*id) {
            read.findings.push(format!("{PATH}:{number}: a second row for {id}"));
        }
        if rule.is_empty() {
            read.findings.push(format!("{PATH}:{number}: {id} does not say its rule"));
        }
        match *tests {
            "" => read.findings.push(format!("{PATH}:{number}: {id} has no test")),
            other if OTHERS.contains(&other) => read.others.push((*id).to_owned()),
            tests => {
                let wrong =
                    tests.split(',').filter_map(|test| fault(test.trim(), files, scenarios));
                read.findings.extend(wrong.map(|fault| format!("{PATH}:{number}: {id}: {fault}")));
            }
        }
    }
    let missing = wanted.iter().filter(|id| !seen.contains(id.as_str()));
    read.findings.extend(missing.map(|id| format!("{PATH}: no row for {id}")));
    read
}

/// The names of all rules.
fn rules() -> Vec<String> {
    let families = FAMILIES.split(' ').filter_map(|family| family.split_at_checked(1));
    let families = families.filter_map(|(name, rules)| Some((name, rules.parse().ok()?)));
    families
        .flat_map(|(name, rules)| (1..=rules).map(move |rule: u32| format!("{name}{rule}")))
        .collect()
}

/// The cells of each row with its line number, without header rows, separator rows and other text.
fn rows(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    (1..).zip(text.lines()).filter_map(|(number, line)| {
        let inside = line.trim().strip_prefix('|')?;
        let inside = inside.strip_suffix('|').unwrap_or(inside);
        let cells: Vec<&str> = inside.split('|').map(str::trim).collect();
        let head = cells.first().is_some_and(|cell| *cell == "id");
        let rule = inside.chars().all(|c| "|-: ".contains(c)) && inside.contains('-');
        (!head && !rule).then_some((number, cells))
    })
}

/// The error in one entry of a tests cell. `None` if the entry is valid.
fn fault(
    test: &str,
    files: &BTreeMap<String, String>,
    scenarios: &BTreeSet<&str>,
) -> Option<String> {
    if let Some(scenario) = test.strip_prefix("suite: ") {
        return (!scenarios.contains(scenario))
            .then(|| format!("the suites have no scenario {scenario:?}"));
    }
    let named = test.strip_prefix('`').and_then(|test| test.strip_suffix('`'));
    let Some((file, function)) = named.and_then(|test| test.split_once("::")) else {
        return Some(format!(
            "{test:?} is neither `file::function` nor suite: scenario nor one of the words client, proxy"
        ));
    };
    let path = match file.split_once('/') {
        Some(("src", file)) => format!("mcp-proto/src/{file}.rs"),
        Some(("client", file)) => format!("mcp-client/tests/it/{file}.rs"),
        Some(("server", file)) => format!("server/tests/it/{file}.rs"),
        _ => format!("mcp-proto/tests/it/{file}.rs"),
    };
    match files.get(&path) {
        None => Some(format!("there is no {path}")),
        Some(text) if !has_test(text, function) => Some(format!("{path} has no test {function}")),
        Some(_) => None,
    }
}

/// Whether a function of this name has a test attribute.
fn has_test(text: &str, function: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let named = |line: &str| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        let rest = line.strip_prefix("fn ").and_then(|line| line.strip_prefix(function));
        rest.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    lines.iter().enumerate().any(|(at, line)| {
        named(line)
            && lines
                .iter()
                .take(at)
                .rev()
                .take_while(|line| line.starts_with("//") || !ends_an_item(line))
                .any(|line| line.starts_with("#[") && line.contains("test"))
    })
}

/// Whether an item ends with this line.
fn ends_an_item(line: &str) -> bool {
    line.is_empty() || line.ends_with(['{', '}', ';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "use x;\n\nfn helper() {}\n\n#[test]\nfn one() {}\n\n\
        #[tokio::test(\n    start_paused = true\n)]\n/// Ends;\nasync fn two() {}\n\nfn no_test() {}\n";

    /// A table with a valid row for each rule. `changes` replaces rows, or removes a row if its text is empty.
    fn table(changes: &[(&str, &str)]) -> String {
        let mut text = String::from("# Rules\n\n| id | rule | tests |\n|---|:--|---|\n");
        for id in rules() {
            let good = format!("| {id} | a rule | `room::one` |");
            let row = changes.iter().find(|(changed, _)| *changed == id);
            text.push_str(row.map_or(good.as_str(), |(_, row)| row));
            text.push('\n');
        }
        text
    }

    fn checked(changes: &[(&str, &str)]) -> Checklist {
        let files =
            ["mcp-proto/tests/it/room.rs", "mcp-proto/src/a/room.rs", "server/tests/it/room.rs"];
        let files = files.map(|path| (path.to_owned(), SOURCE.to_owned()));
        check(&table(changes), &files.into(), &BTreeSet::from(["ping"]))
    }

    /// The only finding in a table with one change, without its position.
    fn finding(id: &str, row: &str) -> String {
        let read = checked(&[(id, row)]);
        let [finding] = read.findings.as_slice() else {
            panic!("{:?}", read.findings);
        };
        finding.split_once(": ").expect("a place").1.to_owned()
    }

    #[test]
    fn a_whole_table_passes_and_clients_are_told() {
        let read = checked(&[
            ("B1", "| B1 | a rule | suite: ping, `src/a/room::two`, `room::one` |"),
            ("H6", "| H6 | a rule | client |"),
            ("H24", "| H24 | a rule | proxy |"),
            ("H3", "| H3 | a rule | `server/room::one` |"),
        ]);
        assert_eq!(read.findings, Vec::<String>::new());
        assert_eq!(read.others, ["H6", "H24"]);
        assert_eq!(read.rows, 177);
    }

    #[test]
    fn each_rule_of_the_table_can_fail() {
        assert_eq!(finding("B2", "| B2 | a rule | |"), "B2 has no test");
        assert_eq!(finding("B2", "| B2 | | client |"), "B2 does not say its rule");
        assert_eq!(finding("B2", "no row"), "no row for B2");
        assert_eq!(
            finding("B2", "| B2 | a rule | client |\n| B2 | a rule | client |"),
            "a second row for B2"
        );
        assert_eq!(
            finding("B21", "| B21 | a rule | client |\n| B22 | a rule | client |"),
            "there is no rule \"B22\""
        );
        assert_eq!(
            finding("B2", "| B2 | a rule | client |\n| B2 | a rule |"),
            "a row is | id | rule | tests |"
        );
    }

    #[test]
    fn a_test_has_to_exist_and_to_be_one() {
        let tests = |tests: &str| finding("B2", &format!("| B2 | a rule | {tests} |"));
        assert_eq!(tests("`attic::one`"), "B2: there is no mcp-proto/tests/it/attic.rs");
        for function in ["on", "helper", "no_test", "one_more"] {
            assert_eq!(
                tests(&format!("`room::two`, `room::{function}`")),
                format!("B2: mcp-proto/tests/it/room.rs has no test {function}")
            );
        }
        assert_eq!(tests("suite: pong"), "B2: the suites have no scenario \"pong\"");
        for form in ["room::one", "`one`", "client, `room::one`", "by review"] {
            assert!(tests(form).contains("is neither"), "{form}");
        }
    }

    #[test]
    fn the_table_is_there() {
        let text = std::fs::read_to_string(xtask::root().join(PATH)).expect("the table");
        assert_eq!(check(&text, &BTreeMap::new(), &BTreeSet::new()).rows, 177);
    }
}
