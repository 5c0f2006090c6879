//! The contents of a repository of specifications: specs, changes, and where each part is in its file.

use std::path::PathBuf;
use std::sync::Arc;

/// One file as it was read: its text with a BOM removed and every line end made LF, so that line numbers and offsets
/// are those an editor shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path below the root of the project, with `/` between its parts.
    pub path: PathBuf,
    /// The text.
    pub text: Arc<str>,
    /// SHA-256 of the bytes in the file: equal if nothing has changed.
    pub hash: [u8; 32],
}

/// A line of a file, counted from 1.
pub type Line = u32;

/// One capability: the file `spec.md` in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The folder, such as `auth` or, below other folders, `platform/auth`.
    pub id: String,
    /// The file.
    pub source: Source,
    /// The first heading of level 1; the id if there is none.
    pub title: String,
    /// The text under `## Purpose`; `None` without that heading.
    pub purpose: Option<Section>,
    /// The line of `## Requirements`; `None` without that heading.
    pub requirements_line: Option<Line>,
    /// The requirements in the order of the file, from all sections.
    pub requirements: Vec<Requirement>,
    /// The texts under other headings: an overview, notes, what precedes the first requirement.
    pub sections: Vec<TextSection>,
}

/// A text of a spec that belongs to no requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextSection {
    /// Its heading; empty for the text before any.
    pub title: String,
    /// The line of the heading.
    pub line: Line,
    /// The lines up to the next heading of level 2 or 3, trimmed.
    pub text: String,
    /// Whether its heading has level 3 and is below `## Requirements`, as only requirements should.
    pub among_requirements: bool,
}

/// What is odd about the heading of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oddity {
    /// It is outside of `## Requirements`.
    Outside,
    /// It has this level, and not 3.
    Level(u8),
}

/// The text under a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The line of the heading.
    pub line: Line,
    /// The lines up to the next heading of the same level or above, trimmed at both ends, otherwise unchanged.
    pub text: String,
}

/// One `### Requirement: …` block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// What follows `Requirement:`.
    pub name: String,
    /// The line of the heading.
    pub line: Line,
    /// The prose between the heading and the first scenario, without code blocks and `**Key**: value` lines (unless
    /// there is nothing else), its lines joined by one space.
    pub description: String,
    /// The whole block of the file, including its heading, trimmed at the end.
    pub text: String,
    /// Its scenarios in the order of the file.
    pub scenarios: Vec<Scenario>,
    /// What is odd about its heading; `None` in a delta.
    pub oddity: Option<Oddity>,
}

/// One `#### …` block below a requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// What follows `Scenario:`, or the whole heading if it does not say so; without trailing `#`.
    pub name: String,
    /// The line of the heading.
    pub line: Line,
    /// What holds before: the GIVEN clauses and the ANDs that continue them.
    pub given: Vec<String>,
    /// What happens: the WHEN clauses and the ANDs that continue them.
    pub when: Vec<String>,
    /// What follows from it: the THEN clauses and the ANDs (and BUTs, ORs) that continue them. Of a keyword before a
    /// clause only BUT and OR are kept, since they say something.
    pub then: Vec<String>,
    /// The block of the file, without its heading, trimmed.
    pub text: String,
}

/// A proposal to change specs: a folder with its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name of its folder.
    pub id: String,
    /// For an archived change, the day in the name of its folder, `YYYY-MM-DD`.
    pub archived_on: Option<String>,
    /// The first heading of level 1 of the proposal, without `Change:` before it; else the id with blanks for dashes.
    pub title: String,
    /// `proposal.md`, if there is one.
    pub proposal: Option<Proposal>,
    /// `tasks.md`, if there is one.
    pub tasks: Option<Tasks>,
    /// `design.md`, if there is one.
    pub design: Option<Source>,
    /// `.openspec.yaml`, if there is one.
    pub metadata: Option<Metadata>,
    /// What it changes, by capability, in the order of the capabilities.
    pub deltas: Vec<CapabilityDelta>,
}

/// `.openspec.yaml`: OpenSpec's settings of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metadata {
    /// The file.
    pub source: Source,
    /// The workflow, such as `spec-driven`.
    pub schema: Option<String>,
    /// The day it was made, `YYYY-MM-DD`.
    pub created: Option<String>,
    /// Whether the change should have no deltas. Counts only if there are no problems.
    pub skip_specs: bool,
    /// Whether `skip_specs` is there with anything but `false`, such as `true` or a mistake; in a file that is not
    /// YAML, whether a line begins like it.
    pub names_skip_specs: bool,
    /// Whether a spec that the change empties goes with its last requirement. Counts only if there are no problems.
    pub retire_capabilities: bool,
    /// What is wrong with the file.
    pub problems: Vec<MetadataProblem>,
}

/// What is wrong in an `.openspec.yaml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataProblem {
    /// Where.
    pub line: Line,
    /// What, and what would be right.
    pub text: String,
}

/// `proposal.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The file.
    pub source: Source,
    /// Under `## Why`.
    pub why: Option<Section>,
    /// Under `## What Changes`.
    pub what_changes: Option<Section>,
}

/// `tasks.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tasks {
    /// The file.
    pub source: Source,
    /// Every line with a box, in the order of the file.
    pub items: Vec<Task>,
}

/// One line with a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// The number before its text, such as `1.2`.
    pub number: Option<String>,
    /// The text behind the box and the number.
    pub text: String,
    /// Whether the box is ticked.
    pub done: bool,
    /// Its line.
    pub line: Line,
    /// The heading of level 2 above it.
    pub group: Option<String>,
}

/// What a change does to one capability: its file `specs/<capability>/spec.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityDelta {
    /// The capability: the id of a spec, which may be new.
    pub capability: String,
    /// The file.
    pub source: Source,
    /// The purpose of a new capability.
    pub purpose: Option<Section>,
    /// The changes, in the order of the file, from all sections.
    pub operations: Vec<Delta>,
}

/// One changed requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// What happens to it.
    pub operation: Operation,
    /// Its line.
    pub line: Line,
    /// The requirement: its new text if added or modified; otherwise its name and the text about it.
    pub requirement: Requirement,
    /// The new name of a renamed one.
    pub renamed_to: Option<String>,
}

/// What happens to a requirement.
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

impl Change {
    /// Its files: proposal, tasks, design, then the deltas.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        let proposal = self.proposal.as_ref().map(|proposal| &proposal.source);
        let tasks = self.tasks.as_ref().map(|tasks| &tasks.source);
        let files = proposal.into_iter().chain(tasks).chain(&self.design);
        files.chain(self.deltas.iter().map(|delta| &delta.source))
    }
}

impl Tasks {
    /// How many are ticked.
    #[must_use]
    pub fn completed(&self) -> usize {
        self.items.iter().filter(|task| task.done).count()
    }
}

impl Delta {
    /// The names that it touches, the old one and the new one of a rename; half a rename has one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = [Some(&self.requirement.name), self.renamed_to.as_ref()];
        let names = names.into_iter().flatten();
        names.map(String::as_str).filter(|name| !name.is_empty())
    }
}

impl Operation {
    /// In the order in which a change is applied.
    pub const IN_ORDER: [Self; 4] = [Self::Renamed, Self::Removed, Self::Modified, Self::Added];

    /// The name for clients, in lower case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Removed => "removed",
            Self::Renamed => "renamed",
        }
    }
}
