//! The rules of OpenSpec projects, with the verdicts of OpenSpec's own tool: `openspec validate`, version 1.13.
//!
//! A requirement without a scenario is one finding here, where that tool reports an error and a warning. Otherwise each
//! of its findings is one here, except that a spec without both of its sections gets one for each.

mod against;
mod block;
mod change;
mod delta;
mod operations;
mod purpose;
mod rules;
mod spec;
mod tasks;

pub(super) use change::check as check_change;

use super::finding::{ChangePart, Findings};
use crate::model::{CapabilityDelta, Source, Spec};
use crate::parse::Outline;

/// Checks a spec.
pub(super) fn check_spec(spec: &Spec, findings: &mut Findings) {
    let file = path(&spec.source);
    spec::check(spec, &mut findings.at(&file, None));
}

/// Checks the positions of a spec's headings.
pub(super) fn check_structure(spec: &Spec, findings: &mut Findings) {
    let file = path(&spec.source);
    let outline = Outline::of(&spec.source.text);
    spec::check_structure(&outline, &mut findings.at(&file, None));
}

/// Checks the operations of a delta, including renames in one heading.
pub(super) fn check_operations(
    delta: &CapabilityDelta,
    spec: Option<&Spec>,
    findings: &mut Findings,
) {
    let file = path(&delta.source);
    let at = &mut findings.at(&file, Some(ChangePart::Deltas));
    let plan = delta::plan(delta, true);
    operations::check_clashes(&plan, at);
    if let Some(spec) = spec {
        against::check_scenarios(&plan, &Outline::of(&delta.source.text), spec, at);
    }
}

/// The path of a file for answers.
pub(super) fn path(source: &Source) -> String {
    let parts = source.path.components().map(|part| part.as_os_str().to_string_lossy());
    parts.collect::<Vec<_>>().join("/")
}
