//! Why a project or a part of it cannot be read, with hints on how to fix it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::parse::NotUtf8;

/// Why no project was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// No project is in this folder or above it.
    #[error(
        "no project at {} or above it: neither `openspec/` nor `.spox/config.toml` is there; go to a repository that has \
         one, or name it with --root",
        .0.display()
    )]
    NotFound(PathBuf),
    /// The given folder is not a project.
    #[error("{} is not a project: {hint}", path.display())]
    NotAProject {
        /// The folder.
        path: PathBuf,
        /// What was found there instead, and what to use.
        hint: String,
    },
    /// `.spox/config.toml` cannot be used.
    #[error("{}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, and how to fix it.
        problem: String,
    },
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

/// The kind of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A spec.
    Spec,
    /// An active change.
    Change,
    /// An archived change.
    Archived,
}

/// Why an item in a project cannot be read. Paths are relative to the root of the project.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No item has this id.
    #[error("{kind} {id:?} was not found{}", nearest_in_words(nearest))]
    NotFound {
        /// The kind of item.
        kind: Kind,
        /// The given id.
        id: String,
        /// At most three similar ids, the nearest first.
        nearest: Vec<String>,
    },
    /// The id is not valid for a spec or a change.
    #[error("{id:?} cannot be the id of a {kind}: {problem}")]
    BadId {
        /// The kind of item.
        kind: Kind,
        /// The given id.
        id: String,
        /// Why it is not valid.
        problem: &'static str,
    },
    /// The file is larger than the limit.
    #[error("{} has more than {limit} bytes, which is the most that is read of one file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// The file is not text.
    #[error("{}: {problem}", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Where.
        problem: NotUtf8,
    },
    /// The path leads out of the project.
    #[error("{} is a symbolic link that leads out of the project: it is not followed", .0.display())]
    OutOfRoot(PathBuf),
    /// The path is not a file or a link to a file where a file is required, or not a folder where a folder is required.
    #[error("{} is not a {wanted}", path.display())]
    NotA {
        /// The expected kind: `file` or `folder`.
        wanted: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// It exists, but cannot be read as what it should be.
    #[error("{}: {problem}", path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// Why, and how to fix it.
        problem: String,
    },
    /// An I/O error.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

impl ReadError {
    /// Whether the item does not exist, or cannot exist under this id.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::BadId { .. })
    }
}

/// The similar ids, as the end of a sentence.
pub(crate) fn nearest_in_words(nearest: &[String]) -> String {
    match nearest {
        [] => "; no name is like it: list them to see which there are".to_owned(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Spec => "spec",
            Self::Change => "change",
            Self::Archived => "archived change",
        })
    }
}

/// Whether the error means that the path does not exist, also because a parent is a file.
pub(super) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
