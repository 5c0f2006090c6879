//! How much is read, and what comes of reading everything of one kind.

use std::path::PathBuf;
use std::sync::Arc;

/// The most that is read. The rest is reported, not left out silently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of one file, in bytes.
    pub file_bytes: u64,
    /// Of all texts that one call lists, in bytes.
    pub total_bytes: u64,
    /// How many specs there may be, and how many deltas one change may have.
    pub specs: usize,
    /// How many changes, and as many archived ones.
    pub changes: usize,
    /// How many folders an id may have one below the other.
    pub depth: usize,
}

/// Everything of one kind, read.
#[derive(Debug)]
pub struct Listing<T> {
    /// In the order of their ids.
    pub items: Vec<Arc<T>>,
    /// What is there and could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// A file or folder that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its path below the root of the project.
    pub path: PathBuf,
    /// What is wrong, in a sentence that names the file.
    pub problem: String,
}

impl Default for Limits {
    /// 4 MiB a file, 256 MiB together, 20,000 specs, 5,000 changes, 16 folders.
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
