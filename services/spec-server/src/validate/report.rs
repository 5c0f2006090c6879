//! Items with their findings, and a summary of them.

use super::NOT_ARCHIVABLE;
use super::finding::{Finding, Severity};
use crate::plural::counted;

/// A spec or a change that was checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The kind of item.
    pub kind: ItemKind,
    /// Its id. For an item that cannot be read, its path relative to the folder of specs or changes.
    pub id: String,
    /// The findings, by file and line. Conflicts with other changes come last.
    pub findings: Vec<Finding>,
    /// Whether archiving would accept it now, as far as tasks do not matter; `None` if nobody asked.
    pub archivable: Option<bool>,
}

/// The kind of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemKind {
    /// A change.
    Change,
    /// A spec.
    Spec,
}

/// The findings about some items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Whether all of them are valid: without errors and, if strict, without warnings. Advice does not count.
    pub valid: bool,
    /// The errors, in the order of the items.
    pub errors: Vec<Finding>,
    /// The warnings, advice included.
    pub warnings: Vec<Finding>,
    /// The remaining findings.
    pub infos: Vec<Finding>,
    /// Whether archiving would accept all changes among them now; `None` if nobody asked.
    pub archivable: Option<bool>,
    /// A summary in one sentence, or two: the second says why archiving would refuse changes.
    pub summary: String,
}

impl ItemKind {
    /// The name for clients.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Spec => "spec",
        }
    }
}

impl Item {
    pub(super) fn new(kind: ItemKind, id: &str, findings: Vec<Finding>) -> Self {
        Self { kind, id: id.to_owned(), findings, archivable: None }
    }

    /// Whether no finding makes it invalid.
    pub fn is_valid(&self, strict: bool) -> bool {
        !self.findings.iter().any(|finding| finding.fails(strict))
    }
}

impl Report {
    /// The report on `items`.
    pub fn of(items: &[Item], strict: bool) -> Self {
        let of = |severity| {
            let findings = items.iter().flat_map(|item| &item.findings);
            let findings = findings.filter(move |finding| finding.severity == severity);
            findings.cloned().collect::<Vec<_>>()
        };
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        let invalid = items.iter().filter(|item| !item.is_valid(strict)).count();
        let mut asked = items.iter().filter_map(|item| item.archivable).peekable();
        let archivable = asked.peek().is_some().then(|| asked.all(|can| can));
        let mut summary = summary(items, invalid, strict, [errors.len(), warnings.len()]);
        if let Some(because) = because(items).filter(|_| invalid < items.len()) {
            summary = format!("{summary} Archiving would refuse {because}.");
        }
        Self {
            valid: invalid == 0,
            archivable,
            summary,
            errors,
            warnings,
            infos: of(Severity::Info),
        }
    }
}

/// How a note begins that says why archiving would refuse a change.
pub(crate) const WOULD_REFUSE: &str = "archiving would refuse this: ";

/// How many changes are named that cannot be archived.
const NAMED: usize = 10;

/// How much of a name or a reason a summary repeats, in characters.
const SHOWN: usize = 300;

fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Which changes archiving would refuse, and the first reason.
fn because(items: &[Item]) -> Option<String> {
    let refused: Vec<&Item> = items.iter().filter(|item| item.archivable == Some(false)).collect();
    let first = refused.first()?;
    let refuses = |one: &&Finding| one.rule == NOT_ARCHIVABLE.name || one.fails(false);
    let reason = first.findings.iter().find(refuses);
    let reason = reason.map_or("it is not valid", |reason| reason.message.trim_end_matches('.'));
    let reason = short(reason.strip_prefix(WOULD_REFUSE).unwrap_or(reason));
    if refused.len() == 1 && items.len() == 1 {
        return Some(format!("it: {reason}"));
    }
    let named: Vec<String> = refused.iter().take(NAMED).map(|item| short(&item.id)).collect();
    let more = match refused.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{}{more} (the first: {reason})", named.join(", ")))
}

fn summary(items: &[Item], invalid: usize, strict: bool, [errors, warnings]: [usize; 2]) -> String {
    let things = things(items);
    let count = |count, thing| match count {
        0 => format!("no {thing}s"),
        count => counted(count, thing),
    };
    let found = format!("{}, {}", count(errors, "error"), count(warnings, "warning"));
    let strictly = if strict { ", strictly" } else { "" };
    match (items.len(), invalid) {
        (0, _) => "Nothing to validate.".to_owned(),
        (1, 0) => format!("{things} is valid{strictly}: {found}."),
        (1, _) => format!("{things} is not valid{strictly}: {found}."),
        (_, 0) => format!("All of {things} are valid{strictly}: {found}."),
        (all, invalid) => {
            let is_mixed = items.windows(2).any(|pair| matches!(pair, [a, b] if a.kind != b.kind));
            let things = if is_mixed { format!("{all} items ({things})") } else { things };
            let are = if invalid == 1 { "is" } else { "are" };
            format!("{invalid} of {things} {are} not valid{strictly}: {found}.")
        }
    }
}

/// The items in words: `spec "auth"`, `3 changes and 12 specs`.
fn things(items: &[Item]) -> String {
    if let [only] = items {
        return format!("The {} {:?}", only.kind.name(), only.id);
    }
    let count = |kind| (items.iter().filter(|item| item.kind == kind).count(), kind);
    let kinds = [ItemKind::Change, ItemKind::Spec].map(count).into_iter();
    let counts = kinds.filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, kind)| counted(count, kind.name()));
    counts.collect::<Vec<_>>().join(" and ")
}
