//! The rules of OpenSpec projects, by name.

use crate::validate::finding::Rule;

// Rules for a spec.
pub(super) const PURPOSE_MISSING: Rule = Rule::error("purpose-missing");
pub(super) const PURPOSE_PLACEHOLDER: Rule = Rule::warning("purpose-placeholder");
pub(super) const PURPOSE_SHORT: Rule = Rule::warning("purpose-short");
pub(super) const REQUIREMENTS_MISSING: Rule = Rule::error("requirements-missing");
pub(super) const REQUIREMENTS_EMPTY: Rule = Rule::error("requirements-empty");
pub(super) const REQUIREMENT_LONG: Rule = Rule::info("requirement-long");
pub(super) const REQUIREMENT_OUTSIDE: Rule = Rule::error("requirement-outside");
pub(super) const REQUIREMENT_DUPLICATE: Rule = Rule::error("requirement-duplicate");
pub(super) const DELTA_HEADING: Rule = Rule::error("delta-heading-in-spec");

// Rules for a requirement, in a spec or a delta.
pub(super) const TEXT_MISSING: Rule = Rule::error("requirement-text-missing");
pub(super) const NORMATIVE_WORD: Rule = Rule::warning("normative-word-missing");
pub(super) const SCENARIO_MISSING: Rule = Rule::error("scenario-missing");

// Rules for a delta.
pub(super) const SECTIONS_MISSING: Rule = Rule::error("delta-sections-missing");
pub(super) const SECTIONS_EMPTY: Rule = Rule::error("delta-sections-empty");
pub(super) const HEADING_IGNORED: Rule = Rule::info("heading-ignored");
pub(super) const REQUIREMENT_IGNORED: Rule = Rule::warning("requirement-ignored");
pub(super) const RENAME_HALF: Rule = Rule::error("rename-half");
pub(super) const RENAME_DUPLICATE: Rule = Rule::error("rename-duplicate");
pub(super) const OPERATIONS_CLASH: Rule = Rule::error("operations-clash");
pub(super) const RENAME_CLASH: Rule = Rule::error("rename-clash");
pub(super) const SCENARIOS_DROPPED: Rule = Rule::error("scenarios-dropped");

// Rules for a change.
pub(super) const CHANGE_NESTED: Rule = Rule::error("change-nested");
pub(super) const DELTA_AT_ROOT: Rule = Rule::error("delta-at-root");
pub(super) const DELTA_UNREAD: Rule = Rule::error("delta-unread");
pub(super) const DELTAS_MISSING: Rule = Rule::error("deltas-missing");
pub(super) const METADATA_INVALID: Rule = Rule::error("metadata-invalid");
pub(super) const SKIP_SPECS: Rule = Rule::info("skip-specs");
pub(super) const SKIP_SPECS_CLASH: Rule = Rule::error("skip-specs-clash");
pub(super) const TASK_GROUP: Rule = Rule::warning("task-group");
pub(super) const TASK_DUPLICATE: Rule = Rule::warning("task-duplicate");
pub(super) const TASK_BOXES: Rule = Rule::warning("task-boxes-missing");
pub(super) const SPEC_UNREADABLE: Rule = Rule::error("spec-unreadable");
pub(super) const FOLDER_PARTIAL: Rule = Rule::info("folder-partial");
pub(super) const WORKFLOW: Rule = Rule::info("workflow");
