//! A change by its workflow: what is done, what comes next, and from nothing to the archive with the tools alone.

use mcp_proto::Era;
use serde_json::{Value, json};

use super::harness::{Copy, client, error_of, settings, structured};

const SPEC: &str = "# Counter\n\n## Purpose\nThe counter lends books to members of the library, on all days.\n\n\
                    ## Requirements\n\n### Requirement: Loan\nThe counter SHALL lend.\n\n#### Scenario: Card\n- **WHEN** a card is shown\n\
                    - **THEN** a book is lent\n";

const DELTA: &str = "## ADDED Requirements\n\n### Requirement: Return\nThe counter SHALL take books back.\n\n\
                     #### Scenario: In time\n- **WHEN** a book comes back\n- **THEN** the loan ends\n";

/// A workflow with other files, whose tasks are in `todo.md` files at any depth.
pub(super) const OWN: &str = "name: own\nversion: 1\nartifacts:\n\
    - {id: adr, generates: adr.md, description: the decision, template: adr.md, instruction: Decide., requires: []}\n\
    - {id: todo, generates: '**/todo.md', description: the steps, template: todo.md, requires: [adr]}\n\
    apply: {requires: [todo], tracks: '**/todo.md', instruction: Do it.}\n";

pub(super) async fn writing(project: &Copy, era: Era) -> mcp_proto_client::Client {
    let mut settings = settings(project.root());
    settings.allow_writes = true;
    client(settings, era).await
}

pub(super) fn own(project: &Copy) {
    project.write("openspec/schemas/own/schema.yaml", OWN);
    project.write("openspec/schemas/own/templates/adr.md", "# The decision\n");
    project.write(
        "openspec/config.yaml",
        "schema: own\ncontext: A library.\nrules:\n  adr:\n    - Be brief.\n",
    );
}

#[tokio::test]
async fn from_nothing_to_the_archive_with_tools_alone() {
    for era in [Era::Legacy, Era::Modern] {
        let project = Copy::empty();
        project.write("openspec/specs/counter/spec.md", SPEC);
        let client = writing(&project, era).await;
        let id = "take-books-back";
        let mut step = structured(&client, "new_change", json!({"change_id": id})).await;
        assert_eq!(step["artifacts"][0], json!({"id": "proposal", "state": "ready"}));
        let mut written = Vec::new();
        while step["step"] == "write" {
            let artifact = step["write"]["artifact"].as_str().unwrap().to_owned();
            assert!(
                step["write"]["template"].is_string() && step["instruction"].is_string(),
                "{step}"
            );
            let (file, text) = match artifact.as_str() {
                "proposal" => (
                    "proposal",
                    "## Why\nBooks pile up at home, and nobody can lend them again.\n\n## What Changes\n- Returns\n",
                ),
                "specs" => ("specs/counter/spec.md", DELTA),
                "design" => ("design", "Nothing is to be decided.\n"),
                "tasks" => {
                    ("tasks", "## 1. Counter\n- [ ] 1.1 Take books back\n- [ ] 1.2 Test it\n")
                }
                other => panic!("{other}"),
            };
            let arguments = json!({"change_id": id, "file": file, "text": text});
            let answer = structured(&client, "write_artifact", arguments).await;
            assert_eq!(
                (&answer["created"], &answer["errors"]),
                (&json!(true), &json!([])),
                "{answer}"
            );
            let rest = answer["summary"]
                .as_str()
                .unwrap()
                .contains("Besides this file: this change has no deltas");
            assert_eq!(rest, artifact == "proposal", "{answer}");
            written.push(artifact);
            step = structured(&client, "next_step", json!({"change_id": id})).await;
        }
        assert_eq!(written, ["proposal", "specs", "design", "tasks"]);
        let verdict =
            structured(&client, "validate_change", json!({"change_id": id, "strict": true})).await;
        assert_eq!(
            (&verdict["valid"], &verdict["archivable"]),
            (&json!(true), &json!(true)),
            "{verdict}"
        );
        while step["step"] == "apply" {
            let task = step["task"]["id"].as_str().unwrap();
            structured(&client, "complete_task", json!({"change_id": id, "task": task})).await;
            step = structured(&client, "next_step", json!({"change_id": id})).await;
        }
        assert_eq!((&step["step"], &step["tasks"]["completed"]), (&json!("archive"), &json!(2)));
        structured(&client, "archive_change", json!({"change_id": id})).await;
        let spec = project.read("openspec/specs/counter/spec.md");
        assert!(spec.contains("### Requirement: Loan") && spec.contains("### Requirement: Return"));
    }
}

