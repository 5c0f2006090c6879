//! Specs: the list of them, the requirements of one, one scenario.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::Budget;
use super::names::{named, nearest};
use crate::model::{Requirement, Scenario, Spec};

/// How much of a purpose stands in the list.
const PURPOSE: Budget = Budget(600);

/// How many names of other scenarios are told.
const MAX_OTHERS: usize = 100;

/// All specs in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecList {
    /// The specs, by id.
    pub specs: Vec<SpecSummary>,
    /// How many specs there are.
    pub total: usize,
    /// Files that could not be read, so that their specs are missing here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<UnreadableFile>,
    /// The offset to call again with for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One spec in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SpecSummary {
    /// Its id.
    pub id: String,
    /// Its first heading.
    pub title: String,
    /// What it is for, cut after 600 characters; empty if it does not say.
    pub purpose: String,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadableFile {
    /// Its path below the root of the project.
    pub file: String,
    /// Why.
    pub problem: String,
}

/// The requirements of a spec without their text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Requirements {
    /// The spec.
    pub spec_id: String,
    /// The requirements in the order of the file.
    pub requirements: Vec<RequirementSummary>,
    /// The file, below the root of the project.
    pub file: String,
    /// How many requirements the spec has.
    pub total: usize,
    /// The offset to call again with for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One requirement in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequirementSummary {
    /// Its name.
    pub name: String,
    /// How many scenarios it has.
    pub scenario_count: usize,
    /// The line of its heading.
    pub line: u32,
}

/// One scenario in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// The file, below the root of the project.
    pub file: String,
    /// The line of the scenario's heading.
    pub line: u32,
    /// The other scenarios of the requirement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_scenarios: Vec<String>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a spec does not have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// No such requirement.
    #[error("the spec {spec:?} has no requirement {asked:?}{}", or(.nearest))]
    Requirement {
        /// The spec.
        spec: String,
        /// What was asked for.
        asked: String,
        /// Names that are like it.
        nearest: Vec<String>,
    },
    /// No such scenario, or none at all.
    #[error("the requirement {requirement:?} of the spec {spec:?} has no scenario{}{}",
        .asked.as_ref().map(|asked| format!(" {asked:?}")).unwrap_or_default(), or(.nearest))]
    Scenario {
        /// The spec.
        spec: String,
        /// The requirement.
        requirement: String,
        /// What was asked for; `None` for the first.
        asked: Option<String>,
        /// Names that are like it.
        nearest: Vec<String>,
    },
}

impl SpecList {
    /// The specs from `offset` on that fit.
    #[must_use]
    pub fn new(
        specs: &[Arc<Spec>],
        unreadable: Vec<UnreadableFile>,
        offset: usize,
        budget: Budget,
    ) -> Self {
        let page = budget.page(specs.iter().map(|spec| SpecSummary::of(spec)), offset);
        Self {
            note: page.note(offset, "specs"),
            specs: page.items,
            total: page.total,
            unreadable,
            next_offset: page.next_offset,
        }
    }
}

impl SpecSummary {
    fn of(spec: &Spec) -> Self {
        let purpose = spec.purpose.as_ref().map_or("", |purpose| &purpose.text);
        Self {
            id: spec.id.clone(),
            title: spec.title.clone(),
            purpose: PURPOSE.beginning(purpose).0,
        }
    }
}

impl Requirements {
    /// The requirements from `offset` on that fit.
    #[must_use]
    pub fn of(spec: &Spec, offset: usize, budget: Budget) -> Self {
        let summary = |requirement: &Requirement| RequirementSummary {
            name: requirement.name.clone(),
            scenario_count: requirement.scenarios.len(),
            line: requirement.line,
        };
        let page = budget.page(spec.requirements.iter().map(summary), offset);
        Self {
            spec_id: spec.id.clone(),
            note: page.note(offset, "requirements"),
            requirements: page.items,
            file: file_of(spec),
            total: page.total,
            next_offset: page.next_offset,
        }
    }
}

impl ScenarioView {
    /// The scenario of that name, or the first one, of the requirement of that name. Names that differ only in case or
    /// blanks will do.
    ///
    /// # Errors
    /// [`Missing`].
    pub fn find(
        spec: &Spec,
        requirement: &str,
        scenario: Option<&str>,
        budget: Budget,
    ) -> Result<Self, Missing> {
        let within = requirement_named(spec, requirement)?;
        let found = match scenario {
            Some(asked) => named(&within.scenarios, |scenario| &scenario.name, asked),
            None => within.scenarios.first(),
        };
        let found = found.ok_or_else(|| Missing::Scenario {
            spec: spec.id.clone(),
            requirement: within.name.clone(),
            asked: scenario.map(shown),
            nearest: nearest(
                scenario.unwrap_or_default(),
                within
                    .scenarios
                    .iter()
                    .map(|scenario| scenario.name.as_str()),
            ),
        })?;
        Ok(Self::new(spec, within, found, budget))
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
            name: scenario.name.clone(),
            when,
            then,
            given,
            spec_id: spec.id.clone(),
            requirement: requirement.name.clone(),
            file: file_of(spec),
            line: scenario.line,
            other_scenarios: others
                .take(MAX_OTHERS)
                .map(|other| other.name.clone())
                .collect(),
            note,
        }
    }
}

/// The requirement of that name.
fn requirement_named<'s>(spec: &'s Spec, asked: &str) -> Result<&'s Requirement, Missing> {
    let found = named(&spec.requirements, |requirement| &requirement.name, asked);
    found.ok_or_else(|| Missing::Requirement {
        spec: spec.id.clone(),
        asked: shown(asked),
        nearest: nearest(
            asked,
            spec.requirements
                .iter()
                .map(|requirement| requirement.name.as_str()),
        ),
    })
}

fn file_of(spec: &Spec) -> String {
    spec.source.path.to_string_lossy().into_owned()
}

/// What somebody asked for, as far as it need be repeated.
fn shown(asked: &str) -> String {
    Budget(200).beginning(asked).0
}

/// Names to offer, as the end of a sentence.
fn or(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; there is {}", quoted(names)),
    }
}

fn quoted(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}
