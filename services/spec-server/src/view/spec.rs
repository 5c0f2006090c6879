//! Specs: the list of them, and the requirements of one.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, name, notes, sentence};
use crate::model::{Requirement, Spec};
use crate::project::Unreadable;

/// How much of a purpose stands in the list.
const PURPOSE: Budget = Budget(600);

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

impl SpecList {
    /// The specs from `offset` on that fit.
    #[must_use]
    pub fn new(
        specs: &[Arc<Spec>],
        unreadable: &[Unreadable],
        offset: usize,
        budget: Budget,
    ) -> Self {
        let page = budget.page(specs.iter().map(|spec| SpecSummary::of(spec)), offset);
        let (unreadable, unlisted) = UnreadableFile::some(unreadable, budget);
        Self {
            note: notes([page.note(offset, "specs"), unlisted]),
            specs: page.items,
            total: page.total,
            unreadable,
            next_offset: page.next_offset,
        }
    }
}

impl UnreadableFile {
    /// Those that fit into a part of an answer, and that there are more, if there are.
    pub(super) fn some(all: &[Unreadable], budget: Budget) -> (Vec<Self>, Option<String>) {
        let told = all.iter().map(|unreadable| Self {
            file: unreadable.path.to_string_lossy().into_owned(),
            problem: sentence(&unreadable.problem),
        });
        let page = budget.share(4).page(told, 0);
        let note = page.next_offset.map(|some| {
            format!(
                "only {some} of the {} files that could not be read are named",
                page.total
            )
        });
        (page.items, note)
    }
}

impl SpecSummary {
    fn of(spec: &Spec) -> Self {
        let purpose = spec.purpose.as_ref().map_or("", |purpose| &purpose.text);
        Self {
            id: spec.id.clone(),
            title: name(&spec.title),
            purpose: PURPOSE.beginning(purpose).0,
        }
    }
}

impl Requirements {
    /// The requirements from `offset` on that fit.
    #[must_use]
    pub fn of(spec: &Spec, offset: usize, budget: Budget) -> Self {
        let summary = |requirement: &Requirement| RequirementSummary {
            name: name(&requirement.name),
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

/// The file of a spec, below the root of the project.
pub(super) fn file_of(spec: &Spec) -> String {
    spec.source.path.to_string_lossy().into_owned()
}
