//! The list of specs, and the requirements of one spec.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bound::{Budget, MAX_NAMES, name, notes, sentence};
use super::file::FileView;
use super::names::file_of;
use super::scenario::{Missing, requirements_named};
use crate::model::{Line, Oddity, Requirement, Source, Spec, TextSection};
use crate::parse::{conflict, fold};
use crate::plural::counted;
use crate::project::Unreadable;
use crate::validate::Touching;

/// How much of a purpose is in the list.
const PURPOSE: Budget = Budget(600);

/// The most malformed specs, and the most malformed lines of one spec, that a note names.
const MALFORMED: usize = 10;

/// All specs in brief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is for, cut after 600 characters; empty if it does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
}

/// How much a list has of each item.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ListDetail {
    /// Its id, what it is called, and what it is for or how far it is.
    #[default]
    Full,
    /// Its id.
    Ids,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadableFile {
    /// Its path below the root of the project.
    pub file: String,
    /// Why.
    pub problem: String,
}

/// How much of each requirement an answer has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Detail {
    /// Its name, and how many scenarios it has.
    #[default]
    Names,
    /// Also what it says, and the names of its scenarios.
    Requirements,
    /// Also the scenarios: its whole block.
    Scenarios,
    /// The whole file, as it is; of named requirements their blocks.
    Whole,
}

/// The requested part of a spec.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The detail of each requirement.
    pub detail: Detail,
    /// Only these requirements, by name or line; all of them by default.
    pub names: Vec<String>,
    /// How many requirements to skip. For a whole file, how many characters.
    pub offset: usize,
}

/// The requirements of a spec, in as much detail as was asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct Requirements {
    /// The spec.
    pub spec_id: String,
    /// The requirements in the order of the file; empty where `text` has all of it.
    pub requirements: Vec<RequirementView>,
    /// Below the root of the project.
    pub file: String,
    /// How many requirements the spec has.
    pub total: usize,
    /// The whole file, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The files beside `spec.md`, which `file` reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileView>,
    /// The offset to call again with for the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What is missing here and how to get it; what is malformed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequirementView {
    /// Its name.
    pub name: String,
    /// How many scenarios it has.
    pub scenario_count: usize,
    /// The line of its heading.
    pub line: u32,
    /// What it says; with the detail `scenarios` its whole block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The names of its scenarios, at most 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenarios: Option<Vec<String>>,
    /// The active changes that touch it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// It is a text of the spec that belongs to no requirement.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub section: bool,
}

impl SpecList {
    /// The specs from `offset` on that fit.
    pub fn new(
        specs: &[Arc<Spec>],
        unreadable: &[Unreadable],
        detail: ListDetail,
        offset: usize,
        budget: Budget,
    ) -> Self {
        let page = budget.page(specs.iter().map(|spec| SpecSummary::of(spec, detail)), offset);
        let (unreadable, unlisted) = UnreadableFile::some(unreadable, budget);
        Self {
            note: notes([page.note(offset, "specs"), unlisted, malformed_among(specs)]),
            specs: page.items,
            total: page.total,
            unreadable,
            next_offset: page.next_offset,
        }
    }
}

impl UnreadableFile {
    /// The entries that fit into a part of an answer, and a note if there are more.
    pub(super) fn some(all: &[Unreadable], budget: Budget) -> (Vec<Self>, Option<String>) {
        let files = all.iter().map(|unreadable| Self {
            file: unreadable.path.to_string_lossy().into_owned(),
            problem: sentence(&unreadable.problem),
        });
        let page = budget.share(4).page(files, 0);
        let note = page.next_offset.map(|some| {
            format!("only {some} of the {} files that could not be read are named", page.total)
        });
        (page.items, note)
    }
}

impl SpecSummary {
    fn of(spec: &Spec, detail: ListDetail) -> Self {
        let is_full = detail == ListDetail::Full;
        let purpose = spec.purpose.as_ref().map_or("", |purpose| &purpose.text);
        Self {
            id: spec.id.clone(),
            title: is_full.then(|| name(&spec.title)),
            purpose: is_full.then(|| PURPOSE.beginning(purpose).0),
        }
    }
}

impl Requirements {
    /// The selected requirements, as far as they fit.
    ///
    /// # Errors
    /// [`Missing`] for a name without a requirement.
    pub fn of(
        spec: &Spec,
        asked: &Selection,
        touching: &Touching,
        budget: Budget,
    ) -> Result<Self, Missing> {
        let mut view = Self {
            spec_id: spec.id.clone(),
            file: file_of(spec),
            total: spec.requirements.len(),
            ..Self::default()
        };
        let offset = asked.offset;
        let page_note = if asked.detail == Detail::Whole && asked.names.is_empty() {
            let (text, next) = budget.part(&spec.source.text, offset);
            view.text = Some(text);
            view.next_offset = next;
            next.map(|next| format!("there is more text; call again with offset {next}"))
        } else {
            let selected = selected(spec, &asked.names)?;
            let mut cut = false;
            let views = selected.iter().map(|one| {
                let (view, was_cut) = match one {
                    Selected::Requirement(one) => {
                        RequirementView::of(spec, one, asked.detail, touching, budget)
                    }
                    Selected::Section(one) => RequirementView::of_section(one, budget),
                };
                cut |= was_cut;
                view
            });
            let page = budget.page(views, offset);
            let long = "a text is too long and cut; the detail whole has all of it";
            let note = notes([page.note(offset, "requirements"), cut.then(|| long.to_owned())]);
            view.next_offset = page.next_offset;
            view.requirements = page.items;
            note
        };
        view.note = notes([page_note, malformed(spec)]);
        Ok(view)
    }

