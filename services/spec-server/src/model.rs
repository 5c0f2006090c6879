//! The contents of a repository of specifications: specs, changes, and the line of each part in its file.

mod change;
mod schema;

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

pub use change::{ArtifactState, Change, ChangeFile, State};
pub use schema::{Artifact, Origin, Schema};
pub(crate) use schema::{SPEC_DRIVEN, spec_driven, spec_oxide};

/// One file as it was read. Its text has no BOM and LF for every line end, so that line numbers and offsets match those
/// in an editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path below the root of the project, with `/` between its parts.
    pub path: PathBuf,
    /// The text.
    pub text: Arc<str>,
    /// SHA-256 of the bytes in the file. It is equal if nothing has changed.
    pub hash: [u8; 32],
}

/// A line of a file, counted from 1.
pub type Line = u32;

/// One capability: the file `spec.md` in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The name of its folder, such as `auth` or, in nested folders, `platform/auth`.
    pub id: String,
    /// The file.
    pub source: Source,
    /// The first heading of level 1; the id if there is none.
    pub title: String,
    /// The text under `## Purpose`; `None` without that heading.
    pub purpose: Option<Section>,
    /// The requirements in the order of the file, from all sections.
    pub requirements: Vec<Requirement>,
    /// The texts under other headings: an overview, notes, and the text before the first requirement.
    pub sections: Vec<TextSection>,
}

/// A text of a spec that is not part of a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSection {
    /// Its heading; empty for the text before the first heading.
    pub title: String,
    /// The line of the heading.
    pub line: Line,
    /// The lines up to the next heading of level 2 or 3, trimmed.
    pub text: String,
}

/// An irregularity in the heading of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// It is outside of `## Requirements`.
    Outside,
    /// Its heading has this level instead of 3.
    Level(u8),
    /// Its heading does not say `Requirement:`. It counts because it is directly below `## Requirements`.
    Unnamed,
}

/// The text under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The line of the heading.
    pub line: Line,
    /// The lines up to the next heading of the same or a higher level, trimmed at both ends, otherwise unchanged.
    pub text: String,
}

/// One `### Requirement: …` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The text after `Requirement:`.
    pub name: String,
    /// The line of the heading.
    pub line: Line,
    /// The prose between the heading and the first scenario, without code blocks and `**Key**: value` lines (unless
    /// there is nothing else). The lines are joined with one space.
    pub description: String,
    /// The whole block of the file, including its heading, trimmed at the end.
    pub text: String,
    /// Its scenarios in the order of the file.
    pub scenarios: Vec<Scenario>,
    /// The irregularity of its heading; `None` in a delta.
    pub oddity: Option<Oddity>,
}

/// One `#### …` block below a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The text after `Scenario:`, or the whole heading without this word. Trailing `#` are removed.
    pub name: String,
    /// The line of the heading.
    pub line: Line,
    /// The preconditions: the GIVEN clauses and the ANDs that continue them.
    pub given: Vec<String>,
    /// The events: the WHEN clauses and the ANDs that continue them.
    pub when: Vec<String>,
    /// The results: the THEN clauses and the ANDs (and BUTs, ORs) that continue them. Of the keywords before clauses
    /// only BUT and OR are kept, because they carry meaning.
    pub then: Vec<String>,
    /// The block of the file, without its heading, trimmed.
    pub text: String,
}

/// `.openspec.yaml`: OpenSpec's settings of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// The file.
    pub source: Source,
    /// The workflow, such as `spec-driven`.
    pub schema: Option<String>,
    /// The day on which the change was begun, `YYYY-MM-DD`.
    pub created: Option<String>,
    /// Whether the change is meant to have no deltas. Counts only if there are no problems.
    pub skip_specs: bool,
    /// Whether `skip_specs` is present with any value but `false`, such as `true` or a mistake. In a file that is not
    /// YAML, whether a line begins like it.
    pub names_skip_specs: bool,
    /// Whether a spec without remaining requirements is removed. Counts only if there are no problems.
    pub retire_capabilities: bool,
    /// The problems of the file.
    pub problems: Vec<MetadataProblem>,
}

/// A problem in an `.openspec.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataProblem {
    /// The line of the problem.
    pub line: Line,
    /// What is wrong, and how to fix it.
    pub text: String,
}

/// `proposal.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The file.
    pub source: Source,
    /// The section `## Why`.
    pub why: Option<Section>,
    /// The section `## What Changes`.
    pub what_changes: Option<Section>,
}

/// A file with tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tasks {
    /// The file.
    pub source: Source,
    /// Every line with a checkbox, in the order of the file.
    pub items: Vec<Task>,
}

/// One line with a checkbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The number before its text, such as `1.2`.
    pub number: Option<String>,
    /// What it is called: its number, or a mark at its beginning such as `3` or `T001`.
    pub id: Option<String>,
    /// The text after the checkbox and the number or mark.
    pub text: String,
    /// Whether the checkbox is ticked.
    pub done: bool,
    /// Its line.
    pub line: Line,
}

/// The changes to one capability: its file `specs/<capability>/spec.md` in the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityDelta {
    /// The capability: the id of a spec, which may be new.
    pub capability: String,
    /// The file.
    pub source: Source,
    /// The purpose of a new capability.
    pub purpose: Option<Section>,
    /// Its sections, with the lines of their headings.
    pub sections: Vec<(Operation, Line)>,
    /// The changes, in the order of the file, from all sections.
    pub operations: Vec<Delta>,
    /// Requirements outside of all sections, which are not applied.
    pub orphans: Vec<(String, Line)>,
    /// Headings of level 3 under ADDED or MODIFIED that are not requirements.
    pub passed_over: Vec<(String, Line)>,
}

/// One changed requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// The kind of change.
    pub operation: Operation,
    /// Its lines.
    pub lines: Range<Line>,
    /// Whether it is a heading with its block, and not a list item.
    pub is_block: bool,
    /// The requirement: its new text if it is added or modified, otherwise its name and the text about it.
    pub requirement: Requirement,
    /// The new name of a renamed requirement.
    pub renamed_to: Option<String>,
}

/// The kind of change to a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// `## ADDED Requirements`.
    Added,
    /// `## MODIFIED Requirements`: the whole new requirement.
    Modified,
    /// `## REMOVED Requirements`.
    Removed,
    /// `## RENAMED Requirements`.
    Renamed,
}

impl Delta {
    /// Its first line.
    pub const fn line(&self) -> Line {
        self.lines.start
    }

    /// The names that it touches. A rename has the old one and the new one; an incomplete rename has one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = [Some(&self.requirement.name), self.renamed_to.as_ref()];
        let names = names.into_iter().flatten();
        names.map(String::as_str).filter(|name| !name.is_empty())
    }
}

impl Operation {
    /// All operations, in the order in which a change is applied.
    pub const IN_ORDER: [Self; 4] = [Self::Renamed, Self::Removed, Self::Modified, Self::Added];

    /// The name for clients, in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
        }
    }
}
