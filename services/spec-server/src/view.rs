//! What is told of specs and changes, as types that become JSON: the same for MCP and for `--json` on the command line.
//!
//! Every answer is bounded. What does not fit is left out, never silently: `note` says what is missing and how to get it.

mod bound;
mod change;
mod finding;
mod found;
mod names;
mod preview;
mod spec;

pub use bound::{Budget, Page};
pub use change::{
    ChangeList, ChangeSection, ChangeSummary, ChangeView, DeltaItem, DeltaView, ProposalView,
    TaskProgress, TasksView,
};
pub use finding::{FindingView, Verdict};
pub use found::{HitView, SearchResults};
pub use names::{fold, named, nearest};
pub use preview::{ArchivedView, PreviewView, ProblemView, SpecPreview};
pub use spec::{
    Missing, RequirementSummary, Requirements, ScenarioView, SpecList, SpecSummary, UnreadableFile,
};
