//! The changes of the corpus, each archived by the tool and by us in a project of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use spec_server::archive::{How, archive_change};
use spec_server::project::Project;

use super::corpus::File;
use super::tool::{ArchiveAnswer, Tool};
use super::write;
use crate::validate::all;

/// Where the changes of a project are.
const CHANGES: &str = "openspec/changes/";

/// A change that both sides have been asked to archive.
#[derive(Debug)]
pub(crate) struct Archived {
    pub(crate) id: String,
    /// Why we refused it, or the texts of the specs without their blank lines.
    pub(crate) ours: Result<BTreeMap<String, String>, String>,
    /// The same of the tool.
    pub(crate) theirs: Result<BTreeMap<String, String>, String>,
    /// What either validator says against the specs that we left.
    pub(crate) left_invalid: Vec<String>,
}

/// Archives each change of these files twice.
pub(crate) fn archive_each(tool: &Tool, files: &[File]) -> Vec<Archived> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path().canonicalize().expect("its real path");
    let ids: Vec<String> = changes(files).into_iter().collect();
    let place = |side: &str, id: &str| folder.join(side).join(id);
    let mut asked = Vec::new();
    for id in &ids {
        for side in ["ours", "theirs"] {
            lay(&place(side, id), files, id);
        }
        asked.push(format!("archive\t{}\t{id}", place("theirs", id).display()));
    }
    let theirs = tool.each(&asked);
    let refusals: Vec<Option<String>> = ids.iter().map(|id| ours(&place("ours", id), id)).collect();
    let written: Vec<Vec<(String, PathBuf)>> =
        ids.iter().map(|id| specs(&place("ours", id))).collect();
    let judged: Vec<String> =
        written.iter().flatten().map(|(_, path)| format!("validate\t{}", path.display())).collect();
    let mut judged = tool.each(&judged).into_iter();
    let sides = ids.iter().zip(theirs).zip(refusals).zip(written);
    sides
        .map(|(((id, theirs), refusal), written)| {
            let verdicts = judged.by_ref().take(written.len());
            let mut left_invalid: Vec<String> = verdicts
                .filter(|verdict| !verdict.yes)
                .map(|verdict| verdict.said.join("; "))
                .collect();
            let root = place("ours", id);
            left_invalid.extend(invalid(&root));
            Archived {
                ours: refusal.map_or_else(|| Ok(texts(&root)), Err),
                theirs: their(&theirs, &place("theirs", id)),
                id: id.clone(),
                left_invalid,
            }
        })
        .collect()
}

fn changes(files: &[File]) -> std::collections::BTreeSet<String> {
    let below = files.iter().filter_map(|(path, _)| path.strip_prefix(CHANGES));
    let ids = below.filter_map(|path| path.split_once('/'));
    ids.map(|(id, _)| id.to_owned()).filter(|id| id != "archive" && !id.starts_with('.')).collect()
}

/// The project with one of its changes, and with the one spec that deltas of the corpus are about.
fn lay(root: &Path, files: &[File], id: &str) {
    let folder = format!("{CHANGES}{id}/");
    for (path, text) in files {
        let around = path.starts_with("openspec/schemas/")
            || path == "openspec/config.yaml"
            || path == "openspec/specs/base/gate/spec.md";
        if around || path.starts_with(&folder) {
            write(root, path, text);
        }
    }
}

/// Why we refuse it.
fn ours(root: &Path, id: &str) -> Option<String> {
    let project = Project::open(root).expect("a project");
    let archived =
        archive_change(&project, id, "2026-01-02", How { force: true, ..How::default() });
    archived.err().map(|error| error.to_string())
}

fn their(said: &ArchiveAnswer, root: &Path) -> Result<BTreeMap<String, String>, String> {
    if said.yes { Ok(texts(root)) } else { Err(said.said.join("; ")) }
}

/// What our validator says against the specs of a project.
fn invalid(root: &Path) -> Vec<String> {
    let project = Project::open(root).expect("a project");
    let items = all(&project);
    let specs = items.iter().filter(|item| item.kind.name() == "spec");
    specs
        .filter(|item| !item.is_valid(false))
        .map(|item| format!("{}: {:?}", item.id, item.findings))
        .collect()
}

/// The specs of a project by their paths below `openspec/specs`.
fn specs(root: &Path) -> Vec<(String, PathBuf)> {
    let top = root.join("openspec/specs");
    let mut found = Vec::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(&top).expect("below");
                found.push((below.display().to_string(), path));
            }
        }
    }
    found.sort();
    found
}

/// Their texts without blank lines, and with LF line ends, which the tool always writes.
fn texts(root: &Path) -> BTreeMap<String, String> {
    let text = |path: &Path| {
        let text = fs::read(path).expect("a spec");
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    let specs = specs(root).into_iter();
    specs.map(|(name, path)| (name, text(&path))).collect()
}
