//! A change, in full or in part.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::bound::{Budget, MAX_NAMES, name, notes, sentence};
use super::change::TaskProgress;
use super::file::FileView;
use crate::model::{
    CapabilityDelta, Change, ChangeFile, Delta, Origin, Proposal, SPEC_DRIVEN, Section, Source,
    Task,
};
use crate::parse::{self, fold};
use crate::validate::ChangePart;

/// A full change divides the size limit of an answer by this number among its parts.
const SECTIONS: usize = 6;

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
    /// The text of another artifact or file that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its other files, which `section` reads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileView>,
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
    /// The whole file, if it has not both headings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
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
    /// The tasks one by one, where numbers in the text do not name each of them; in a whole change the open ones alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<TaskView>,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TaskView {
    /// Its number or mark, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Its line.
    pub line: u32,
    /// What it says.
    pub text: String,
    /// Whether it is ticked.
    pub done: bool,
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
        let mut text = |section: &'static str, text: &str| {
            let (text, was_cut) = share.beginning(text);
            if was_cut && !cut.contains(&section) {
                cut.push(section);
            }
            text
        };
        let proposal = proposal(change);
        let why = proposal.as_ref().and_then(|proposal| proposal.why.as_ref());
        let what = proposal.as_ref().and_then(|proposal| proposal.what_changes.as_ref());
        let whole = proposal.as_ref().filter(|proposal| !is_usual(proposal));
        let proposal = ProposalView {
            why: text(ChangePart::Proposal.name(), section(why)),
            what_changes: text(ChangePart::Proposal.name(), section(what)),
            text: whole.map(|it| text(ChangePart::Proposal.name(), &it.source.text)),
        };
        let open = share.page(items(change, |task| !task.done), 0);
        let tasks = TasksView {
            content: text(ChangePart::Tasks.name(), &tasks(change)),
            items: open.items,
            ..TasksView::progress_of(change)
        };
        let design = change.text(DESIGN);
        let design = design.map(|design| text(ChangePart::Design.name(), &design.text));
        let (deltas, more) = deltas(change, 0, share);
        if more.is_some() {
            cut.push(ChangePart::Deltas.name());
        }
        let files = share.page(other_files(change), 0);
        if files.next_offset.is_some() {
            cut.push("files");
        }
        let cut = (!cut.is_empty()).then(|| {
            format!("too long and cut: {}; call again with section for more of one", cut.join(", "))
        });
        Self {
            change_id: change.id.clone(),
            proposal: Some(proposal),
            tasks: Some(tasks),
            design,
            deltas: Some(deltas),
            text: None,
            files: files.items,
            next_offset: None,
            note: notes([cut, oddities(change)]),
        }
    }

    /// One section: `proposal`, `tasks`, `design`, `deltas`, the id of another artifact, or a file. It begins at the
    /// character `offset`, in deltas at that capability or requirement. `None` if the change does not have it. A file
    /// that was not read with the change is `read`.
    pub fn section(
        change: &Change,
        asked: &str,
        read: Option<&Source>,
        offset: usize,
        budget: Budget,
    ) -> Option<Self> {
        let mut view = Self { change_id: change.id.clone(), ..Self::default() };
        let part = |text: &str| budget.part(text, offset);
        let unit = match asked.to_lowercase().as_str() {
            "proposal" if proposal(change).as_ref().is_some_and(is_usual) => {
                let proposal = proposal(change)?;
                let half = budget.share(2);
                let (what_changes, next) =
                    half.part(section(proposal.what_changes.as_ref()), offset);
                let (why, cut) = match offset {
                    0 => half.beginning(section(proposal.why.as_ref())),
                    // It is in the first part.
                    _ => (String::new(), false),
                };
                if cut {
                    view.note =
                        Some("`why` is too long and cut; the file has all of it".to_owned());
                }
                view.proposal = Some(ProposalView { why, what_changes, text: None });
                view.next_offset = next;
                "characters of what_changes"
            }
            "tasks" if !change.tasks.is_empty() => {
                let half = budget.share(2);
                let (content, next) = half.part(&tasks(change), offset);
                // They are in the first part.
                let items =
                    half.page(items(change, |_| true), if offset == 0 { 0 } else { usize::MAX });
                view.tasks = Some(TasksView {
                    content,
                    items: items.items,
                    ..TasksView::progress_of(change)
                });
                view.next_offset = next;
                "characters"
            }
            "design" if change.text(DESIGN).is_some() => {
                let (design, next) = part(&change.text(DESIGN)?.text);
                view.design = Some(design);
                view.next_offset = next;
                "characters"
            }
            "deltas" => {
                let (deltas, next) = deltas(change, offset, budget);
                view.deltas = Some(deltas);
                view.next_offset = next;
                "changed requirements"
            }
            _ => {
                let (text, next) = part(&text_of(change, asked, read)?);
                view.text = Some(text);
                view.next_offset = next;
                "characters"
            }
        };
        if let Some(next) = view.next_offset {
            let more = format!("there are more {unit}; call again with offset {next}");
            view.note = notes([view.note, Some(more)]);
        }
        Some(view)
    }

    /// The names that [`ChangeView::section`] accepts for a change.
    pub fn sections(change: &Change) -> Vec<&str> {
        let parts = ["proposal", "tasks", "design", "deltas"];
        let artifacts = change.artifacts().into_iter().filter(|one| !one.files.is_empty());
        let artifacts = artifacts.map(|one| &*one.artifact.id).filter(|id| !parts.contains(id));
        let files = change.files.iter().map(|file| &*file.path);
        parts.into_iter().chain(artifacts).chain(files).collect()
    }
}

