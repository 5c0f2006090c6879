//! The rules of a change.

use super::{against, delta, operations, rules, tasks};
use crate::model::{CapabilityDelta, Change, Origin, SPEC_DRIVEN};
use crate::parse::{self, Outline};
use crate::project::Project;
use crate::validate::finding::{ChangePart, Findings};

/// Checks a change.
pub(in crate::validate) fn check(project: &Project, change: &Change, findings: &mut Findings) {
    let own = project.display_path(&project.folder_of(change));
    let nested = change.nested();
    if let Some(first) = nested.first() {
        let message = format!(
            "this is not a change: it is a folder around {}; changes stand side by side: name them like {:?}",
            nested.join(", "),
            format!("{}-{}", change.id, first.replace('/', "-"))
        );
        let mut at = findings.at(&own, Some(ChangePart::Proposal));
        at.add(rules::CHANGE_NESTED, None, message);
        return;
    }
    if change.is_partial {
        let message = "not all of this folder was looked at: it has more than 10,000 files and folders or 16 levels, or files that \
                       cannot be read";
        let mut at = findings.at(&own, Some(ChangePart::Deltas));
        at.add(rules::FOLDER_PARTIAL, None, message);
    }
    let operations: usize =
        change.deltas.iter().map(|delta| check_delta(project, delta, findings)).sum();
    let misplaced = check_misplaced(change, &own, findings);
    check_presence(change, &own, (operations, misplaced), findings);
    check_tasks(change, findings);
    check_schema(project, change, &own, findings);
}

/// Checks one delta; returns the number of its operations.
fn check_delta(project: &Project, delta: &CapabilityDelta, findings: &mut Findings) -> usize {
    let file = super::path(&delta.source);
    let outline = Outline::of(&delta.source.text);
    let plan = delta::plan(delta, false);
    let at = &mut findings.at(&file, Some(ChangePart::Deltas));
    operations::check(delta, &plan, &outline, at);
    match project.existing_spec(&delta.capability) {
        Ok(spec) => {
            if let Some(spec) = &spec {
                against::check_scenarios(&plan, &outline, spec, at);
            }
        }
        Err(error) if !plan.modified.is_empty() => {
            let message =
                format!("what is to be modified cannot be compared with the spec: {error}");
            at.add(rules::SPEC_UNREADABLE, None, message);
        }
        Err(_) => {}
    }
    plan.operations()
}

/// Reports deltas in places that are not read. Returns whether there are any.
fn check_misplaced(change: &Change, own: &str, findings: &mut Findings) -> bool {
    let mut found = change.file("specs/spec.md").is_some();
    if found {
        let message = "a delta needs the folder of its capability, `specs/<capability>/spec.md`; directly in `specs/` it \
                       is not read";
        let file = format!("{own}/specs/spec.md");
        let mut at = findings.at(&file, Some(ChangePart::Deltas));
        at.add(rules::DELTA_AT_ROOT, None, message);
    }
    for file in change.below("specs/") {
        let name = file.name();
        let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
        if name == "spec.md" || !end.eq_ignore_ascii_case("md") {
            continue;
        }
        let path = format!("{own}/{}", file.path);
        let Some(source) = &file.text else { continue };
        if parse::delta(stem, source.clone()).sections.is_empty() {
            continue;
        }
        found = true;
        let right = match file.folder() {
            "specs" => format!("specs/{stem}/spec.md"),
            folder => format!("{folder}/spec.md"),
        };
        let message = format!(
            "this looks like a delta but is not read, since it is not called spec.md; move it to {right}"
        );
        let mut at = findings.at(&path, Some(ChangePart::Deltas));
        at.add(rules::DELTA_UNREAD, None, message);
    }
    found
}

