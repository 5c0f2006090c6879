//! What can be wrong with the metadata of a change, and with the workflow they name.

use super::change::{Draft, SKIP};
use super::page::{Mutation, Page};
use super::random::Random;

/// What can be wrong with the metadata.
pub(crate) const ALL: [Mutation<Draft>; 12] = [
    ("skips", |draft, _| draft.skip()),
    ("skips-with-delta", |draft, _| SKIP.clone_into(&mut draft.metadata)),
    ("skips-with-file", |draft, random| {
        draft.skip();
        draft.add(random.text(&["specs/notes.txt", "specs/a/b/c.md", "specs/.keep", "specs"]), "");
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
    ("schema", |draft, random| name_schema(draft, random)),
    ("schema-skips", |draft, random| {
        draft.skip();
        name_schema(draft, random);
    }),
    ("own-schema-files", |draft, random| {
        let schema = random.text(&["own", "globbed", "trackless"]);
        draft.metadata = format!("schema: {schema}\n");
        let boxes = random.text(&["- do it\n- do that\n", "- [ ] 1.1 do it\n", "Words.\n"]);
        draft.add(
            random.text(&["WORK.md", "work/a.md", "work/deep/b.md", "work/.hidden.md", "a.md"]),
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
    ("crlf-metadata", |draft, _| draft.metadata = draft.metadata.replace('\n', "\r\n")),
];

fn name_schema(draft: &mut Draft, random: &mut Random) {
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
    let line = format!("schema: {schema}");
    draft.metadata = draft.metadata.replace("schema: spec-driven", &line);
}
