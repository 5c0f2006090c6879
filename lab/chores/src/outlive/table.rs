//! The results: a table of clients and steps, and its place in `mcp-proto/docs/peers.md`.

use std::fmt;
use std::fs;

use super::client::Row;
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

    /// Replaces the generated part of the page.
    ///
    /// # Errors
    /// When the page has no such part, or cannot be written.
    pub(super) fn write(&self) -> Result<()> {
        let path = root().join(PAGE);
        let page = fs::read_to_string(&path)?;
        let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(END)?;
            Some((before, after))
        });
        let (before, after) = parts.ok_or("the page has no part for the table")?;
        Ok(fs::write(path, format!("{before}{BEGIN}\n{self}\n{END}{after}"))?)
    }
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
        let names: Vec<String> = self.steps.iter().map(|step| step.name()).collect();
        writeln!(f, "| client | era | transport | {} |", names.join(" | "))?;
        writeln!(f, "|---|---|---|{}", "---|".repeat(names.len()))?;
        for (Row { library, era, transport }, cells) in &self.rows {
            let cells: Vec<String> = cells.iter().map(Cell::to_string).collect();
            writeln!(f, "| {library} | {era} | {transport} | {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::client::Library;
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
    fn the_page_has_a_part_for_the_table() {
        let page = fs::read_to_string(root().join(PAGE)).expect("the page");
        assert!(page.contains(BEGIN) && page.contains(END));
    }
}