#[tokio::test]
async fn a_change_is_what_its_own_workflow_says() {
    let project = Copy::empty();
    own(&project);
    project.write("openspec/specs/counter/spec.md", SPEC);
    project.write("openspec/changes/c/adr.md", "# We decide\nFor a counter.\n");
    project.write("openspec/changes/c/todo.md", "- [x] 1.1 one\n- [ ] 1.2 two\n");
    project.write("openspec/changes/c/tasks.md", "- [x] 1 done\n");
    project.write("openspec/changes/c/data/sizes.csv", "a,b\n1,2\n");
    project.write("openspec/changes/c/specs/counter/spec.md", DELTA);
    let client = writing(&project, Era::Modern).await;
    let listed = structured(&client, "list_changes", json!({})).await;
    assert_eq!(listed["changes"][0]["task_progress"], json!({"completed": 1, "total": 2}));
    let change = structured(&client, "get_change", json!({"change_id": "c"})).await;
    assert_eq!(change["tasks"]["total"], 2);
    assert_eq!(change["tasks"]["items"], json!(null), "the numbers in the text name each task");
    project.write("openspec/changes/d/todo.md", "- [x] 1.1 one\n- [ ] T002 two\n- [ ] three\n");
    let other = structured(&client, "get_change", json!({"change_id": "d"})).await;
    let open = json!([
        {"id": "T002", "line": 2, "text": "two", "done": false},
        {"line": 3, "text": "three", "done": false},
    ]);
    assert_eq!(other["tasks"]["items"], open);
    let files: Vec<&str> =
        change["files"].as_array().unwrap().iter().filter_map(|f| f["file"].as_str()).collect();
    assert_eq!(files, ["adr.md", "data/sizes.csv", "tasks.md"]);
    for (section, text) in
        [("adr", "For a counter."), ("ADR.md", "For a counter."), ("data/sizes.csv", "1,2")]
    {
        let part =
            structured(&client, "get_change", json!({"change_id": "c", "section": section})).await;
        assert!(part["text"].as_str().unwrap().contains(text), "{section}: {part}");
    }
    let error =
        error_of(&client, "get_change", json!({"change_id": "c", "section": "nothing"})).await;
    assert!(
        error["message"].as_str().unwrap().contains("proposal, tasks, design, deltas, adr"),
        "{error}"
    );
    let found =
        structured(&client, "search_specs", json!({"query": "decide counter", "in": "changes"}))
            .await;
    assert_eq!(found["results"][0]["file"], "adr.md", "{found}");
    let error = error_of(&client, "archive_change", json!({"change_id": "c"})).await;
    assert_eq!(error["code"], "TASKS_OPEN");
    let step = structured(&client, "next_step", json!({"change_id": "c", "artifact": "adr"})).await;
    assert_eq!(step["write"]["rules"], json!(["Be brief."]));
    assert_eq!(
        (&step["write"]["template"], &step["write"]["context"]),
        (&json!("# The decision"), &json!("A library."))
    );
    let ticked =
        structured(&client, "complete_task", json!({"change_id": "c", "task": "two"})).await;
    assert_eq!(ticked["file"], "openspec/changes/c/todo.md");
    structured(&client, "archive_change", json!({"change_id": "c"})).await;
}

