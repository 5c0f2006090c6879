//! What users of OpenSpec, spec-kit and servers of specs have reported, tried here with inputs of our own.

use mcp_proto::Era;
use mcp_proto_client::Client;
use serde_json::{Value, json};

use super::harness::{Copy, client, error_of, settings, structured};
use super::workflow::{OWN, own, writing};

const SPEC: &str = "# A\n\n## Purpose\nKeeps what was measured, for as long as the law demands it.\n\n## Requirements\n\n\
                    ### Requirement: Keep\nIt SHALL keep.\n\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

const SCENARIO: &str = "\n#### Scenario: S\n- **WHEN** a\n- **THEN** b\n";

/// A project with these files below `openspec/`, and a client of it that may write.
async fn with(files: &[(&str, &str)]) -> (Copy, Client) {
    let project = Copy::empty();
    for (path, text) in files {
        project.write(&format!("openspec/{path}"), text);
    }
    let client = writing(&project, Era::Modern).await;
    (project, client)
}

async fn step(client: &Client, id: &str) -> Value {
    structured(client, "next_step", json!({"change_id": id})).await
}

async fn verdict(client: &Client, id: &str) -> Value {
    structured(client, "validate_change", json!({"change_id": id})).await
}

fn says(value: &Value, words: &str) {
    assert!(value.to_string().contains(words), "{words} is not in {value}");
}

/// Task files in several folders, which a schema's pattern names: Fission-AI/OpenSpec#1202.
#[tokio::test]
async fn task_files_in_folders_count() {
    let (project, client) = with(&[
        ("changes/c/adr.md", "x\n"),
        ("changes/c/backend/todo.md", "- [x] 1.1 a\n- [ ] 1.2 b\n"),
        ("changes/c/frontend/todo.md", "- [ ] 2.1 c\n"),
    ])
    .await;
    own(&project);
    let listed = structured(&client, "list_changes", json!({})).await;
    assert_eq!(listed["changes"][0]["task_progress"], json!({"completed": 1, "total": 3}));
    let ticked =
        structured(&client, "complete_task", json!({"change_id": "c", "task": "2.1"})).await;
    assert_eq!(
        (&ticked["file"], &ticked["completed"]),
        (&json!("openspec/changes/c/frontend/todo.md"), &json!(2))
    );
}

/// A heading that divides a delta is passed over, and archiving and validation must not differ in it:
/// Fission-AI/OpenSpec#498.
#[tokio::test]
async fn a_dividing_heading_is_reported_as_passed_over() {
    let delta = format!(
        "## ADDED Requirements\n\n### Documentation Requirements\n\n### Requirement: New\nIt SHALL.\n{SCENARIO}"
    );
    let (_project, client) = with(&[("changes/c/specs/a/spec.md", &delta)]).await;
    let verdict = verdict(&client, "c").await;
    assert_eq!(
        (&verdict["valid"], &verdict["archivable"]),
        (&json!(true), &json!(true)),
        "{verdict}"
    );
    assert_eq!(verdict["notes"][0]["rule"], "heading-ignored");
    says(&verdict["notes"], "Documentation Requirements");
}

/// A change whose name begins with a date can be named to every tool: Fission-AI/OpenSpec#1308.
#[tokio::test]
async fn a_dated_name_is_accepted_everywhere() {
    let id = "2026-07-04-voice-copilot";
    let (_project, client) = with(&[(&format!("changes/{id}/tasks.md"), "- [ ] 1.1 a\n")]).await;
    assert_eq!(step(&client, id).await["write"]["artifact"], "proposal");
    verdict(&client, id).await;
    structured(&client, "get_change", json!({"change_id": id})).await;
    structured(&client, "complete_task", json!({"change_id": id, "task": "1.1"})).await;
}

