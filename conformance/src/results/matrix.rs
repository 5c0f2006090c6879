//! Cases by targets: one row for each case, with all its revisions.

use std::collections::BTreeMap;

use super::{Case, Outcome, Results};

/// A case, and how it went with each target.
pub(super) struct Row<'a> {
    /// The case as any target had it.
    pub(super) case: &'a Case,
    /// One for each target, in their order.
    pub(super) cells: Vec<Cell>,
}

/// How a case went with one target, over all revisions.
pub(super) struct Cell {
    /// The worst of them; nothing if it was not tried.
    pub(super) outcome: Option<Outcome>,
    /// How many revisions went so.
    so: usize,
    /// In how many it was tried.
    of: usize,
}

impl Cell {
    /// A mark and, where revisions differ, how many it is true of.
    pub(super) fn text(&self) -> String {
        let mark = match self.outcome {
            None => return String::new(),
            Some(outcome) => mark(outcome),
        };
        if self.so == self.of || self.outcome == Some(Outcome::Holds) {
            mark.to_owned()
        } else {
            format!("{mark} {}/{}", self.so, self.of)
        }
    }
}

/// The sign for an outcome.
pub(super) fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "✓",
        Outcome::Finding => "✗",
        Outcome::Known => "✗ known",
        Outcome::Fixed => "✓ fixed",
        Outcome::Inapplicable => "–",
        Outcome::Unclear => "?",
    }
}

/// What the signs mean.
pub(super) const LEGEND: &str = "✓ holds, ✗ does not hold, – does not apply, ? could not be judged, empty: not \
    checked. ✗ 2/5: in two of the five revisions in which it was checked.";

/// The rows, in the order in which cases first came.
pub(super) fn rows(results: &Results) -> Vec<Row<'_>> {
    let mut order: Vec<&Case> = Vec::new();
    let mut cells: BTreeMap<(&str, usize), Vec<Outcome>> = BTreeMap::new();
    for (index, target) in results.targets.iter().enumerate() {
        for case in &target.cases {
            if !order.iter().any(|known| known.name == case.name) {
                order.push(case);
            }
            cells.entry((&case.name, index)).or_default().push(case.verdict);
        }
    }
    let none = Vec::new();
    let cell = |case: &Case, index| {
        let all = cells.get(&(case.name.as_str(), index)).unwrap_or(&none);
        let worst = all.iter().copied().max_by_key(|it| weight(*it));
        Cell {
            outcome: worst,
            so: all.iter().filter(|it| Some(**it) == worst).count(),
            of: all.len(),
        }
    };
    let row = |case| Row {
        case,
        cells: (0..results.targets.len()).map(|index| cell(case, index)).collect(),
    };
    order.into_iter().map(row).collect()
}

/// The order of outcomes, most important first.
fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Inapplicable => 0,
        Outcome::Holds => 1,
        Outcome::Unclear => 2,
        Outcome::Known => 3,
        Outcome::Fixed => 4,
        Outcome::Finding => 5,
    }
}

/// Findings of one target that differ in the revision alone.
pub(super) struct Group<'a> {
    /// The first of them.
    pub(super) case: &'a Case,
    /// The revisions.
    pub(super) revisions: Vec<&'a str>,
}

impl Group<'_> {
    /// The revisions in brackets after a space; nothing for a client, which is asked in scenes.
    pub(super) fn within(&self) -> String {
        match self.revisions.join(", ") {
            none if none.is_empty() => none,
            revisions => format!(" ({revisions})"),
        }
    }
}

/// The cases that did not hold, those together that were seen alike.
pub(super) fn groups(cases: &[Case]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let shown = |case: &&Case| {
        matches!(
            case.verdict,
            Outcome::Finding | Outcome::Known | Outcome::Fixed | Outcome::Unclear
        )
    };
    for case in cases.iter().filter(shown) {
        let alike = groups.iter_mut().find(|group| {
            let first = group.case;
            (&first.name, first.verdict, &first.seen) == (&case.name, case.verdict, &case.seen)
        });
        match alike {
            Some(group) => group.revisions.push(&case.revision),
            None => groups.push(Group { case, revisions: vec![&case.revision] }),
        }
    }
    groups
}
