//! The results: a table of clients and steps, and its place in `mcp-proto/docs/peers.md`.

use std::collections::BTreeMap;
use std::{fmt, fs};

use clap::ValueEnum;

use super::client::{Library, Row};
use super::step::Step;
use xtask::{Result, root};

const PAGE: &str = "mcp-proto/docs/peers.md";
/// The lines around the generated part of the page.
const BEGIN: &str = "<!-- written by `cargo xtask outlive` -->\n";
const END: &str = "<!-- end of what is written -->";
/// The longest text of a failure in the table, in characters.
const MAX_TEXT: usize = 160;

/// The result of a step with one client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Passed,
    /// What was seen.
    Fails(String),
    /// The reason.
    NotApplicable(&'static str),
}

/// The results of all clients.
#[derive(Debug)]
pub(super) struct Table {
    steps: Vec<Step>,
    rows: Vec<(Row, Vec<Cell>)>,
}

impl Table {
    pub(super) fn new(steps: &[Step]) -> Self {
        Self { steps: steps.to_vec(), rows: Vec::new() }
    }

    pub(super) fn add(&mut self, row: Row, cells: Vec<Cell>) {
        self.rows.push((row, cells));
    }

    pub(super) fn has_failures(&self) -> bool {
        self.count(|cell| matches!(cell, Cell::Fails(_))) > 0
    }

    /// How many cells there are of each kind.
    pub(super) fn closing_line(&self) -> String {
        let passed = self.count(|cell| *cell == Cell::Passed);
        let failed = self.count(|cell| matches!(cell, Cell::Fails(_)));
        let others = self.count(|cell| matches!(cell, Cell::NotApplicable(_)));
        format!("{passed} passed, {failed} failed, {others} not applicable")
    }

    fn count(&self, is_counted: impl Fn(&Cell) -> bool) -> usize {
        self.rows.iter().flat_map(|(_, cells)| cells).filter(|cell| is_counted(cell)).count()
    }

    /// Writes the cells into the page. It keeps those that were not played.
    ///
    /// # Errors
    /// When the page has no part for the table, or cannot be written.
    pub(super) fn write(&self) -> Result<()> {
        let path = root().join(PAGE);
        let page = fs::read_to_string(&path)?;
        let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
            let (table, after) = rest.split_once(END)?;
            Some((before, table, after))
        });
        let (before, table, after) = parts.ok_or("the page has no part for the table")?;
        let table = self.merged(table);
        Ok(fs::write(path, format!("{before}{BEGIN}\n{table}\n{END}{after}"))?)
    }

    /// All clients and all steps, with cells of an earlier table where there is no newer one.
    fn merged(&self, earlier: &str) -> String {
        let steps = Step::value_variants();
        let earlier: BTreeMap<String, Vec<&str>> = earlier
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
                let names: Vec<&str> = cells.by_ref().take(3).collect();
                Some((names.join(" | "), cells.collect()))
            })
            .collect();
        let mut text = head(steps);
        for row in Library::value_variants().iter().flat_map(|library| library.rows()) {
            let kept = earlier.get(&row.to_string());
            let played = self.rows.iter().find(|(played, _)| *played == row);
            let cells = steps.iter().enumerate().map(|(n, step)| {
                let at = self.steps.iter().position(|played| played == step);
                let cell = played.zip(at).and_then(|((_, cells), at)| cells.get(at));
                let kept = kept.and_then(|cells| cells.get(n)).unwrap_or(&"not played");
                cell.map_or_else(|| (*kept).to_owned(), Cell::to_string)
            });
            text.push_str(&line(row, cells));
        }
        text
    }
}

/// The head of a table with these steps.
fn head(steps: &[Step]) -> String {
    let names: Vec<String> = steps.iter().map(|step| step.name()).collect();
    let rule = "---|".repeat(names.len());
    format!("| client | era | transport | {} |\n|---|---|---|{rule}\n", names.join(" | "))
}

fn line(row: Row, cells: impl Iterator<Item = String>) -> String {
    let cells: Vec<String> = cells.collect();
    format!("| {row} | {} |\n", cells.join(" | "))
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("ok"),
            Self::NotApplicable(reason) => write!(f, "not applicable: {reason}"),
            Self::Fails(seen) => {
                let seen = seen.replace('|', "/").replace(['\n', '\r'], " ");
                let cut: String = seen.chars().take(MAX_TEXT).collect();
                let dots = if cut.len() < seen.len() { "…" } else { "" };
                write!(f, "fails: {cut}{dots}")
            }
        }
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&head(&self.steps))?;
        for (row, cells) in &self.rows {
            f.write_str(&line(*row, cells.iter().map(Cell::to_string)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failure_fails_and_nothing_else_counts_as_passed() {
        let row = Library::Rmcp.rows().next().expect("a row");
        let mut table = Table::new(&[Step::Kill, Step::LateByte]);
        table.add(row, vec![Cell::Passed, Cell::NotApplicable("pipes")]);
        assert!(!table.has_failures());
        table.add(row, vec![Cell::Fails("a | b\nc".into()), Cell::Fails("x".repeat(200))]);
        assert!(table.has_failures());
        assert_eq!(table.closing_line(), "1 passed, 2 failed, 1 not applicable");
        let text = table.to_string();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("| client | era | transport | kill | late-byte |"));
        let failed = lines.nth(2).expect("a row");
        assert!(failed.contains("| fails: a / b c | fails: xxx"), "{failed}");
        assert!(failed.ends_with("xxx… |"), "{failed}");
    }

    #[test]
    fn cells_that_were_not_played_are_kept() {
        let rows: Vec<Row> = Library::Rmcp.rows().collect();
        let mut first = Table::new(&[Step::Kill, Step::Upgrade]);
        first.add(rows[0], vec![Cell::Passed, Cell::Fails("404".into())]);
        first.add(rows[1], vec![Cell::Passed, Cell::Passed]);
        let mut second = Table::new(&[Step::Upgrade]);
        second.add(rows[0], vec![Cell::Passed]);
        let text = second.merged(&first.merged(""));
        let rows = text.lines().filter(|line| line.contains("rmcp") && line.contains("HTTP"));
        let cells: Vec<&str> = rows.flat_map(|line| line.split(" | ").skip(3).take(3)).collect();
        assert_eq!(cells, ["ok", "ok", "not played"].repeat(2));
    }

    #[test]
    fn the_page_has_a_part_for_the_table() {
        let page = fs::read_to_string(root().join(PAGE)).expect("the page");
        assert!(page.contains(BEGIN) && page.contains(END));
    }
}