/// A change must have deltas, or declare that it has none.
fn check_presence(
    change: &Change,
    own: &str,
    (operations, misplaced): (usize, bool),
    findings: &mut Findings,
) {
    // Where to fix it: in an empty delta, else in the proposal if it exists.
    let file = match change.deltas.first() {
        Some(delta) => super::path(&delta.source),
        None if change.file("proposal.md").is_some() => format!("{own}/proposal.md"),
        None => own.to_owned(),
    };
    let metadata = format!("{own}/.openspec.yaml");
    let about_metadata = &mut findings.at(&metadata, Some(ChangePart::Deltas));
    let skip = skip_specs(change);
    if let SkipSpecs::Broken(problem) = &skip {
        let message = format!(
            "`skip_specs` is set here, but counts only in a file that is right as a whole ({problem}); correct it, such as \
             `schema: spec-driven` and `skip_specs: true`"
        );
        about_metadata.add(rules::METADATA_INVALID, None, message);
    }
    let skip = skip == SkipSpecs::Yes;
    let has_files = change.file("specs").is_some() || change.below("specs/").next().is_some();
    if skip && has_files {
        let message = "`skip_specs` says that this change has no deltas, but there are files in `specs/`; remove the one or \
                       the other";
        about_metadata.add(rules::SKIP_SPECS_CLASH, None, message);
    } else if skip {
        let message = "`skip_specs` is set: this change is to have no deltas, and has none";
        about_metadata.add(rules::SKIP_SPECS, None, message);
    } else if operations == 0 && !misplaced {
        let message = "this change has no deltas; write `specs/<capability>/spec.md` with a section such as `## ADDED \
                       Requirements`, or, if no spec is to change, `skip_specs: true` into its .openspec.yaml";
        let mut at = findings.at(&file, Some(ChangePart::Deltas));
        at.add(rules::DELTAS_MISSING, None, message);
    }
}

fn check_tasks(change: &Change, findings: &mut Findings) {
    // Where no artifact has the tasks, `tasks.md` is only a file.
    if !change.schema.is_known() || change.schema.tracked.is_none() {
        return;
    }
    let lists: Vec<_> =
        change.tasks.iter().map(|tasks| (super::path(&tasks.source), tasks)).collect();
    tasks::check_boxes(&lists, findings);
    if change.schema.origin == Origin::BuiltIn {
        tasks::check_numbers(&lists, findings);
    }
}

/// Reports a workflow that cannot be used, or that is odd.
fn check_schema(project: &Project, change: &Change, own: &str, findings: &mut Findings) {
    let file = match &change.schema.origin {
        Origin::Own(folder) => project.display_path(&folder.join("schema.yaml")),
        _ => own.to_owned(),
    };
    let mut at = findings.at(&file, Some(ChangePart::Proposal));
    // Problems of the metadata are reported where they matter.
    let is_broken =
        change.metadata.as_ref().is_some_and(|it| !it.problems.is_empty() || it.skip_specs);
    if let Origin::Unknown(reason) = &change.schema.origin
        && !is_broken
    {
        let message = format!(
            "the workflow {:?} cannot be used: {reason}; the change is read as {SPEC_DRIVEN}",
            change.schema.name
        );
        at.add(rules::WORKFLOW, None, message);
    }
    for note in &change.schema.notes {
        at.add(rules::WORKFLOW, None, note);
    }
}

/// Whether a change declares that it has no deltas.
#[derive(Debug, PartialEq, Eq)]
enum SkipSpecs {
    No,
    Yes,
    /// The declaration is in an invalid file. The reason is in the text.
    Broken(String),
}

/// What the metadata declare about deltas. The declaration counts only if all metadata are valid and their workflow
/// exists.
fn skip_specs(change: &Change) -> SkipSpecs {
    let Some(metadata) = &change.metadata else {
        return SkipSpecs::No;
    };
    match metadata.problems.first() {
        Some(problem) if metadata.names_skip_specs => {
            SkipSpecs::Broken(format!("line {}: {}", problem.line, problem.text))
        }
        Some(_) => SkipSpecs::No,
        None if !metadata.skip_specs => SkipSpecs::No,
        None => match &change.schema.origin {
            Origin::Unknown(reason) => SkipSpecs::Broken(format!(
                "the schema {:?} cannot be used: {reason}",
                change.schema.name
            )),
            _ => SkipSpecs::Yes,
        },
    }
}
