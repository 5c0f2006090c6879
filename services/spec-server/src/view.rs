//! What is told of specs and changes, as types that become JSON: the same for MCP and for `--json` on the command line.
//!
//! Every answer is bounded. What does not fit is left out, never silently: `note` says what is missing and how to get it.

mod bound;
mod change;
mod content;
mod finding;
mod found;
mod names;
mod preview;
mod scenario;
mod spec;

pub use bound::{Budget, Page};
pub use change::{ChangeList, ChangeSummary, TaskProgress};
pub use content::{ChangeSection, ChangeView, DeltaItem, DeltaView, ProposalView, TasksView};
pub use finding::{FindingView, Verdict};
pub use found::{HitView, SearchResults};
pub use names::{fold, named};
pub use preview::{ArchivedView, PreviewView, ProblemView, SpecPreview};
pub use scenario::{Missing, ScenarioView};
pub use spec::{RequirementSummary, Requirements, SpecList, SpecSummary, UnreadableFile};
