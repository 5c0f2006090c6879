//! Answers about specs and changes, as types that are serialized to JSON: the same for MCP and for `--json` on the
//! command line.
//!
//! Every answer has a size limit. Left-out parts are never dropped silently: `note` explains what is missing and how to
//! get it.

mod bound;
mod change;
mod content;
mod file;
mod finding;
mod found;
mod names;
mod preview;
mod project;
mod scenario;
mod schema;
mod spec;
mod step;

pub(crate) use bound::notes;
pub use bound::{Budget, Page};
pub use change::{ChangeList, ChangeSummary, TaskProgress};
pub use content::{ChangeView, DeltaItem, DeltaView, ProposalView, TaskView, TasksView};
pub use file::FileView;
pub use finding::{FindingView, Verdict};
pub use found::{HitView, SearchResults};

pub use preview::{ArchivedView, PreviewView, ProblemView, SpecPreview, TickedTask};
pub use project::ProjectView;
pub use scenario::{Missing, ScenarioView};
pub use spec::{
    Detail, ListDetail, RequirementView, Requirements, Selection, SpecList, SpecSummary,
    UnreadableFile, malformed,
};
pub use step::{StepView, WrittenView};