/// A name with two hyphens is refused when a change is made, and read where it exists: Fission-AI/OpenSpec#836.
#[tokio::test]
async fn an_unusual_name_is_read() {
    let (project, client) = with(&[("changes/app1--change/proposal.md", "## Why\nx\n")]).await;
    assert_eq!(step(&client, "app1--change").await["write"]["artifact"], "specs");
    let error = error_of(&client, "new_change", json!({"change_id": "app2--change"})).await;
    says(&error, "kebab-case");
    assert!(!project.path("openspec/changes/app2--change").exists());
}

/// Numbers before names, to see which came first: Fission-AI/OpenSpec#1169.
#[tokio::test]
async fn a_numbered_change_is_made() {
    let (project, client) = with(&[("specs/a/spec.md", SPEC)]).await;
    structured(&client, "new_change", json!({"change_id": "00001-add-auth"})).await;
    assert!(
        project
            .read("openspec/changes/00001-add-auth/.openspec.yaml")
            .starts_with("schema: spec-driven\n")
    );
}

/// The key of a ticket in capitals is refused with what would be right: the-events-calendar/tribe-common#3000.
#[tokio::test]
async fn a_ticket_in_capitals_is_refused_with_the_right_form() {
    let (_project, client) = with(&[("specs/a/spec.md", SPEC)]).await;
    let error = error_of(&client, "new_change", json!({"change_id": "SOFT-1234"})).await;
    says(&error, "kebab-case");
    structured(&client, "new_change", json!({"change_id": "soft-1234"})).await;
}

/// The specs come before the design, although both are possible: Fission-AI/OpenSpec#731.
#[tokio::test]
async fn specs_come_before_the_design() {
    let (_project, client) = with(&[("changes/c/proposal.md", "## Why\nx\n")]).await;
    let step = step(&client, "c").await;
    let ids: Vec<&str> =
        step["artifacts"].as_array().unwrap().iter().filter_map(|one| one["id"].as_str()).collect();
    assert_eq!(ids, ["proposal", "specs", "design", "tasks"]);
    assert_eq!(step["write"]["artifact"], "specs");
    assert_eq!(step["artifacts"][3]["missing"], json!(["specs", "design"]));
}

/// Tasks without boxes count as none, and somebody must say so: Fission-AI/OpenSpec#405.
#[tokio::test]
async fn tasks_without_boxes_are_reported() {
    let delta = format!("## ADDED Requirements\n### Requirement: New\nIt SHALL.\n{SCENARIO}");
    let (_project, client) = with(&[
        ("changes/c/tasks.md", "# Tasks\n\n- Load the binary\n- Test it\n"),
        ("changes/c/specs/a/spec.md", &delta),
    ])
    .await;
    let verdict = verdict(&client, "c").await;
    assert_eq!(verdict["warnings"][0]["rule"], "task-boxes-missing", "{verdict}");
}

/// MODIFIED for a spec that does not exist is found by validation, not by archiving alone: Fission-AI/OpenSpec#446.
#[tokio::test]
async fn modifying_what_does_not_exist_is_not_archivable() {
    let delta = format!("## MODIFIED Requirements\n### Requirement: Load\nIt SHALL.\n{SCENARIO}");
    let (_project, client) = with(&[("changes/c/specs/evaluation/spec.md", &delta)]).await;
    let verdict = verdict(&client, "c").await;
    assert_eq!(
        (&verdict["valid"], &verdict["archivable"]),
        (&json!(true), &json!(false)),
        "{verdict}"
    );
    says(&verdict["summary"], "Archiving would refuse it: ");
    says(&verdict["notes"], "can only be ADDED");
}

/// SHALL in the heading, lines with an id and a priority, and MUST in the text: Fission-AI/OpenSpec#159.
#[tokio::test]
async fn metadata_before_the_text_of_a_requirement_are_skipped() {
    let delta = format!(
        "## ADDED Requirements\n\n### Requirement: Breaker SHALL be built\n**ID**: REQ-1\n**Priority**: P1\n\nIt MUST have three states.\n{SCENARIO}"
    );
    let (_project, client) = with(&[("changes/c/specs/a/spec.md", &delta)]).await;
    let verdict = verdict(&client, "c").await;
    assert_eq!((&verdict["valid"], &verdict["warnings"]), (&json!(true), &json!([])), "{verdict}");
}

