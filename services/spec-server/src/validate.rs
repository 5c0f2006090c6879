//! Validation of specs and changes: what is wrong, where, and how to fix it.
//!
//! There are two sets of rules. In an OpenSpec project the verdict on each spec and change, strict or not, is that of
//! OpenSpec's own tool. In a Spec Oxide project it is that of Spec Oxide, except that headings in code blocks do not
//! count. In addition, two active changes that touch the same requirement get a note about each other, and so does a
//! change whose requirement was modified by one that was archived since. This is advice and does not change a verdict.
//!
//! All functions here access the disk and therefore block.

mod finding;
mod heading;
mod openspec;
mod report;
mod spec_oxide;
mod touching;

use std::path::Path;
use std::sync::Arc;

pub use finding::{ChangePart, Finding, MAX_FINDINGS, Rule, Severity};
pub(crate) use report::WOULD_REFUSE;
pub use report::{Item, ItemKind, Report};
pub use touching::Touching;

use finding::Findings;

use crate::model::{CapabilityDelta, Change, Spec};
use crate::project::{Dialect, Layout, Project, ReadError, Unreadable};

/// A file or folder that cannot be read. It is in both sets.
const UNREADABLE: Rule = Rule::error("unreadable");

/// A folder that is a symbolic link, which is not followed.
const LINK: Rule = Rule::warning("link-not-followed").advice();

/// Archiving would refuse the change as long as this is so.
pub(crate) const NOT_ARCHIVABLE: Rule = Rule::error("delta-not-applicable");

/// A change is not finished.
const TASKS_OPEN: Rule = Rule::error("tasks-open");

/// Two changes touch the same requirement.
const CHANGE_CONFLICT: Rule = Rule::warning("change-conflict").advice();

/// The findings about a spec, by line.
pub fn spec(spec: &Spec, dialect: Dialect) -> Vec<Finding> {
    let mut findings = Findings::default();
    match dialect {
        Dialect::SpecOxide => spec_oxide::check_spec(spec, &mut findings),
        Dialect::OpenSpec => openspec::check_spec(spec, &mut findings),
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

/// The operations of a delta that do not go together, or would lose scenarios of the spec, in either kind of project.
pub(crate) fn delta(delta: &CapabilityDelta, spec: Option<&Spec>) -> Vec<Finding> {
    let mut findings = Findings::default();
    openspec::check_operations(delta, spec, &mut findings);
    findings.into_sorted()
}

/// The findings about a change of `project`, by file and line. Conflicts with other changes are reported by
/// [`changes`].
pub fn change(project: &Project, change: &Change) -> Vec<Finding> {
    let mut findings = Findings::default();
    match project.layout().kind {
        Dialect::SpecOxide => spec_oxide::check_change(project, change, &mut findings),
        Dialect::OpenSpec => openspec::check_change(project, change, &mut findings),
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
pub fn specs(project: &Project, only: Option<&str>) -> Result<Vec<Item>, ReadError> {
    let Layout { kind: dialect, specs: base, .. } = project.layout();
    let item = |read: &Arc<Spec>| Item::new(ItemKind::Spec, &read.id, spec(read, *dialect));
    if let Some(id) = only {
        return Ok(vec![item(&project.spec(id)?)]);
    }
    let listing = project.specs()?;
    let mut items: Vec<Item> = listing.items.iter().map(item).collect();
    items.extend(unreadable(project, base, ItemKind::Spec, &listing.unreadable));
    items.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(items)
}

/// Checks all active changes, or the one with the id `only`. Conflicts between changes are reported in both cases.
///
/// # Errors
/// [`ReadError`] if the folder of changes cannot be listed, or `only` cannot be read.
pub fn changes(project: &Project, only: Option<&str>) -> Result<Vec<Item>, ReadError> {
    if let Some(id) = only {
        // This gives the error with the nearest ids, before all other changes are read.
        project.change(id)?;
    }
    let listing = project.changes()?;
    let touching = Touching::of(&listing.items);
    let archived = archived_since(project, &listing.items);
    let wanted = listing.items.iter().filter(|read| only.is_none_or(|id| id == read.id));
    let mut items: Vec<Item> = wanted
        .map(|read| {
            let mut findings = change(project, read);
            findings.extend(touching.conflicts(&archived, read).into_sorted());
            Item::new(ItemKind::Change, &read.id, findings)
        })
        .collect();
    if only.is_none() {
        let base = &project.layout().changes;
        items.extend(unreadable(project, base, ItemKind::Change, &listing.unreadable));
        items.sort_by(|a, b| a.id.cmp(&b.id));
    }
    Ok(items)
}

/// That a change touches what another has modified that was archived since the change was begun.
pub(crate) fn overtaken(project: &Project, change: &Arc<Change>) -> Vec<Finding> {
    let archived = archived_since(project, std::slice::from_ref(change));
    Touching::default().conflicts(&archived, change).into_sorted()
}

/// What was modified by changes that were archived since the first of `changes` was begun.
fn archived_since(project: &Project, changes: &[Arc<Change>]) -> Touching {
    let begun = changes.iter().filter_map(|change| change.begun()).min();
    // This is advice, which the rest does not depend on: an archive that cannot be listed is told by who lists it.
    let listing = begun.and_then(|day| project.archived_since(day).ok());
    listing.map(|listing| Touching::archived(&listing.items)).unwrap_or_default()
}

/// Checks that all archived changes are finished. Their deltas are not judged: the specs have moved on since.
///
/// # Errors
/// [`ReadError`] if the folder of archived changes cannot be listed.
pub fn archived(project: &Project) -> Result<Vec<Item>, ReadError> {
    let listing = project.archive()?;
    let item = |read: &Arc<Change>| {
        Item::new(ItemKind::Change, &read.id, open_tasks(read).into_iter().collect())
    };
    let mut items: Vec<Item> = listing.items.iter().map(item).collect();
    let base = &project.layout().archive;
    items.extend(unreadable(project, base, ItemKind::Change, &listing.unreadable));
    Ok(items)
}

/// That tasks of a change are open, at the first of them.
pub(crate) fn open_tasks(change: &Change) -> Option<Finding> {
    let (tasks, first) = change.all_tasks().find(|(_, task)| !task.done)?;
    let (done, all) = change.progress();
    let verb = if all - done == 1 { "is" } else { "are" };
    let message = format!("{} of {all} tasks {verb} open", all - done);
    let file = openspec::path(&tasks.source);
    Some(TASKS_OPEN.finding(&file, Some(first.line), Some(ChangePart::Tasks), message))
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
        Item::new(kind, id.strip_suffix("/spec.md").unwrap_or(id), findings.into_sorted())
    };
    found.iter().map(item).collect()
}
