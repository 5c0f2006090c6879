//! The verdict on changes, with what archiving would refuse.

use super::Plan;
use crate::project::{Project, ReadError};
use crate::validate::{self, Finding, Item, Severity, WOULD_REFUSE};

/// Checks all active changes, or the one with the id `only`, and whether each could be archived now. What stands in the
/// way of a valid change is a note on it: another change may have to come first.
///
/// # Errors
/// As [`validate::changes`].
pub fn judge(project: &Project, only: Option<&str>) -> Result<Vec<Item>, ReadError> {
    let mut items = validate::changes(project, only)?;
    for item in &mut items {
        // An item that cannot be read is not a change with this id.
        let change = project.change(&item.id);
        let plan = change.and_then(|change| Plan::judged(project, &change, &item.findings));
        let problems = plan.map(|plan| plan.preview().problems).ok();
        item.archivable = Some(problems.as_ref().is_some_and(Vec::is_empty));
        if item.is_valid(false) {
            let notes = problems.into_iter().flatten().map(|problem| Finding {
                severity: Severity::Info,
                message: format!("{WOULD_REFUSE}{}", problem.message),
                ..problem
            });
            item.findings.extend(notes);
        }
    }
    Ok(items)
}
