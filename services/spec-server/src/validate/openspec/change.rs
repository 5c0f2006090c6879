//! The rules of a change.

use super::folder::Folder;
use super::glob::matching;
use super::workflow::{SkipSpecs, Workflow, skip_specs, workflow};
use super::{against, delta, operations, rules, tasks};
use crate::model::{CapabilityDelta, Change, Tasks};
use crate::parse::{self, Outline};
use crate::project::Project;
use crate::validate::finding::{ChangePart, Findings};

/// Checks a change.
pub(in crate::validate) fn check(project: &Project, change: &Change, findings: &mut Findings) {
    let base = match change.archived_on {
        Some(_) => &project.layout().archive,
        None => &project.layout().changes,
    };
    let path = base.join(&change.id);
    let own = project.display_path(&path);
    let folder = Folder::at(&path);
    let nested = folder.nested();
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
    if folder.is_partial {
        let message = "not all of this folder was looked at: it has more than 10,000 files and folders or 16 levels, or files that \
                       cannot be read";
        let mut at = findings.at(&own, Some(ChangePart::Deltas));
        at.add(rules::FOLDER_PARTIAL, None, message);
    }
    let operations: usize =
        change.deltas.iter().map(|delta| check_delta(project, delta, findings)).sum();
    let misplaced = check_misplaced(project, &folder, &own, findings);
    check_presence(project, change, &folder, &own, (operations, misplaced), findings);
    check_tasks(project, change, &folder, &own, findings);
}

/// Checks one delta; returns the number of its operations.
fn check_delta(project: &Project, delta: &CapabilityDelta, findings: &mut Findings) -> usize {
    let file = super::path(&delta.source);
    let outline = Outline::of(&delta.source.text);
    let plan = delta::plan(&outline);
    let at = &mut findings.at(&file, Some(ChangePart::Deltas));
    operations::check(&plan, &outline, at);
    match project.existing_spec(&delta.capability) {
        Ok(spec) => {
            if let Some(spec) = &spec {
                against::check_scenarios(&plan, &outline, spec, at);
            }
            if !at.fails() {
                against::check_applicable(&plan, &outline, spec.as_deref(), at);
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
fn check_misplaced(project: &Project, folder: &Folder, own: &str, findings: &mut Findings) -> bool {
    let mut found = folder.has("specs/spec.md");
    if found {
        let message = "a delta needs the folder of its capability, `specs/<capability>/spec.md`; directly in `specs/` it \
                       is not read";
        let file = format!("{own}/specs/spec.md");
        let mut at = findings.at(&file, Some(ChangePart::Deltas));
        at.add(rules::DELTA_AT_ROOT, None, message);
    }
    for file in folder.below("specs/") {
        let name = file.name();
        let (stem, end) = name.rsplit_once('.').unwrap_or((name, ""));
        if name == "spec.md" || !end.eq_ignore_ascii_case("md") {
            continue;
        }
        let path = format!("{own}/{}", file.path);
        let Ok(Some(source)) = project.source(&project.root().join(&path)) else {
            continue;
        };
        if delta::plan(&Outline::of(&source.text)).sections.is_empty() {
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
    project: &Project,
    change: &Change,
    folder: &Folder,
    own: &str,
    (operations, misplaced): (usize, bool),
    findings: &mut Findings,
) {
    // Where to fix it: in an empty delta, else in the proposal if it exists.
    let file = match change.deltas.first() {
        Some(delta) => super::path(&delta.source),
        None if folder.has("proposal.md") => format!("{own}/proposal.md"),
        None => own.to_owned(),
    };
    let metadata = format!("{own}/.openspec.yaml");
    let about_metadata = &mut findings.at(&metadata, Some(ChangePart::Deltas));
    let skip = skip_specs(project, change.metadata.as_ref());
    if let SkipSpecs::Broken(problem) = &skip {
        let message = format!(
            "`skip_specs` is set here, but counts only in a file that is right as a whole ({problem}); correct it, such as \
             `schema: spec-driven` and `skip_specs: true`"
        );
        about_metadata.add(rules::METADATA_INVALID, None, message);
    }
    let skip = skip == SkipSpecs::Yes;
    let has_files = folder.has("specs") || folder.below("specs/").next().is_some();
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

fn check_tasks(
    project: &Project,
    change: &Change,
    folder: &Folder,
    own: &str,
    findings: &mut Findings,
) {
    let workflow = workflow(project, change);
    let files = match &workflow {
        Workflow::SpecDriven => matching(folder, "tasks.md"),
        Workflow::Own(Some(pattern)) => matching(folder, pattern),
        Workflow::Own(None) | Workflow::Unknown => Vec::new(),
    };
    let read = |file: &String| -> Option<(String, Tasks)> {
        let path = format!("{own}/{file}");
        let source = project.source(&project.root().join(&path)).ok()??;
        Some((path, parse::tasks(source)))
    };
    let lists: Vec<_> = files.iter().filter_map(read).collect();
    // A file that cannot be read may be the one with the checkboxes.
    if lists.len() == files.len() {
        tasks::check_boxes(&lists, findings);
    }
    if workflow == Workflow::SpecDriven {
        tasks::check_numbers(&lists, findings);
    }
}
