//! Changes: a good one, and what can be wrong with its folder, its tasks and its metadata.

use super::delta::{self, BASE};
use super::page::{Mutation, Page};
use super::random::Random;

/// The files of a change.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) delta: Page,
    pub(crate) tasks: Page,
    metadata: String,
    /// Where the delta is; nowhere if empty.
    at: String,
    has_tasks: bool,
    more: Vec<(String, Vec<u8>)>,
}

const SKIP: &str = "schema: spec-driven\nskip_specs: true\n";

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
            files.push((
                ".openspec.yaml".to_owned(),
                self.metadata.clone().into_bytes(),
            ));
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

    fn add(&mut self, path: &str, text: &str) {
        self.more
            .push((path.to_owned(), text.to_owned().into_bytes()));
    }

    fn skip(&mut self) {
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
    ("delta-new", |draft, _| {
        draft.at = "specs/brand-new/spec.md".to_owned()
    }),
    ("delta-deep", |draft, _| {
        draft.at = "specs/a/b/c/d/spec.md".to_owned()
    }),
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
        let text = random.text(&[
            "# Notes\n",
            "```\n## ADDED Requirements\n```\n",
            "## ADDED\n",
            "",
        ]);
        draft.add("specs/notes.md", text);
    }),
    ("delta-folder", |draft, _| {
        draft.at = "specs/spec.md/spec.md".to_owned()
    }),
    ("two-deltas", |draft, _| {
        draft.add("specs/other/spec.md", DELTA)
    }),
    ("delta-empty-file", |draft, random| {
        draft.add("specs/void/spec.md", random.text(&["", "# Void\n", "\n\n"]))
    }),
    ("spec-is-folder", |draft, _| {
        draft.at = "specs/base/folder/spec.md".to_owned()
    }),
    ("deep-notes", |draft, _| {
        draft.add(&format!("notes/{}x.txt", "1/".repeat(18)), "deep")
    }),
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
        draft.wrap(&[
            ("a/tasks.md", "x"),
            ("b/specs/y.txt", "x"),
            ("c/d.txt", "x"),
        ])
    }),
    ("wraps-with-own", |draft, _| {
        draft.wrap(&[("a/tasks.md", "x"), ("README.md", "x")])
    }),
    ("wraps-but-is-one", |draft, _| {
        draft.wrap(&[("a/tasks.md", "x"), ("specs/note.txt", "x")])
    }),
];

/// What can be wrong with the metadata.
pub(crate) const METADATA: [Mutation<Draft>; 11] = [
    ("skips", |draft, _| draft.skip()),
    ("skips-with-delta", |draft, _| {
        SKIP.clone_into(&mut draft.metadata)
    }),
    ("skips-with-file", |draft, random| {
        draft.skip();
        draft.add(
            random.text(&["specs/notes.txt", "specs/a/b/c.md", "specs/.keep", "specs"]),
            "",
        );
    }),
    ("skip-value", |draft, random| {
        draft.skip();
        let value = random.text(&[
            "yes",
            "True",
            "TRUE",
            "'true'",
            "1",
            "~",
            "",
            "false",
            "False",
            "[true]",
            "on",
            "tRue",
            "!!bool true",
        ]);
        draft.metadata = format!("schema: spec-driven\nskip_specs: {value}\n");
    }),
    ("skip-key", |draft, random| {
        draft.skip();
        let key = random.text(&[
            "'skip_specs'",
            "\"skip_specs\"",
            "skip-specs",
            "Skip_specs",
            " skip_specs",
            "# skip_specs",
            "skip_specs ",
        ]);
        draft.metadata = format!("schema: spec-driven\n{key}: true\n");
    }),
    ("broken", |draft, random| {
        if random.below(2) == 0 {
            draft.at.clear();
        }
        let text = random.text(&[
            "schema: [\n",
            "schema: spec-driven\nskip_specs: true\nx: 'open\n",
            "schema: spec-driven\nschema: spec-driven\n",
            "a: b: c\n",
            "- a\n- b\n",
            "just words\n",
            "\n",
            "# comment\n",
            "skip_specs: true\n",
            "schema: spec-driven\n---\nschema: spec-driven\nskip_specs: true\n",
            "{schema: spec-driven, skip_specs: true}\n",
            "\tschema: spec-driven\n",
            "schema: spec-driven\n  skip_specs: true\n",
            "%YAML 1.2\n---\nschema: spec-driven\n",
            "'skip_specs: true\n",
        ]);
        text.clone_into(&mut draft.metadata);
    }),
    ("field", |draft, random| {
        if random.below(2) == 0 {
            draft.skip();
        }
        let field = random.text(&[
            "created: 2026-1-1",
            "created: 2026-01-01",
            "created: '2026-01-01'",
            "created: 20260101",
            "created: 2026-01-01T00:00:00Z",
            "created:",
            "goal: ''",
            "goal: be done",
            "goal: 7",
            "goal:",
            "affected_areas: [a, b]",
            "affected_areas: [a, '']",
            "affected_areas: a",
            "affected_areas: []",
            "affected_areas:\n  - 1",
            "initiative: {store: a-b, id: c1}",
            "initiative: {store: a-b}",
            "initiative: {store: A, id: c}",
            "initiative: {store: a, id: c, x: y}",
            "initiative: a",
            "retire_capabilities: true",
            "retire_capabilities: no",
            "unknown: {a: [b, {c: d}]}",
            "created: 2026-99-99",
        ]);
        draft.metadata.push_str(field);
        draft.metadata.push('\n');
    }),
    ("schema", |draft, random| {
        if random.below(2) == 0 {
            draft.skip();
        }
        let schema = random.text(&[
            "spec-driven",
            "'spec-driven'",
            "spec-driven.yaml",
            "nowhere",
            "''",
            "7",
            "",
            "own",
            "globbed",
            "cyclic",
            "unsound",
            "empty",
            "../x",
            "trackless",
        ]);
        draft.metadata = draft
            .metadata
            .replace("schema: spec-driven", &format!("schema: {schema}"));
    }),
    ("own-schema-files", |draft, random| {
        let schema = random.text(&["own", "globbed", "trackless"]);
        draft.metadata = format!("schema: {schema}\n");
        let boxes = random.text(&["- do it\n- do that\n", "- [ ] 1.1 do it\n", "Words.\n"]);
        draft.add(
            random.text(&[
                "TODO.md",
                "work/a.md",
                "work/deep/b.md",
                "work/.hidden.md",
                "a.md",
            ]),
            boxes,
        );
        if random.below(2) == 0 {
            draft.tasks = Page::new("## 1. A\n- [ ] 2.1 x\n- [ ] 2.1 y");
        }
    }),
    ("own-schema-two-lists", |draft, _| {
        "schema: globbed\n".clone_into(&mut draft.metadata);
        draft.add("work/a.md", "- one\n");
        draft.add("work/b/c.md", "1. two\n");
    }),
    ("crlf-metadata", |draft, _| {
        draft.metadata = draft.metadata.replace('\n', "\r\n")
    }),
];

