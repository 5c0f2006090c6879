//! One scenario of a spec, and errors for missing items of a spec.

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, MAX_NAMES, name, notes};
use super::names::{all_named, file_of};
use crate::model::{Requirement, Scenario, Spec};
use crate::project::nearest;

/// One scenario in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct ScenarioView {
    /// What the requirement says.
    pub requirement_description: String,
    /// The name of the scenario.
    pub name: String,
    /// What happens; further clauses in lines of their own after "AND ".
    pub when: String,
    /// What follows, clause by clause.
    pub then: Vec<String>,
    /// What holds before, clause by clause.
    pub given: Vec<String>,
    /// The spec.
    pub spec_id: String,
    /// The requirement.
    pub requirement: String,
    /// Below the root of the project.
    pub file: String,
    /// The line of the scenario's heading.
    pub line: u32,
    /// The other scenarios of the requirement, at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_scenarios: Vec<String>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An item that a spec or a workflow does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Missing {
    /// The error code for clients.
    pub code: &'static str,
    message: String,
    /// Names of items that exist, the most similar ones.
    pub nearest: Vec<String>,
}

impl Missing {
    pub(super) fn new(code: &'static str, mut message: String, nearest: Vec<String>) -> Self {
        if !nearest.is_empty() {
            let quoted: Vec<_> = nearest.iter().map(|name| format!("{name:?}")).collect();
            message = format!("{message}; there is {}", quoted.join(", "));
        }
        Self { code, message, nearest }
    }
}

impl ScenarioView {
    /// The scenario with this name, or the first one, in the requirement with this name. Names may differ in case and
    /// blanks.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn find(
        spec: &Spec,
        requirement: &str,
        scenario: Option<&str>,
        budget: Budget,
    ) -> Result<Self, Missing> {
        let same = requirements_named(spec, requirement)?;
        // If several requirements have this name, it is the first one that has the scenario.
        let has = same.iter().find(|within| !alike(within, scenario).is_empty());
        let Some(within) = has.or(same.first()).copied() else {
            return Err(no_requirement(spec, requirement));
        };
        let scenarios = alike(within, scenario);
        let found = scenarios.first().copied();
        let found = found.ok_or_else(|| {
            let asked = scenario.map(|asked| format!(" {:?}", name(asked))).unwrap_or_default();
            let (spec, requirement) = (&spec.id, name(&within.name));
            let names = within.scenarios.iter().map(|scenario| &scenario.name);
            Missing::new(
                "SCENARIO_NOT_FOUND",
                format!(
                    "the requirement {requirement:?} of the spec {spec:?} has no scenario{asked}"
                ),
                like(scenario.unwrap_or_default(), names),
            )
        })?;
        let mut view = Self::new(spec, within, found, budget);
        let shared = [
            shared("requirements", same.iter().map(|one| one.line)),
            shared("scenarios", scenarios.iter().map(|one| one.line)),
        ];
        view.note = notes([view.note].into_iter().chain(shared));
        Ok(view)
    }

    fn new(spec: &Spec, requirement: &Requirement, scenario: &Scenario, budget: Budget) -> Self {
        let share = budget.share(4);
        let (requirement_description, mut cut) = share.beginning(&requirement.description);
        let (when, cut_when) = share.beginning(&scenario.when.join("\nAND "));
        cut |= cut_when;
        let mut clauses = |clauses: &[String]| {
            let page = share.page(clauses.iter(), 0);
            let kept = page.items.into_iter().map(|clause| {
                let (clause, cut_clause) = share.beginning(clause);
                cut |= cut_clause;
                clause
            });
            let kept = kept.collect();
            cut |= page.next_offset.is_some();
            kept
        };
        let (then, given) = (clauses(&scenario.then), clauses(&scenario.given));
        let note = cut.then(|| {
            format!(
                "parts were too long and are cut: the whole text begins at line {} of {}",
                scenario.line,
                file_of(spec)
            )
        });
        let others = requirement.scenarios.iter();
        let others = others.filter(|other| !std::ptr::eq(*other, scenario));
        Self {
            requirement_description,
            name: name(&scenario.name),
            when,
            then,
            given,
            spec_id: spec.id.clone(),
            requirement: name(&requirement.name),
            file: file_of(spec),
            line: scenario.line,
            other_scenarios: others.take(MAX_NAMES).map(|other| name(&other.name)).collect(),
            note,
        }
    }
}

/// The requirements with this name, or the one on this line: at least one.
pub(super) fn requirements_named<'s>(
    spec: &'s Spec,
    asked: &str,
) -> Result<Vec<&'s Requirement>, Missing> {
    let all = &spec.requirements;
    let found = all_named(all, |one| &one.name, |one| one.line, asked);
    if found.is_empty() { Err(no_requirement(spec, asked)) } else { Ok(found) }
}

/// The scenarios with this name, or the one on this line. Without a name, it is the first scenario.
fn alike<'s>(within: &'s Requirement, asked: Option<&str>) -> Vec<&'s Scenario> {
    let all = &within.scenarios;
    match asked {
        Some(asked) => all_named(all, |one| &one.name, |one| one.line, asked),
        None => all.iter().take(1).collect(),
    }
}

fn no_requirement(spec: &Spec, asked: &str) -> Missing {
    let names = spec.requirements.iter().map(|one| &one.name);
    let message = format!("the spec {:?} has no requirement {:?}", spec.id, name(asked));
    Missing::new("REQUIREMENT_NOT_FOUND", message, like(asked, names))
}

/// A note that several items share the given name.
fn shared(what: &str, lines: impl ExactSizeIterator<Item = u32>) -> Option<String> {
    let count = lines.len();
    let lines: Vec<_> = lines.take(MAX_NAMES).map(|line| line.to_string()).collect();
    (count > 1).then(|| {
        let lines = lines.join(", ");
        format!("{count} {what} have this name, on lines {lines}; name one by its line")
    })
}

/// How many names are suggested if none is similar to the given one.
const OFFERED: usize = 3;

/// The most similar names, or the first names if none is similar.
fn like<'n>(asked: &str, names: impl Iterator<Item = &'n String> + Clone) -> Vec<String> {
    let mut offered = nearest(asked, names.clone().cloned());
    if offered.is_empty() {
        offered.extend(names.take(OFFERED).cloned());
    }
    offered.iter().map(|offered| name(offered)).collect()
}
