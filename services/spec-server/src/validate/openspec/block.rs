//! One requirement with its text and its scenarios.

use std::collections::HashMap;
use std::ops::Range;

use crate::model::Line;
use crate::parse::{Outline, description, headings, named_requirement, scenario_name, trim};

/// A requirement in a spec or a delta.
#[derive(Debug, Clone)]
pub(super) struct Block<'t> {
    /// The name without a closing run of `#`.
    pub(super) name: &'t str,
    /// The heading and the lines after it.
    pub(super) lines: Range<Line>,
}

/// How many scenarios a requirement has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Scenarios {
    /// How many have content.
    pub(super) full: usize,
    /// The first scenario that consists only of a heading.
    pub(super) bare: Option<Line>,
}

/// The requirements in some lines. Each ends at the next one or at the end of the lines.
pub(super) fn blocks<'t>(outline: &Outline<'t>, lines: Range<Line>) -> Vec<Block<'t>> {
    let mut blocks: Vec<Block<'t>> = Vec::new();
    for heading in outline.headings_in(lines.clone()) {
        let Some(name) = named_requirement(outline, heading) else {
            continue;
        };
        if let Some(last) = blocks.last_mut() {
            last.lines.end = heading.line;
        }
        let lines = heading.line..lines.end;
        blocks.push(Block { name, lines });
    }
    blocks
}

impl Block<'_> {
    pub(super) fn line(&self) -> Line {
        self.lines.start
    }

    fn below(&self) -> Range<Line> {
        self.lines.start.saturating_add(1)..self.lines.end
    }

    /// Its prose up to the first heading.
    pub(super) fn prose(&self, outline: &Outline<'_>) -> String {
        prose(outline, self.below())
    }

    pub(super) fn scenarios(&self, outline: &Outline<'_>) -> Scenarios {
        let mut scenarios = Scenarios::default();
        let mut heads = headings(outline, self.below()).filter(|h| h.level <= 4).peekable();
        while let Some(heading) = heads.next() {
            if heading.level == 4 {
                let end = heads.peek().map_or(self.lines.end, |next| next.line);
                scenarios.count(outline, heading.line, end);
            }
        }
        scenarios
    }

    /// The names of its scenarios, with or without content, each as often as it occurs.
    pub(super) fn scenario_names<'o>(&self, outline: &Outline<'o>) -> Vec<&'o str> {
        headings(outline, self.below()).filter_map(scenario_name).collect()
    }
}

impl Scenarios {
    /// Counts the scenario with its heading on `line`, which ends before `end`.
    pub(super) fn count(&mut self, outline: &Outline<'_>, line: Line, end: Line) {
        match trim(outline.text_of(line.saturating_add(1)..end)) {
            "" => self.bare = self.bare.or(Some(line)),
            _ => self.full += 1,
        }
    }

    /// The problem if no scenario counts.
    pub(super) fn problem(self, requirement: &str) -> Option<(Option<Line>, String)> {
        const RIGHT: &str = "write `#### Scenario: <name>` with its steps below, such as `- **WHEN** …` and `- **THEN** …`";
        match self {
            Self { full: 1.., .. } => None,
            Self { bare: Some(_), .. } => Some((
                self.bare,
                format!(
                    "the requirement {requirement:?} has no scenario with anything in it; {RIGHT}"
                ),
            )),
            Self { bare: None, .. } => {
                Some((None, format!("the requirement {requirement:?} has no scenario; {RIGHT}")))
            }
        }
    }
}

/// The prose in `lines` up to the first heading, without code and, unless there is nothing else, `**Key**: value`
/// lines.
pub(super) fn prose(outline: &Outline<'_>, lines: Range<Line>) -> String {
    let end = headings(outline, lines.clone()).next().map_or(lines.end, |heading| heading.line);
    description(outline, lines.start..end)
}

/// Whether a text contains SHALL or MUST, as whole words in capitals.
pub(super) fn is_normative(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .any(|word| matches!(word, "SHALL" | "MUST"))
}

/// The names that are in `names` more often than in `others`, in the order of `names`.
pub(super) fn missing<'n>(names: &[&'n str], others: &[&str]) -> Vec<&'n str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    for name in others {
        *left.entry(name).or_default() += 1;
    }
    let is_missing = |name: &&&str| match left.get_mut(**name) {
        Some(count @ 1..) => {
            *count -= 1;
            false
        }
        _ => true,
    };
    names.iter().filter(is_missing).copied().collect()
}
