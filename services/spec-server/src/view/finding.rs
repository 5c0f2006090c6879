//! What validation says.

use schemars::JsonSchema;
use serde::Serialize;

/// The verdict on specs or changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Whether there is no error and, if it was asked strictly, no warning.
    pub valid: bool,
    /// What must be mended.
    pub errors: Vec<FindingView>,
    /// What should be mended; must be, if it was asked strictly.
    pub warnings: Vec<FindingView>,
    /// The verdict as a sentence.
    pub summary: String,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingView {
    /// The file, below the root of the project.
    pub file: String,
    /// The line, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// What is wrong and what would be right.
    pub description: String,
    /// Of a change: proposal, tasks, design or deltas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The rule that it breaks.
    pub rule: String,
}