/// SHALL in the heading alone is a finding that says where it belongs: Fission-AI/OpenSpec#356.
#[tokio::test]
async fn shall_in_the_heading_alone_is_explained() {
    let delta =
        format!("## ADDED Requirements\n\n### Requirement: 系统 SHALL 支持\n没有。\n{SCENARIO}");
    let (_project, client) = with(&[("changes/c/specs/a/spec.md", &delta)]).await;
    says(&verdict(&client, "c").await["warnings"], "in its heading only");
}

/// `### requirement:` in lower case is a requirement for validation and for archiving: Fission-AI/OpenSpec#1031.
#[tokio::test]
async fn a_heading_in_lower_case_is_a_requirement() {
    let delta = format!(
        "## MODIFIED Requirements\n\n### requirement: Keep\nIt SHALL keep more.\n{SCENARIO}"
    );
    let (_project, client) =
        with(&[("specs/a/spec.md", SPEC), ("changes/c/specs/a/spec.md", &delta)]).await;
    let verdict = verdict(&client, "c").await;
    assert_eq!(
        (&verdict["valid"], &verdict["archivable"]),
        (&json!(true), &json!(true)),
        "{verdict}"
    );
    let preview = structured(&client, "preview_change", json!({"change_id": "c"})).await;
    says(&preview["specs"], "keep more");
}

/// A workflow that ends before the design and the tasks, which others write: Fission-AI/OpenSpec#1014.
#[tokio::test]
async fn a_workflow_may_end_with_the_specs() {
    let schema = "name: idea\nversion: 1\nartifacts:\n\
                  - {id: proposal, generates: proposal.md, description: why, template: p.md, requires: []}\n\
                  - {id: specs, generates: 'specs/**/*.md', description: what, template: s.md, requires: [proposal]}\n";
    let delta = format!("## ADDED Requirements\n### Requirement: New\nIt SHALL.\n{SCENARIO}");
    let (_project, client) = with(&[
        ("schemas/idea/schema.yaml", schema),
        ("schemas/idea/templates/s.md", "Form of a delta\n"),
        ("changes/c/.openspec.yaml", "schema: idea\n"),
        ("changes/c/proposal.md", "## Why\nx\n"),
    ])
    .await;
    let next = step(&client, "c").await;
    assert_eq!(
        (&next["schema"], &next["write"]["template"]),
        (&json!("idea"), &json!("Form of a delta"))
    );
    let arguments = json!({"change_id": "c", "file": "specs/a/spec.md", "text": delta});
    structured(&client, "write_artifact", arguments).await;
    assert_eq!(step(&client, "c").await["step"], "archive");
}

/// A new session is told what comes next from the task list itself: Fission-AI/OpenSpec#699.
#[tokio::test]
async fn a_new_session_sees_the_next_task() {
    let files = [
        ("changes/c/proposal.md", "## Why\nx\n"),
        ("changes/c/specs/a/spec.md", "## ADDED Requirements\n"),
        ("changes/c/design.md", "x\n"),
        ("changes/c/tasks.md", "## 1. A\n- [x] 1.1 a\n- [ ] 1.2 b\n- [ ] 1.3 c\n"),
    ];
    let (_project, first) = with(&files).await;
    assert_eq!(step(&first, "c").await["task"]["id"], "1.2");
    structured(&first, "complete_task", json!({"change_id": "c", "task": "1.2"})).await;
    let second = writing(&_project, Era::Legacy).await;
    assert_eq!(step(&second, "c").await["task"]["id"], "1.3");
}

