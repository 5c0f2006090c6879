//! The verdict on changes, with what archiving would refuse.

use super::{Problem, preview};
use crate::project::{Project, ReadError};
use crate::validate::{self, Finding, Item, NOT_ARCHIVABLE, Rules};

/// Checks all active changes, or the one with the id `only`, and whether each could be archived now. What stands in the
/// way of a valid change is a note on it: another change may have to come first.
///
/// # Errors
/// As [`validate::changes`].
pub fn judge(project: &Project, rules: Rules, only: Option<&str>) -> Result<Vec<Item>, ReadError> {
    let mut items = validate::changes(project, rules, only)?;
    for item in &mut items {
        // An item that cannot be read is not a change with this id.
        let problems = preview(project, &item.id).map(|preview| preview.problems).ok();
        item.archivable = Some(problems.as_ref().is_some_and(Vec::is_empty));
        if item.is_valid(false) {
            let problems = problems.iter().flatten();
            item.findings.extend(problems.map(|problem| note(project, problem)));
        }
    }
    Ok(items)
}

fn note(project: &Project, problem: &Problem) -> Finding {
    Finding {
        severity: NOT_ARCHIVABLE.severity,
        file: project.display_path(&problem.path),
        line: problem.line,
        part: problem.part,
        message: format!("archiving would refuse this: {}", problem.message),
        rule: NOT_ARCHIVABLE.name,
        advice: false,
    }
}
