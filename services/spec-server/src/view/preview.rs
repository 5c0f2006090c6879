//! What a change would make of the specs.

use schemars::JsonSchema;
use serde::Serialize;

/// What a change would make of the specs if it were archived now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PreviewView {
    /// The change.
    pub change_id: String,
    /// Whether it could be archived as it is.
    pub applicable: bool,
    /// The specs that it changes.
    pub specs: Vec<SpecPreview>,
    /// Why it cannot be archived as it is.
    pub problems: Vec<String>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One spec, before and after.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecPreview {
    /// The capability.
    pub capability: String,
    /// Whether there is no such spec yet.
    pub is_new: bool,
    /// The difference, as a unified diff.
    pub diff: String,
}
