//! A change, in full or in part.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, MAX_NAMES, name, notes};
use super::change::TaskProgress;
use crate::model::{CapabilityDelta, Change, Delta, Section};
use crate::validate::ChangePart;

/// A full change divides the size limit of an answer by this number among its parts.
const SECTIONS: usize = 5;

/// A change in full, or one section of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(transform = super::schema::terse)]
pub struct ChangeView {
    /// The change.
    pub change_id: String,
    /// Why and what; both are empty without a proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<ProposalView>,
    /// What is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksView>,
    /// How it is to be done, if there is a design.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// What becomes of the requirements, by capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deltas: Option<BTreeMap<String, DeltaView>>,
    /// The offset to call again with, with the same section, for the rest of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
    /// What is missing here and how to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProposalView {
    /// The text under "Why".
    pub why: String,
    /// The text under "What Changes".
    pub what_changes: String,
}

/// The tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TasksView {
    /// The whole file.
    pub content: String,
    /// Ticked boxes.
    pub completed: usize,
    /// All boxes.
    pub total: usize,
}

/// What becomes of one capability.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeltaView {
    /// Below the root of the project.
    pub file: String,
    /// The purpose of a new capability.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The changed requirements in the order of the file.
    pub items: Vec<DeltaItem>,
}

/// What becomes of one requirement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeltaItem {
    /// One of added, modified, removed, renamed.
    pub operation: String,
    /// The requirement; its old name if it is renamed.
    pub name: String,
    /// Its new name if it is renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
    /// The names of its scenarios, at most 100.
    pub scenarios: Vec<String>,
    /// The requirement as it is to be, or what is said about it.
    pub text: String,
    /// The line of its heading.
    pub line: u32,
}

impl ChangeView {
    /// The whole change. Each part that is too long is cut separately.
    pub fn whole(change: &Change, budget: Budget) -> Self {
        let share = budget.share(SECTIONS);
        let mut cut = Vec::new();
        let mut text = |section: ChangePart, text: &str| {
            let (text, was_cut) = share.beginning(text);
            if was_cut && !cut.contains(&section.name()) {
                cut.push(section.name());
            }
            text
        };
        let proposal = ProposalView {
            why: text(ChangePart::Proposal, section(why(change))),
            what_changes: text(ChangePart::Proposal, section(what_changes(change))),
        };
        let tasks = TasksView {
            content: text(ChangePart::Tasks, tasks(change)),
            ..TasksView::progress_of(change)
        };
        let design = change.design.as_ref();
        let design = design.map(|design| text(ChangePart::Design, &design.text));
        let (deltas, more) = deltas(change, 0, share);
        if more.is_some() {
            cut.push(ChangePart::Deltas.name());
        }
        let note = (!cut.is_empty()).then(|| {
            format!("too long and cut: {}; call again with section for more of one", cut.join(", "))
        });
        Self {
            change_id: change.id.clone(),
            proposal: Some(proposal),
            tasks: Some(tasks),
            design,
            deltas: Some(deltas),
            next_offset: None,
            note,
        }
    }

