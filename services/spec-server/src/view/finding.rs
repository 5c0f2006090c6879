//! Validation findings in an answer.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::Budget;
use super::preview::ProblemView;
use crate::validate::{Finding, Report};

/// The verdict on specs or changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct Verdict {
    /// Whether there is no error and, if it was asked strictly, no warning.
    pub valid: bool,
    /// What must be fixed.
    pub errors: Vec<FindingView>,
    /// What should be fixed, and must be if it was asked strictly.
    pub warnings: Vec<FindingView>,
    /// What is worth knowing, such as what archiving would refuse.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<FindingView>,
    /// Whether archiving would accept all of these changes now, apart from open tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archivable: Option<bool>,
    /// The verdict in a sentence; why it cannot be archived.
    pub summary: String,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingView {
    /// Where, and what.
    #[serde(flatten)]
    pub problem: ProblemView,
    /// The rule that is broken.
    pub rule: String,
    /// It is advice, and makes nothing invalid.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub advice: bool,
}

impl Verdict {
    /// The findings of a report that fit, the errors first.
    pub fn of(report: &Report, budget: Budget) -> Self {
        let share = budget.share(3);
        let [errors, warnings, notes] = [&report.errors, &report.warnings, &report.infos]
            .map(|findings| share.page(findings.iter().map(FindingView::of), 0));
        let cut = [&errors, &warnings, &notes].iter().any(|page| page.next_offset.is_some());
        Self {
            valid: report.valid,
            note: cut.then(|| {
                format!(
                    "only the first {} of {} errors, {} of {} warnings and {} of {} notes are listed; fix them and ask again, \
                     or ask for one id at a time",
                    errors.items.len(),
                    errors.total,
                    warnings.items.len(),
                    warnings.total,
                    notes.items.len(),
                    notes.total
                )
            }),
            errors: errors.items,
            warnings: warnings.items,
            notes: notes.items,
            archivable: report.archivable,
            summary: report.summary.clone(),
        }
    }
}

impl FindingView {
    /// The finding in an answer.
    pub fn of(finding: &Finding) -> Self {
        Self {
            problem: ProblemView::of(finding),
            rule: finding.rule.to_owned(),
            advice: finding.advice,
        }
    }
}
