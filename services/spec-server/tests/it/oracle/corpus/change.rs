//! Changes: a good one, and what can be wrong with the files in its folder.

use super::delta::{self, BASE};
use super::page::{Mutation, Page};
use super::random::Random;

/// The files of a change.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) delta: Page,
    pub(crate) tasks: Page,
    pub(super) metadata: String,
    /// Where the delta is; nowhere if empty.
    pub(super) at: String,
    pub(super) has_tasks: bool,
    more: Vec<(String, Vec<u8>)>,
}

pub(super) const SKIP: &str = "schema: spec-driven\nskip_specs: true\n";

/// A change with nothing wrong in it.
pub(crate) fn good(random: &mut Random) -> Draft {
    Draft {
        delta: delta::good(random),
        tasks: Page::new(
            "# Tasks\n\n## 1. Gate\n- [ ] 1.1 Oil it\n- [x] 1.2 Test it\n\n## 2. Bell\n- [ ] 2.1 Hang it\n  - [ ] 2.1.1 Find a hook",
        ),
        metadata: "schema: spec-driven\ncreated: 2026-01-31\n".to_owned(),
        at: format!("specs/{BASE}/spec.md"),
        has_tasks: true,
        more: Vec::new(),
    }
}

impl Draft {
    /// Its files, below its folder; of several with one name the first, and none that another one needs as a folder.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = self.more.clone();
        if !self.at.is_empty() {
            files.push((self.at.clone(), self.delta.bytes()));
        }
        if self.has_tasks {
            files.push(("tasks.md".to_owned(), self.tasks.bytes()));
        }
        if !self.metadata.is_empty() {
            files.push((".openspec.yaml".to_owned(), self.metadata.clone().into_bytes()));
        }
        let paths: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
        let mut index = 0;
        files.retain(|(path, _)| {
            index += 1;
            let folder = format!("{path}/");
            !paths[..index - 1].contains(path)
                && !paths.iter().any(|other| other.starts_with(&folder))
        });
        files
    }

    pub(super) fn add(&mut self, path: &str, text: &str) {
        self.more.push((path.to_owned(), text.to_owned().into_bytes()));
    }

    pub(super) fn skip(&mut self) {
        self.at.clear();
        SKIP.clone_into(&mut self.metadata);
    }

    /// A folder around changes, with nothing of its own.
    fn wrap(&mut self, files: &[(&str, &str)]) {
        self.at.clear();
        self.metadata.clear();
        self.has_tasks = false;
        for (path, text) in files {
            self.add(path, text);
        }
    }
}

const DELTA: &str = "## ADDED Requirements\n\n### Requirement: Else\nIt SHALL.\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

/// What can be wrong with the files of a change, and what only looks so.
pub(crate) const FILES: [Mutation<Draft>; 20] = [
    ("no-delta", |draft, _| draft.at.clear()),
    ("no-tasks", |draft, _| draft.has_tasks = false),
    ("no-metadata", |draft, _| draft.metadata.clear()),
    ("proposal", |draft, random| {
        let text = random.text(&[
            "## Why\nShort.\n",
            "",
            "## Why\n\n## What Changes\n- **gate:** adds a thing\n",
        ]);
        draft.add("proposal.md", text);
        draft.add("design.md", "# Design\n");
    }),
    ("delta-new", |draft, _| draft.at = "specs/brand-new/spec.md".to_owned()),
    ("delta-deep", |draft, _| draft.at = "specs/a/b/c/d/spec.md".to_owned()),
    ("delta-at-root", |draft, random| {
        if random.below(2) == 0 {
            draft.at.clear();
        }
        draft.add("specs/spec.md", DELTA);
    }),
    ("delta-other-name", |draft, random| {
        if random.below(2) == 0 {
            draft.at.clear();
        }
        let path = random.text(&[
            "specs/gate.md",
            "specs/gate/delta.md",
            "specs/gate/notes.MD",
            "specs/base/gate/Spec.md",
            "specs/.hidden.md",
            "specs/.hid/x.md",
            "specs/gate/delta.txt",
        ]);
        draft.add(path, DELTA);
    }),
    ("notes-in-specs", |draft, random| {
        let text =
            random.text(&["# Notes\n", "```\n## ADDED Requirements\n```\n", "## ADDED\n", ""]);
        draft.add("specs/notes.md", text);
    }),
    ("delta-folder", |draft, _| draft.at = "specs/spec.md/spec.md".to_owned()),
    ("two-deltas", |draft, _| draft.add("specs/other/spec.md", DELTA)),
    ("delta-empty-file", |draft, random| {
        draft.add("specs/void/spec.md", random.text(&["", "# Void\n", "\n\n"]))
    }),
    ("spec-is-folder", |draft, _| draft.at = "specs/base/folder/spec.md".to_owned()),
    ("deep-notes", |draft, _| draft.add(&format!("notes/{}x.txt", "1/".repeat(18)), "deep")),
    ("nothing", |draft, random| {
        draft.wrap(&[]);
        draft.add(random.text(&[".keep", "specs/.keep", "README.md"]), "");
    }),
    ("wraps-one", |draft, random| {
        draft.wrap(&[(
            random.text(&[
                "inner/proposal.md",
                "inner/.openspec.yaml",
                "inner/specs/x/spec.md",
                "inner/design.md",
            ]),
            "x",
        )])
    }),
    ("wraps-deep", |draft, random| {
        draft.wrap(&[(
            random.text(&[
                "a/b/tasks.md",
                "a/b/c/tasks.md",
                "a/b/c/d/tasks.md",
                "a/.b/tasks.md",
                "a/b/README.md",
            ]),
            "x",
        )])
    }),
    ("wraps-two", |draft, _| {
        draft.wrap(&[("a/tasks.md", "x"), ("b/specs/y.txt", "x"), ("c/d.txt", "x")])
    }),
    ("wraps-with-own", |draft, _| draft.wrap(&[("a/tasks.md", "x"), ("README.md", "x")])),
    ("wraps-but-is-one", |draft, _| draft.wrap(&[("a/tasks.md", "x"), ("specs/note.txt", "x")])),
];