/// One task after the other, by ids such as T001, with the state in the file: github/spec-kit#1008.
#[tokio::test]
async fn tasks_with_ids_are_done_one_at_a_time() {
    let tasks = "## Phase 1: Setup\n\n- [ ] T001 Create the structure per the plan\n- [ ] T002 [P] Write to src/a.rs\n- [ ] T010 [US1] Test\n";
    let (project, client) = with(&[
        ("changes/c/proposal.md", "x\n"),
        ("changes/c/specs/a/spec.md", "x\n"),
        ("changes/c/design.md", "x\n"),
        ("changes/c/tasks.md", tasks),
    ])
    .await;
    for id in ["T001", "T002", "T010"] {
        assert_eq!(step(&client, "c").await["task"]["id"], id);
        structured(&client, "complete_task", json!({"change_id": "c", "task": id})).await;
    }
    assert_eq!(project.read("openspec/changes/c/tasks.md"), tasks.replace("[ ]", "[x]"));
}

/// Tasks that were written while the specs are missing do not hide that: Fission-AI/OpenSpec#1412.
#[tokio::test]
async fn missing_specs_are_named_although_there_are_tasks() {
    let (_project, client) = with(&[
        ("changes/c/proposal.md", "## Why\nx\n"),
        ("changes/c/design.md", "x\n"),
        ("changes/c/tasks.md", "- [ ] 1.1 a\n"),
    ])
    .await;
    let step = step(&client, "c").await;
    assert_eq!((&step["step"], &step["write"]["artifact"]), (&json!("write"), &json!("specs")));
}

/// Requirements in another language, without the English words, are valid with a warning: Fission-AI/OpenSpec#284.
#[tokio::test]
async fn another_language_is_valid_with_a_warning() {
    let delta =
        format!("## ADDED Requirements\n\n### Requirement: 缓存\n系统应当缓存。\n{SCENARIO}");
    let (_project, client) = with(&[("changes/c/specs/a/spec.md", &delta)]).await;
    let verdict = verdict(&client, "c").await;
    assert_eq!(
        (&verdict["valid"], &verdict["warnings"][0]["rule"]),
        (&json!(true), &json!("normative-word-missing"))
    );
    let strict =
        structured(&client, "validate_change", json!({"change_id": "c", "strict": true})).await;
    assert_eq!(strict["valid"], false);
}

/// A tool that writes answers with what the checker finds, and never with a success alone: m0n0x41d/haft#89.
#[tokio::test]
async fn what_is_written_is_checked_at_once() {
    let (_project, client) = with(&[("changes/c/proposal.md", "## Why\nx\n")]).await;
    let text = "## ADDED Requirements\n### Requirement: New\nIt SHALL.\n";
    let arguments = json!({"change_id": "c", "file": "specs/a/spec.md", "text": text});
    let answer = structured(&client, "write_artifact", arguments).await;
    assert_eq!(
        (&answer["valid"], &answer["errors"][0]["rule"]),
        (&json!(false), &json!("scenario-missing")),
        "{answer}"
    );
    let verdict = verdict(&client, "c").await;
    assert_eq!(verdict["errors"], answer["errors"]);
}

/// One artifact at a time, with its template and what it rests on, and not all at once:
/// alfredoperez/speckit-companion#695.
#[tokio::test]
async fn one_artifact_is_explained_at_a_time() {
    let (project, client) = with(&[("changes/c/adr.md", "x\n")]).await;
    own(&project);
    let next = step(&client, "c").await;
    assert_eq!(
        (&next["write"]["artifact"], &next["write"]["read"]),
        (&json!("todo"), &json!(["adr.md"]))
    );
    assert!(!next.to_string().contains("The decision"), "{next}");
}

/// With a workflow of its own, the gate of the archive counts its own task file: Framework-R-D/phlex#881.
#[tokio::test]
async fn the_archive_waits_for_the_tracked_file() {
    let (project, client) = with(&[
        ("changes/c/adr.md", "x\n"),
        ("changes/c/todo.md", "- [ ] 1.1 a\n"),
        ("changes/c/tasks.md", "- [x] 1.1 a\n"),
    ])
    .await;
    own(&project);
    let error = error_of(&client, "archive_change", json!({"change_id": "c"})).await;
    says(&error, "1 of 1 tasks is open");
    structured(&client, "archive_change", json!({"change_id": "c", "force": true})).await;
}

