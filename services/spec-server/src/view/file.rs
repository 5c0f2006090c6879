//! A file of a change, or beside a spec, in an answer.

use schemars::JsonSchema;
use serde::Serialize;

/// A file by its name and size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileView {
    /// Its path below the folder.
    pub file: String,
    /// Its size.
    pub bytes: u64,
}
