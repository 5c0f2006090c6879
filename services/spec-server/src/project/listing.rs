//! Limits for reading, and the result of reading all items of one kind.

use std::path::PathBuf;
use std::sync::Arc;

/// Limits for reading. Whatever exceeds a limit is reported, not silently left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The largest size of one file, in bytes.
    pub file_bytes: u64,
    /// The largest total size of the texts in one list, in bytes.
    pub total_bytes: u64,
    /// The most specs, and the most deltas of one change.
    pub specs: usize,
    /// The most active changes, and the most archived changes.
    pub changes: usize,
    /// The most nested folders in an id.
    pub depth: usize,
}

/// All items of one kind.
#[derive(Debug)]
pub struct Listing<T> {
    /// The items in the order of their ids.
    pub items: Vec<Arc<T>>,
    /// Items that exist but could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// A file or folder that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its path below the root of the project.
    pub path: PathBuf,
    /// The problem, as a sentence that names the file.
    pub problem: String,
}

impl Default for Limits {
    /// 4 MiB per file, 256 MiB in total, 20,000 specs, 5,000 changes, 16 folders.
    fn default() -> Self {
        Self {
            file_bytes: 4 * 1024 * 1024,
            total_bytes: 256 * 1024 * 1024,
            specs: 20_000,
            changes: 5_000,
            depth: 16,
        }
    }
}