impl TasksView {
    /// The progress, without the text.
    fn progress_of(change: &Change) -> Self {
        let progress = TaskProgress::of(change);
        Self { completed: progress.completed, total: progress.total, ..Self::default() }
    }
}

impl TaskView {
    /// The task in an answer.
    pub fn of(task: &Task) -> Self {
        Self { id: task.id.clone(), line: task.line, text: sentence(&task.text), done: task.done }
    }
}

const DESIGN: &str = "design.md";

fn proposal(change: &Change) -> Option<Proposal> {
    change.text("proposal.md").cloned().map(parse::proposal)
}

/// Whether it has both headings. Else only the file says what the proposal is.
fn is_usual(proposal: &Proposal) -> bool {
    proposal.why.is_some() && proposal.what_changes.is_some()
}

fn section(section: Option<&Section>) -> &str {
    section.map_or("", |section| &section.text)
}

/// The text of the tasks. Several files stand one after the other.
fn tasks(change: &Change) -> String {
    joined(&change.tasks.iter().map(|tasks| &tasks.source).collect::<Vec<_>>())
}

/// The tasks one by one, unless each has a number of its own, which the text shows.
fn items(change: &Change, wanted: fn(&Task) -> bool) -> impl ExactSizeIterator<Item = TaskView> {
    let all: Vec<&Task> = change.all_tasks().map(|(_, task)| task).collect();
    let numbers: HashSet<&str> = all.iter().filter_map(|task| task.number.as_deref()).collect();
    let is_clear = numbers.len() == all.len();
    let wanted = all.into_iter().filter(|task| !is_clear && wanted(task));
    wanted.collect::<Vec<_>>().into_iter().map(TaskView::of)
}

/// The text of an artifact or of a file.
fn text_of(change: &Change, asked: &str, read: Option<&Source>) -> Option<String> {
    if let Some(source) = read {
        return Some(source.text.to_string());
    }
    let wanted = fold(asked);
    let same = change.files.iter().find(|file| fold(&file.path) == wanted);
    let texts = match (same, change.schema.artifact(asked)) {
        (Some(file), _) => vec![file.text.as_ref()?],
        (None, Some(artifact)) => {
            let files = change.files_of(artifact);
            files.into_iter().filter_map(|path| change.text(path)).collect()
        }
        (None, None) => change.text(&format!("{wanted}.md")).into_iter().collect(),
    };
    (!texts.is_empty()).then(|| joined(&texts))
}

/// Several texts, each after a comment with its path; one alone without.
fn joined(texts: &[&Source]) -> String {
    match texts {
        [only] => only.text.to_string(),
        texts => {
            let texts = texts
                .iter()
                .map(|text| format!("<!-- {} -->\n\n{}", text.path.display(), text.text));
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

/// The files that the other members of a whole change do not show.
fn other_files(change: &Change) -> impl ExactSizeIterator<Item = FileView> {
    let shown = |file: &ChangeFile| {
        let is = |source: &Source| file.text.as_ref().is_some_and(|text| text.path == source.path);
        matches!(&*file.path, "proposal.md" | DESIGN | ".openspec.yaml")
            || change.tasks.iter().any(|tasks| is(&tasks.source))
            || change.deltas.iter().any(|delta| is(&delta.source))
    };
    let others: Vec<_> = change.files.iter().filter(|file| !shown(file)).collect();
    others.into_iter().map(|file| FileView { file: file.path.clone(), bytes: file.bytes })
}

/// What is odd about a change as a whole.
pub(super) fn oddities(change: &Change) -> Option<String> {
    let nested = change.nested();
    let nested = (!nested.is_empty()).then(|| {
        format!(
            "this is not a change, but a folder around {}; changes stand side by side",
            nested.join(", ")
        )
    });
    let unknown = match &change.schema.origin {
        Origin::Unknown(reason) => Some(format!(
            "its workflow {:?} cannot be used ({reason}); read as {SPEC_DRIVEN}",
            change.schema.name
        )),
        Origin::BuiltIn | Origin::Own(_) => None,
    };
    notes([nested, unknown].into_iter().chain(change.schema.notes.iter().cloned().map(Some)))
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
            line: delta.line(),
        }
    }
}
