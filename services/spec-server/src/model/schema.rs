//! The workflow of a change: which artifacts it consists of, in which order they are written, and which of them has the
//! tasks.

mod builtin;

use std::path::PathBuf;

use glob::{MatchOptions, Pattern};

pub(crate) use builtin::{spec_driven, spec_oxide};

/// The name of the workflow that comes with OpenSpec.
pub(crate) const SPEC_DRIVEN: &str = "spec-driven";

/// A workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Its artifacts, in the order in which they are written.
    pub artifacts: Vec<Artifact>,
    /// How to work on the tasks.
    pub apply_instruction: Option<String>,
    /// The pattern of the files with the tasks, if it names one.
    pub tracked: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// What is odd about it, although it can be used.
    pub notes: Vec<String>,
}

/// The origin of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It comes with the tools.
    BuiltIn,
    /// The project defines it, in this folder.
    Own(PathBuf),
    /// It does not exist or is not valid, for this reason. Changes are read as if it were the built-in one.
    Unknown(String),
}

/// One artifact of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its id, such as `proposal`.
    pub id: String,
    /// Its files, below the folder of the change: a path or a pattern.
    pub files: String,
    /// Its purpose.
    pub description: String,
    /// How to write it.
    pub instruction: Option<String>,
    /// The template: its text if the workflow is built in, else the name of its file.
    pub template: String,
    /// The ids of the artifacts that come before it.
    pub requires: Vec<String>,
}

impl Schema {
    /// The stand-in for a workflow that cannot be used.
    pub(crate) fn unknown(name: &str, reason: String) -> Self {
        Self { name: name.to_owned(), origin: Origin::Unknown(reason), ..spec_driven() }
    }

    /// The artifact with this id, ignoring case.
    pub fn artifact(&self, id: &str) -> Option<&Artifact> {
        self.artifacts.iter().find(|artifact| artifact.id.eq_ignore_ascii_case(id))
    }

    /// Whether it exists and is valid.
    pub const fn is_known(&self) -> bool {
        !matches!(self.origin, Origin::Unknown(_))
    }
}

impl Artifact {
    /// The only file that it can have; `None` for a pattern.
    pub fn file(&self) -> Option<&str> {
        let literal = self.files.strip_prefix("./").unwrap_or(&self.files);
        (!literal.contains(SPECIAL)).then_some(literal)
    }
}

/// The paths that match a workflow's pattern, in their order. `*`, `?` and `**` are supported, and match no name that
/// begins with a dot. A pattern with brackets or braces matches nothing.
pub(super) fn matching<'p>(paths: impl Iterator<Item = &'p str>, pattern: &str) -> Vec<&'p str> {
    const OPTIONS: MatchOptions = MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    if !pattern.contains(SPECIAL) {
        let literal = pattern.strip_prefix("./").unwrap_or(pattern);
        return paths.filter(|path| *path == literal).collect();
    }
    match Pattern::new(pattern) {
        Ok(wanted) if !pattern.contains(['[', '{']) => {
            paths.filter(|path| wanted.matches_with(path, OPTIONS)).collect()
        }
        _ => Vec::new(),
    }
}

/// The characters that make a pattern of a path.
const SPECIAL: [char; 4] = ['*', '?', '[', '{'];