/// What can be wrong with tasks.
pub(crate) const TASKS: [Mutation<Draft>; 8] = [
    ("no-boxes", |draft, random| {
        let text = random.text(&[
            "# Tasks\n- do it\n",
            "1. do it\n",
            "10) do it\n",
            "1234567890. do it\n",
            "+ do it\n",
            "* * *\n",
            "---\n",
            "Words.\n",
            "",
            "- \n",
            "-no blank\n",
            "    - code\n",
            "   - list\n",
            "\t- code\n",
            "```\n- code\n```\n",
            "```\n- code\n",
            "````\n```\n- code\n````\n- real\n",
            "~~~ x\n- code\n~~~ y\n- code\n~~~\n",
            "---\ntags:\n- a\n---\n",
            "---\ntags:\n- a\n---\n- real\n",
            "---\n- real\n",
            "----\n- real\n----\n",
            "<!-- - no -->\n",
            "<!--\n- no\n-->\n- real\n",
            "- real <!-- x\n",
            "<!-->\n- hidden\n-->\n",
            "- [link](x)\n",
            "- [a][b]\n",
            "- [WIP] do it\n",
            "- [](x)\n",
            "    ```\n- real\n    ```\n",
        ]);
        draft.tasks = Page::new(text);
    }),
    ("boxes", |draft, random| {
        let text = random.text(&[
            "- [] do it\n",
            "- [~] do it\n",
            "- [ x ] do it\n",
            "+ [ ] do it\n",
            "1. [ ] do it\n",
            "-[ ]do it\n",
            "- [ ](x)\n",
            "- [x](x)\n- do\n",
            "```\n- [ ] in code\n```\n- do\n",
            "- [ ]\n",
            "- [\u{a0}] do\n",
            "- [✓] do\n",
            "- []] x\n",
            "> - [ ] x\n- y\n",
        ]);
        draft.tasks = Page::new(text);
    }),
    ("group-wrong", |draft, random| {
        let new = random.text(&[
            "- [ ] 3.1 ",
            "- [ ] 01.1 ",
            "- [ ] 1.1a ",
            "- [ ] 11.1 ",
            "- [ ] 1 ",
            "- [ ] 2.x ",
            "- [ ] 2.1: ",
            "- [ ] 2.1. ",
            "- [x] 2.9\u{a0}",
            "  * [ ] 2.7 ",
            "- [ ] 2.1-",
        ]);
        draft
            .tasks
            .replace("- [ ] 1.1 ", random, |text| format!("{new}{text}"));
    }),
    ("group-heading", |draft, random| {
        let new = random.text(&[
            "## 01. Gate",
            "##  1. Gate",
            "## 1.Gate",
            "## 1 Gate",
            "## 1.",
            "## Gate",
            "### 1. Gate",
            "# 1. Gate",
            "   ## 3. Gate",
            "    ## 3. Gate",
            "##\t3. Gate",
            "##",
            "## 3. ",
            "##3. Gate",
            "```\n## 3. Gate\n```",
        ]);
        draft
            .tasks
            .replace("## 1. Gate", random, |_| new.to_owned());
    }),
    ("number-twice", |draft, random| {
        let new = random.text(&[
            "- [ ] 2.1 Again",
            "- [ ] 2.1.1 Again",
            "- [ ] 02.1 Not again",
            "- [ ] 1.1 Again, elsewhere",
            "```\n- [ ] 2.1 Again\n```",
        ]);
        draft.tasks.append(new);
    }),
    ("ungrouped", |draft, random| {
        draft.tasks.insert_before("- [", random, "## Notes");
        draft.tasks.append("- [ ] 9.9 Somewhere");
    }),
    ("zero-group", |draft, _| {
        draft.tasks = Page::new("## 0. Start\n- [ ] 0.1 a\n- [ ] 00.2 b\n- [ ] 1.1 c\n- [ ] 0.1 d")
    }),
    ("section-ends-group", |draft, _| {
        draft.tasks = Page::new(
            "## 1. A\n- [ ] 1.1 a\n## Later\n- [ ] 7.7 b\n# 2. B\n- [ ] 7.7 c\n## 2. C\n- [ ] 7.7 d",
        )
    }),
];
