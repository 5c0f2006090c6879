//! Validation of specs and changes: what is wrong, where, and how to fix it.
//!
//! There are two sets of rules. In an OpenSpec project the verdict on each spec and change, strict or not, is that of
//! OpenSpec's own tool. In a Spec Oxide project it is that of Spec Oxide, except that headings in code blocks do not
//! count. In addition, two active changes that touch the same requirement get a note about each other. This is advice
//! and does not change a verdict.
//!
//! All functions here access the disk and therefore block.

mod conflicts;
mod finding;
mod heading;
mod openspec;
mod report;
mod spec_oxide;

use std::path::Path;
use std::sync::Arc;

pub use finding::{ChangePart, Finding, MAX_FINDINGS, Rule, Severity};
pub use report::{Item, ItemKind, Report};

use finding::Findings;

use crate::model::{Change, Spec};
use crate::project::{Dialect, Project, ReadError, Unreadable};

/// A set of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// The rules of Spec Oxide.
    SpecOxide,
    /// The rules of OpenSpec.
    OpenSpec,
}

/// A file or folder that cannot be read. It is in both sets.
const UNREADABLE: Rule = Rule::error("unreadable");

/// A folder that is a symbolic link, which is not followed.
const LINK: Rule = Rule::warning("link-not-followed").advice();

/// Archiving would refuse the change as long as this is so.
pub(crate) const NOT_ARCHIVABLE: Rule = Rule::info("delta-not-applicable");

/// Two changes touch the same requirement.
const CHANGE_CONFLICT: Rule = Rule::warning("change-conflict").advice();

impl Rules {
    /// Every rule of the set, including the rules of both sets.
    pub fn all(self) -> Vec<Rule> {
        let own: &[Rule] = match self {
            Self::SpecOxide => &spec_oxide::rules::ALL,
            Self::OpenSpec => &openspec::rules::ALL,
        };
        let both = [UNREADABLE, LINK, CHANGE_CONFLICT, heading::HEADING];
        own.iter().copied().chain(both).collect()
    }
}

impl From<Dialect> for Rules {
    fn from(dialect: Dialect) -> Self {
        match dialect {
            Dialect::SpecOxide => Self::SpecOxide,
            Dialect::OpenSpec => Self::OpenSpec,
        }
    }
}

/// The findings about a spec, by line.
pub fn spec(spec: &Spec, rules: Rules) -> Vec<Finding> {
    let mut findings = Findings::default();
    match rules {
        Rules::SpecOxide => spec_oxide::check_spec(spec, &mut findings),
        Rules::OpenSpec => openspec::check_spec(spec, &mut findings),
    }
    let file = openspec::path(&spec.source);
    heading::check(&spec.source, &mut findings.at(&file, None));
    findings.into_sorted()
}

/// Requirements of a spec that are outside of their section or share a name, and headings that belong in a delta. A
/// spec with one of these cannot be changed safely, in either kind of project.
pub fn structure(spec: &Spec) -> Vec<Finding> {
    let mut findings = Findings::default();
    openspec::check_structure(spec, &mut findings);
    findings.into_sorted()
}

/// The findings about a change of `project`, by file and line. Conflicts with other changes are reported by
/// [`changes`].
pub fn change(project: &Project, change: &Change, rules: Rules) -> Vec<Finding> {
    let mut findings = Findings::default();
    match rules {
        Rules::SpecOxide => spec_oxide::check_change(project, change, &mut findings),
        Rules::OpenSpec => openspec::check_change(project, change, &mut findings),
    }
    for delta in &change.deltas {
        let file = openspec::path(&delta.source);
        let mut at = findings.at(&file, Some(ChangePart::Deltas));
        heading::check(&delta.source, &mut at);
    }
    findings.into_sorted()
}

/// Checks all specs, or the one with the id `only`.
///
/// # Errors
/// [`ReadError`] if the folder of specs cannot be listed, or `only` cannot be read.
pub fn specs(project: &Project, rules: Rules, only: Option<&str>) -> Result<Vec<Item>, ReadError> {
    let item = |read: &Arc<Spec>| Item {
        kind: ItemKind::Spec,
        id: read.id.clone(),
        findings: spec(read, rules),
        archivable: None,
    };
    if let Some(id) = only {
        return Ok(vec![item(&project.spec(id)?)]);
    }
    let listing = project.specs()?;
    let mut items: Vec<Item> = listing.items.iter().map(item).collect();
    let base = &project.layout().specs;
    items.extend(unreadable(project, base, ItemKind::Spec, &listing.unreadable));
    items.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(items)
}

/// Checks all active changes, or the one with the id `only`. Conflicts between changes are reported in both cases.
///
/// # Errors
/// [`ReadError`] if the folder of changes cannot be listed, or `only` cannot be read.
pub fn changes(
    project: &Project,
    rules: Rules,
    only: Option<&str>,
) -> Result<Vec<Item>, ReadError> {
    if let Some(id) = only {
        // This gives the error with the nearest ids, before all other changes are read.
        project.change(id)?;
    }
    let listing = project.changes()?;
    let conflicts = conflicts::between(&listing.items);
    let mut items = Vec::new();
    for (read, conflicts) in listing.items.iter().zip(conflicts) {
        if only.is_none_or(|id| id == read.id) {
            let mut findings = change(project, read, rules);
            findings.extend(conflicts.into_sorted());
            items.push(Item {
                kind: ItemKind::Change,
                id: read.id.clone(),
                findings,
                archivable: None,
            });
        }
    }
    if only.is_none() {
        let base = &project.layout().changes;
        items.extend(unreadable(project, base, ItemKind::Change, &listing.unreadable));
        items.sort_by(|a, b| a.id.cmp(&b.id));
    }
    Ok(items)
}

/// Checks all active changes and all specs.
///
/// # Errors
/// [`ReadError`] if one of the folders cannot be listed.
pub fn all(project: &Project, rules: Rules) -> Result<Vec<Item>, ReadError> {
    let mut items = changes(project, rules, None)?;
    items.extend(specs(project, rules, None)?);
    Ok(items)
}

/// Checks all archived changes.
///
/// # Errors
/// [`ReadError`] if the folder of archived changes cannot be listed.
pub fn archived(project: &Project, rules: Rules) -> Result<Vec<Item>, ReadError> {
    let listing = project.archive()?;
    let item = |read: &Arc<Change>| Item {
        kind: ItemKind::Change,
        id: read.id.clone(),
        findings: change(project, read, rules),
        archivable: None,
    };
    let mut items: Vec<Item> = listing.items.iter().map(item).collect();
    let base = &project.layout().archive;
    items.extend(unreadable(project, base, ItemKind::Change, &listing.unreadable));
    Ok(items)
}

/// Files that exist but cannot be read, as separate items.
fn unreadable(project: &Project, base: &Path, kind: ItemKind, found: &[Unreadable]) -> Vec<Item> {
    let base = format!("{}/", project.display_path(base));
    let item = |unreadable: &Unreadable| {
        let path = project.root().join(&unreadable.path);
        let file = project.display_path(&path);
        let mut findings = Findings::default();
        let rule = if path.is_symlink() && path.is_dir() { LINK } else { UNREADABLE };
        findings.at(&file, None).add(rule, None, &unreadable.problem);
        let id = file.strip_prefix(&base).unwrap_or(&file);
        Item {
            kind,
            id: id.strip_suffix("/spec.md").unwrap_or(id).to_owned(),
            findings: findings.into_sorted(),
            archivable: None,
        }
    };
    found.iter().map(item).collect()
}
