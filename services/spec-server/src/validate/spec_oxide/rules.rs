//! The rules of Spec Oxide projects, by name. Rules that OpenSpec also has use the same name.

use crate::validate::finding::Rule;

// Rules for a spec.
pub(super) const PURPOSE_MISSING: Rule = Rule::error("purpose-missing");
pub(super) const PURPOSE_SHORT: Rule = Rule::warning("purpose-short");
pub(super) const REQUIREMENTS_MISSING: Rule = Rule::error("requirements-missing");
pub(super) const REQUIREMENTS_EMPTY: Rule = Rule::warning("requirements-empty");
pub(super) const TEXT_MISSING: Rule = Rule::error("requirement-text-missing");
pub(super) const NORMATIVE_WORD: Rule = Rule::warning("normative-word-missing");

// Rules for a requirement, in a spec or a delta.
pub(super) const SCENARIO_MISSING: Rule = Rule::warning("scenario-missing");
pub(super) const WHEN_MISSING: Rule = Rule::error("when-missing");
pub(super) const THEN_MISSING: Rule = Rule::error("then-missing");

// Rules for a change.
pub(super) const PROPOSAL_MISSING: Rule = Rule::error("proposal-missing");
pub(super) const WHY_MISSING: Rule = Rule::error("why-missing");
pub(super) const WHY_SHORT: Rule = Rule::warning("why-short");
pub(super) const WHAT_CHANGES_MISSING: Rule = Rule::error("what-changes-missing");
pub(super) const TASKS_MISSING: Rule = Rule::error("tasks-missing");
pub(super) const TASKS_EMPTY: Rule = Rule::error("tasks-empty");
pub(super) const TASK_NUMBER: Rule = Rule::warning("task-number-missing");
pub(super) const DELTAS_MISSING: Rule = Rule::error("deltas-missing");
pub(super) const DELTA_HEADING: Rule = Rule::error("delta-heading-wrong");
pub(super) const REQUIREMENT_INCOMPLETE: Rule = Rule::warning("requirement-incomplete");
