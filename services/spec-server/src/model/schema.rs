//! The workflow of a change: which artifacts it consists of, in which order they are written, and which of them has the
//! tasks.

mod builtin;
mod glob;

use std::path::PathBuf;

pub(crate) use builtin::{spec_driven, spec_oxide};
pub(crate) use glob::matching;

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
        (!literal.contains(['*', '?', '[', '{'])).then_some(literal)
    }
}
