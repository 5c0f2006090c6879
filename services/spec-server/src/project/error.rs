//! Why a project or a part of it cannot be read, in words that help.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::parse::NotUtf8;

/// Why no project was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// No folder from there upwards has one.
    #[error(
        "no project at {} or above it: neither `openspec/` nor `.spox/config.toml` is there; go to a repository that has \
         one, or name it with --root",
        .0.display()
    )]
    NotFound(PathBuf),
    /// The folder that was named has none.
    #[error("{} is not a project: {hint}", path.display())]
    NotAProject {
        /// The folder.
        path: PathBuf,
        /// What was found there instead, and what would be right.
        hint: String,
    },
    /// `.spox/config.toml` cannot be used.
    #[error("{}: {problem}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// The system's word.
    #[error("{}: {error}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A spec.
    Spec,
    /// An active change.
    Change,
    /// An archived change.
    Archived,
}

/// Why something in a project cannot be read. Paths are below the root of the project.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// None has that name.
    #[error("{kind} {id:?} was not found{}", nearest_in_words(nearest))]
    NotFound {
        /// What was asked for.
        kind: Kind,
        /// Its name as it was asked for.
        id: String,
        /// At most three names that are most like it, the nearest first.
        nearest: Vec<String>,
    },
    /// No spec or change can have that name.
    #[error("{id:?} cannot be the id of a {kind}: {problem}")]
    BadId {
        /// What was asked for.
        kind: Kind,
        /// The name.
        id: String,
        /// Why not.
        problem: &'static str,
    },
    /// The file is longer than is read.
    #[error("{} has more than {limit} bytes, which is the most that is read of one file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
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
    /// It leads out of the project.
    #[error("{} is a symbolic link that leads out of the project: it is not followed", .0.display())]
    OutOfRoot(PathBuf),
    /// It is not a file or a link to one where a file is required, or not a folder where a folder is required.
    #[error("{} is not a {wanted}", path.display())]
    NotA {
        /// What it was read as: `file` or `folder`.
        wanted: &'static str,
        /// What is there.
        path: PathBuf,
    },
    /// It is there and cannot be read as what it is.
    #[error("{}: {problem}", path.display())]
    Refused {
        /// The file or folder.
        path: PathBuf,
        /// Why, and what would be right.
        problem: String,
    },
    /// The system's word.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
}

impl ReadError {
    /// Whether there is nothing of that name, or can be nothing.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::NotFound { .. } | Self::BadId { .. })
    }
}

/// What is most like what was asked for, as the end of a sentence.
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