    /// One section: from the character `offset` on, or in deltas from that capability or requirement on. `None` if the
    /// change does not have this section.
    pub fn section(
        change: &Change,
        asked: ChangePart,
        offset: usize,
        budget: Budget,
    ) -> Option<Self> {
        let mut view = Self { change_id: change.id.clone(), ..Self::default() };
        let unit = match asked {
            ChangePart::Proposal => {
                change.proposal.as_ref()?;
                let why = section(why(change));
                let half = budget.share(2);
                let (what_changes, next) = half.part(section(what_changes(change)), offset);
                let (why, cut) = match offset {
                    0 => half.beginning(why),
                    // It is in the first part.
                    _ => (String::new(), false),
                };
                if cut {
                    view.note =
                        Some("`why` is too long and cut; the file has all of it".to_owned());
                }
                view.proposal = Some(ProposalView { why, what_changes });
                view.next_offset = next;
                "characters of what_changes"
            }
            ChangePart::Tasks => {
                change.tasks.as_ref()?;
                let (content, next) = budget.part(tasks(change), offset);
                view.tasks = Some(TasksView { content, ..TasksView::progress_of(change) });
                view.next_offset = next;
                "characters"
            }
            ChangePart::Design => {
                let (design, next) = budget.part(&change.design.as_ref()?.text, offset);
                view.design = Some(design);
                view.next_offset = next;
                "characters"
            }
            ChangePart::Deltas => {
                let (deltas, next) = deltas(change, offset, budget);
                view.deltas = Some(deltas);
                view.next_offset = next;
                "changed requirements"
            }
        };
        if let Some(next) = view.next_offset {
            let more = format!("there are more {unit}; call again with offset {next}");
            view.note = notes([view.note, Some(more)]);
        }
        Some(view)
    }
}

impl TasksView {
    /// The progress, without the text.
    fn progress_of(change: &Change) -> Self {
        let progress = TaskProgress::of(change);
        Self { content: String::new(), completed: progress.completed, total: progress.total }
    }
}

fn why(change: &Change) -> Option<&Section> {
    change.proposal.as_ref()?.why.as_ref()
}

fn what_changes(change: &Change) -> Option<&Section> {
    change.proposal.as_ref()?.what_changes.as_ref()
}

fn section(section: Option<&Section>) -> &str {
    section.map_or("", |section| &section.text)
}

fn tasks(change: &Change) -> &str {
    change.tasks.as_ref().map_or("", |tasks| &tasks.source.text)
}

/// The deltas from the part `offset` on that fit, and the offset of the rest. Each capability is a part, followed by
/// each of its requirements. A capability that continues from an earlier page is listed again with its file.
fn deltas(
    change: &Change,
    offset: usize,
    budget: Budget,
) -> (BTreeMap<String, DeltaView>, Option<usize>) {
    let mut parts = Vec::new();
    for delta in &change.deltas {
        parts.push((delta, None));
        parts.extend(delta.operations.iter().map(|one| (delta, Some(one))));
    }
    let mut views = BTreeMap::new();
    if let Some((delta, Some(_))) = parts.get(offset) {
        let continued = DeltaView { purpose: None, ..DeltaView::of(delta, budget) };
        views.insert(delta.capability.clone(), continued);
    }
    let rows = parts.iter().map(|(delta, operation)| {
        let begins = operation.is_none().then(|| DeltaView::of(delta, budget));
        let item = operation.map(|operation| DeltaItem::of(operation, budget));
        (&*delta.capability, begins, item)
    });
    let page = budget.page(rows, offset);
    for (capability, begins, item) in page.items {
        if let Some(view) = begins {
            views.insert(capability.to_owned(), view);
        }
        if let Some(view) = views.get_mut(capability) {
            view.items.extend(item);
        }
    }
    (views, page.next_offset)
}

impl DeltaView {
    /// The view of a capability, without its requirements.
    fn of(delta: &CapabilityDelta, budget: Budget) -> Self {
        let purpose = delta.purpose.as_ref();
        Self {
            file: delta.source.path.to_string_lossy().into_owned(),
            purpose: purpose.map(|purpose| budget.share(8).beginning(&purpose.text).0),
            items: Vec::new(),
        }
    }
}

impl DeltaItem {
    fn of(delta: &Delta, budget: Budget) -> Self {
        let scenarios = delta.requirement.scenarios.iter();
        Self {
            operation: delta.operation.name().to_owned(),
            name: name(&delta.requirement.name),
            renamed_to: delta.renamed_to.as_deref().map(name),
            scenarios: scenarios.take(MAX_NAMES).map(|scenario| name(&scenario.name)).collect(),
            text: budget.beginning(&delta.requirement.text).0,
            line: delta.line,
        }
    }
}