#[tokio::test]
async fn nothing_is_written_outside_of_the_change() {
    let project = Copy::empty();
    project.write("openspec/changes/c/proposal.md", "## Why\nSo.\n");
    project.write("openspec/changes/d/proposal.md", "## Why\nSo.\n");
    std::os::unix::fs::symlink(
        project.path("openspec/changes/d"),
        project.path("openspec/changes/c/link"),
    )
    .unwrap();
    std::os::unix::fs::symlink(
        project.path("elsewhere"),
        project.path("openspec/changes/c/out.md"),
    )
    .unwrap();
    let client = writing(&project, Era::Modern).await;
    for file in [
        "../d/proposal.md",
        "/etc/passwd",
        "a/../../x",
        ".git/config",
        "a//b",
        "",
        "a\\b",
        "link/proposal.md",
        "out.md",
        "specs",
        "c:x",
    ] {
        let error = error_of(
            &client,
            "write_artifact",
            json!({"change_id": "c", "file": file, "text": "x"}),
        )
        .await;
        assert!(
            ["CANNOT_WRITE", "UNREADABLE"].contains(&error["code"].as_str().unwrap()),
            "{file}: {error}"
        );
    }
    assert_eq!(project.read("openspec/changes/d/proposal.md"), "## Why\nSo.\n");
    assert!(!project.path("elsewhere").exists());
    let same = json!({"change_id": "c", "file": "proposal", "text": "## Why\nSo.\n"});
    let answer = structured(&client, "write_artifact", same).await;
    assert_eq!((&answer["created"], &answer["changed"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn whatever_counts_as_a_requirement_is_one_for_every_tool() {
    let project = Copy::empty();
    project.write(
        "openspec/specs/Cafe\u{301}/spec.md",
        "# C\n\n## Purpose\nP.\n\n## Requirements\n\n### FR-1: Old login\nThe app SHALL log in.\n\n#### Scenario: s\n- **WHEN** a\n- **THEN** b\n\n## Notes\nMore about it.\n",
    );
    project.write("openspec/specs/Cafe\u{301}/context.md", "Why it is so.\n");
    let client = client(settings(project.root()), Era::Modern).await;
    let found = structured(&client, "search_specs", json!({"query": "log in"})).await;
    let name = found["results"][0]["requirement"].clone();
    assert_eq!(name, "FR-1: Old login");
    // The accent in one character, and another case.
    let read = structured(
        &client,
        "get_spec_requirements",
        json!({"spec_id": "CAFÉ", "requirements": [name, "notes"]}),
    )
    .await;
    assert_eq!(
        (&read["requirements"][0]["scenario_count"], &read["requirements"][1]["section"]),
        (&json!(1), &json!(true)),
        "{read}"
    );
    assert!(read["note"].as_str().unwrap().contains("do not say `Requirement:`"), "{read}");
    assert_eq!(read["files"], json!([{"file": "context.md", "bytes": 14}]));
    let beside = structured(
        &client,
        "get_spec_requirements",
        json!({"spec_id": "Café", "file": "context.md"}),
    )
    .await;
    assert_eq!(beside["text"], "Why it is so.\n");
    let scenario = structured(
        &client,
        "get_scenario",
        json!({"spec_id": "café", "requirement": "fr-1: old login"}),
    )
    .await;
    assert_eq!(scenario["name"], "s");
    let verdict: Value = structured(&client, "validate_spec", json!({})).await;
    assert_eq!(verdict["valid"], true);
}

/// What is paid in each conversation before the first question.
#[tokio::test]
async fn tools_and_instructions_are_short() {
    let project = Copy::of("counter");
    let client = writing(&project, Era::Modern).await;
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.len(), 15);
    // What a client passes on to a model.
    let lengths = tools.iter().map(|tool| {
        let tool = serde_json::to_value(tool).unwrap();
        let shown = json!([tool["name"], tool["description"], tool["inputSchema"]]);
        shown.to_string().len()
    });
    let all: usize = lengths.sum();
    // 6,300 characters were 1,490 tokens of a usual tokenizer.
    assert!(all < 6_500, "{all} characters");
}

/// Templates in other languages have other headings.
#[tokio::test]
async fn a_proposal_with_other_headings_is_shown_whole() {
    let project = Copy::empty();
    let text = "# Antrag\n\n## Warum\nEs fehlt.\n\n## What Changes\n- Es kommt.\n";
    project.write("openspec/changes/c/proposal.md", text);
    project.write("openspec/changes/archive/2026-01-02-d/proposal.md", "## Why\nSo.\n");
    let client = client(settings(project.root()), Era::Modern).await;
    let change = structured(&client, "get_change", json!({"change_id": "c"})).await;
    let whole = json!({"why": "", "what_changes": "- Es kommt.", "text": text});
    assert_eq!(change["proposal"], whole);
    let asked = json!({"change_id": "c", "section": "proposal"});
    assert_eq!(structured(&client, "get_change", asked).await["text"], text);
    // Ids alone are ids alone.
    let asked = json!({"archived": true, "detail": "ids"});
    let listed = structured(&client, "list_changes", asked).await;
    assert_eq!(listed["changes"], json!([{"id": "2026-01-02-d"}]));
}

#[tokio::test]
async fn a_modified_requirement_that_does_not_exist_is_one_with_another_name() {
    let project = Copy::empty();
    project.write("openspec/specs/counter/spec.md", SPEC);
    let delta = DELTA.replace("ADDED", "MODIFIED").replace("Return", "Loans");
    project.write("openspec/changes/c/specs/counter/spec.md", delta);
    let client = client(settings(project.root()), Era::Modern).await;
    let verdict = structured(&client, "validate_change", json!({"change_id": "c"})).await;
    let summary = verdict["summary"].as_str().unwrap();
    assert!(
        summary.contains("\"Loans\" (put a new one under ADDED); the nearest is \"Loan\""),
        "{verdict}"
    );
}

/// What is finished need not be archivable.
#[tokio::test]
async fn the_last_step_says_what_archiving_would_refuse() {
    let project = Copy::empty();
    project.write("openspec/specs/counter/spec.md", SPEC);
    project.write("openspec/changes/c/proposal.md", "## Why\nSo.\n\n## What Changes\n- It.\n");
    project.write("openspec/changes/c/design.md", "Nothing.\n");
    project.write("openspec/changes/c/tasks.md", "- [x] 1.1 one\n");
    let delta = DELTA.replace("ADDED", "MODIFIED");
    project.write("openspec/changes/c/specs/counter/spec.md", &delta);
    let client = client(settings(project.root()), Era::Modern).await;
    let ask = || structured(&client, "next_step", json!({"change_id": "c"}));
    let step = ask().await;
    assert_eq!(step["step"], "archive");
    assert!(step["note"].as_str().unwrap().contains("Archiving would refuse it"), "{step}");
    project.write("openspec/changes/c/specs/counter/spec.md", DELTA);
    assert_eq!(ask().await["note"], Value::Null);
}