    /// A file beside the spec in place of its requirements.
    pub fn file(spec: &Spec, file: &Source, offset: usize, budget: Budget) -> Self {
        let (text, next_offset) = budget.part(&file.text, offset);
        Self {
            spec_id: spec.id.clone(),
            file: file.path.to_string_lossy().into_owned(),
            total: spec.requirements.len(),
            text: Some(text),
            next_offset,
            note: next_offset
                .map(|next| format!("there is more text; call again with offset {next}")),
            ..Self::default()
        }
    }
}

impl RequirementView {
    fn of(
        spec: &Spec,
        requirement: &Requirement,
        detail: Detail,
        touching: &Touching,
        budget: Budget,
    ) -> (Self, bool) {
        let scenarios = || {
            let names = requirement.scenarios.iter().take(MAX_NAMES);
            names.map(|scenario| name(&scenario.name)).collect()
        };
        let (text, scenarios) = match detail {
            Detail::Names => (None, None),
            Detail::Requirements => (Some(&requirement.description), Some(scenarios())),
            Detail::Scenarios | Detail::Whole => (Some(&requirement.text), None),
        };
        let text = text.map(|text| budget.beginning(text));
        let cut = text.as_ref().is_some_and(|(_, cut)| *cut);
        let view = Self {
            name: name(&requirement.name),
            scenario_count: requirement.scenarios.len(),
            line: requirement.line,
            text: text.map(|(text, _)| text),
            scenarios,
            changes: touching.requirement(&spec.id, &requirement.name),
            section: false,
        };
        (view, cut)
    }

    /// The text under another heading.
    fn of_section(section: &TextSection, budget: Budget) -> (Self, bool) {
        let (text, cut) = budget.beginning(&section.text);
        let view = Self {
            name: name(&section.title),
            scenario_count: 0,
            line: section.line,
            text: Some(text),
            scenarios: None,
            changes: Vec::new(),
            section: true,
        };
        (view, cut)
    }
}

/// A part of a spec that was asked for by its name.
enum Selected<'s> {
    Requirement(&'s Requirement),
    Section(&'s TextSection),
}

/// The requirements with these names, including all that share a name, in the order of the file, then the other texts
/// with these names. Without names, all requirements.
fn selected<'s>(spec: &'s Spec, names: &[String]) -> Result<Vec<Selected<'s>>, Missing> {
    let mut lines = BTreeSet::new();
    let mut sections = Vec::new();
    for name in names {
        match requirements_named(spec, name) {
            Ok(named) => lines.extend(named.iter().map(|one| one.line)),
            Err(missing) => {
                let section =
                    spec.sections.iter().find(|section| fold(&section.title) == fold(name));
                sections.push(Selected::Section(section.ok_or(missing)?));
            }
        }
    }
    let all = spec.requirements.iter();
    let requirements = all.filter(|one| names.is_empty() || lines.contains(&one.line));
    Ok(requirements.map(Selected::Requirement).chain(sections).collect())
}

/// Whether a heading is odd in a way.
type IsOdd = fn(Oddity) -> bool;

/// The ways in which headings of requirements are odd.
const ODDITIES: [(IsOdd, &str); 3] = [
    (|oddity| matches!(oddity, Oddity::Outside), "outside of `## Requirements`"),
    (|oddity| matches!(oddity, Oddity::Level(_)), "whose headings do not have exactly three `#`"),
    (
        |oddity| matches!(oddity, Oddity::Unnamed),
        "whose headings do not say `Requirement:`, which a change cannot name",
    ),
];

/// Describes the malformed parts of a spec, which were read anyway.
pub fn malformed(spec: &Spec) -> Option<String> {
    let mut found = Vec::new();
    if let Some(line) = conflict(&spec.source.text) {
        found.push(format!("git could not merge it (line {line}), and both sides are here"));
    }
    if spec.purpose.is_none() {
        found.push("there is no `## Purpose`".to_owned());
    }
    let all = counted(spec.requirements.len(), "requirement");
    for (wanted, what) in ODDITIES {
        let odd = spec.requirements.iter().filter(|one| one.oddity.is_some_and(wanted));
        let lines: Vec<Line> = odd.map(|one| one.line).collect();
        if !lines.is_empty() {
            found.push(format!("{} of {all} {what} ({})", lines.len(), in_lines(&lines)));
        }
    }
    let mut by_name: BTreeMap<String, Vec<Line>> = BTreeMap::new();
    for one in &spec.requirements {
        by_name.entry(fold(&one.name)).or_default().push(one.line);
    }
    let twice = by_name.values().find(|lines| lines.len() > 1);
    if let Some(lines) = twice {
        found.push(format!(
            "requirements that share a name ({}): name one by its line",
            in_lines(lines)
        ));
    }
    (!found.is_empty()).then(|| {
        let found = found.join("; ");
        format!("malformed, but read: {found}. validate_spec says how to fix it")
    })
}

fn malformed_among(specs: &[Arc<Spec>]) -> Option<String> {
    let odd = specs.iter().filter(|spec| malformed(spec).is_some());
    let ids: Vec<&str> = odd.map(|spec| spec.id.as_str()).collect();
    let named = ids.iter().take(MALFORMED).copied().collect::<Vec<_>>();
    let more = match ids.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!ids.is_empty()).then(|| {
        let verb = if ids.len() == 1 { "is" } else { "are" };
        let named = named.join(", ");
        format!(
            "{} {verb} malformed, but read: {named}{more}; validate_spec says how to fix it",
            counted(ids.len(), "spec")
        )
    })
}

fn in_lines(lines: &[Line]) -> String {
    let named = lines.iter().take(MALFORMED).map(Line::to_string);
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let more = if lines.len() > MALFORMED { ", …" } else { "" };
    format!("{word} {}{more}", named.collect::<Vec<_>>().join(", "))
}