/// Dots in names, such as versions, are read by every tool: Fission-AI/OpenSpec#842.
#[tokio::test]
async fn a_version_in_a_name_is_read() {
    let (_project, client) = with(&[("changes/v1.2-sync/tasks.md", "- [ ] 1.1 a\n")]).await;
    let change = structured(&client, "get_change", json!({"change_id": "V1.2-sync"})).await;
    assert_eq!(change["tasks"]["total"], 1);
    assert_eq!(step(&client, "v1.2-sync").await["write"]["artifact"], "proposal");
}

/// A workflow that names what it does not have is reported wherever it matters, here by a reader that cannot write:
/// Fission-AI/OpenSpec#1868.
#[tokio::test]
async fn an_unusable_workflow_is_reported() {
    let project = Copy::empty();
    own(&project);
    let schema = OWN.replace("requires: [todo]", "requires: [tood]");
    project.write("openspec/schemas/own/schema.yaml", schema);
    project.write("openspec/changes/c/proposal.md", "## Why\nx\n");
    let client = client(settings(project.root()), Era::Modern).await;
    says(&step(&client, "c").await["note"], "tood");
    says(&structured(&client, "get_project", json!({})).await["note"], "tood");
    says(&verdict(&client, "c").await["notes"], "tood");
}

/// What `config.yaml` says and is not used is told wherever it would be used, and changes no verdict:
/// Fission-AI/OpenSpec#1891 (a rule with `: `), Fission-AI/OpenSpec#1892 (a file that cannot be parsed),
/// Fission-AI/OpenSpec#1322 and DyanGalih/architecture-guard#31 (an id that is no artifact).
#[tokio::test]
async fn what_the_configuration_says_in_vain_is_told() {
    let files = [("specs/a/spec.md", SPEC), ("changes/c/tasks.md", "- [ ] 1.1 a\n")];
    let (project, client) = with(&files).await;
    project.write("openspec/schemas/own/schema.yaml", OWN);
    let asked = json!({"change_id": "c"});
    let plain = verdict(&client, "c").await;
    assert_eq!(plain["note"], Value::Null, "{plain}");
    for (config, told) in [
        (
            "rules:\n  proposal:\n    - Be brief.\n    - Keep \"Why\" short: one line\n    - 7\n  adr: x\n",
            "openspec/config.yaml:4: 2 of 3 rules for \"proposal\" are not used: a rule is text, in quotes if it has `: `",
        ),
        ("context: A library.\nrules:\n  proposal:\n    - \"open\n", "openspec/config.yaml:"),
        (
            "rules:\n  adr: [x]\n  propsal:\n    - Be brief.\n  tasks:\n    - a: b\n",
            "openspec/config.yaml:3: rules for \"propsal\" are not used: no workflow here has this artifact, but adr, design, \
             proposal, specs, tasks, todo (and 1 more)",
        ),
    ] {
        project.write("openspec/config.yaml", config);
        for (tool, arguments) in [
            ("next_step", asked.clone()),
            ("validate_change", asked.clone()),
            ("validate_spec", json!({})),
            ("list_specs", json!({})),
            ("list_changes", json!({})),
            ("get_project", json!({})),
        ] {
            let answer = structured(&client, tool, arguments).await;
            let note = answer["note"].as_str().unwrap_or_default();
            let told =
                if tool == "get_project" { told.trim_end_matches(" (and 1 more)") } else { told };
            assert!(note.starts_with(told) && !note.contains('\n'), "{tool}: {note}");
        }
        let mut now = verdict(&client, "c").await;
        now["note"].take();
        assert_eq!((&now["valid"], &now["errors"]), (&plain["valid"], &plain["errors"]));
    }
    let proposal = json!({"change_id": "c", "artifact": "proposal"});
    project.write("openspec/config.yaml", "rules:\n  proposal: [Be brief., {a: b}]\n");
    let step = structured(&client, "next_step", proposal).await;
    assert_eq!(step["write"]["rules"], json!(["Be brief."]));
}
