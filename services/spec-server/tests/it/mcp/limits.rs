//! Answers have a bound, say what is missing, and how to get it: who goes on gets all of it.

use std::fmt::Write as _;

use mcp_proto::Era;
use serde_json::{Value, json};
use spec_server::view::Budget;

use super::harness::{Copy, client, settings, structured};
use crate::assert_has;

/// Small enough that everything below is more than one answer.
const BUDGET: usize = 4_000;
/// What may come on top: the members around what is bounded.
const AROUND: usize = 2_000;

async fn small(project: &Copy) -> mcp_proto_client::Client {
    let mut settings = settings(project.root());
    settings.budget = Budget(BUDGET);
    client(settings, Era::Modern).await
}

/// All pages of a list.
async fn all_pages(
    client: &mcp_proto_client::Client,
    tool: &str,
    mut arguments: Value,
    list: &str,
) -> Vec<Value> {
    let mut items = Vec::new();
    for _ in 0..1_000 {
        let mut page = structured(client, tool, arguments.clone()).await;
        assert!(page.to_string().len() < BUDGET + AROUND, "{}", page.to_string().len());
        let Value::Array(more) = page[list].take() else {
            panic!("{page}");
        };
        assert!(!more.is_empty());
        items.extend(more);
        if page["next_offset"].is_null() {
            assert!(page["note"].is_null(), "{page}");
            return items;
        }
        let note = page["note"].as_str().unwrap();
        assert_has(note, &[&format!("offset {}", page["next_offset"])]);
        arguments["offset"] = page["next_offset"].take();
    }
    panic!("it never ends");
}

/// A section of a change, answer by answer.
async fn section_parts(client: &mcp_proto_client::Client, section: &str) -> Vec<Value> {
    let mut asked = json!({"change_id": "add-reservations", "section": section});
    let mut parts = Vec::new();
    loop {
        let part = structured(client, "get_change", asked.clone()).await;
        asked["offset"] = part["next_offset"].clone();
        parts.push(part);
        if asked["offset"].is_null() {
            return parts;
        }
    }
}

/// The names in all deltas of a change, from bounded answers.
async fn delta_names(client: &mcp_proto_client::Client) -> Vec<Value> {
    let mut names = Vec::new();
    for part in section_parts(client, "deltas").await {
        let length = part.to_string().len();
        assert!(length < BUDGET + AROUND, "{length}");
        for (capability, view) in part["deltas"].as_object().unwrap() {
            assert!(view["file"].as_str().unwrap().contains(capability));
            let items = view["items"].as_array().unwrap();
            names.extend(items.iter().map(|item| item["name"].clone()));
        }
    }
    names
}

#[tokio::test]
async fn lists_go_on_where_they_stopped() {
    let project = Copy::of("empty");
    let mut large = "# Large\n\n## Purpose\n\nx\n\n## Requirements\n".to_owned();
    for number in 0..300 {
        let purpose = "Ä very long purpose. ".repeat(100);
        project.write(
            &format!("specs/spec-{number:03}/spec.md"),
            format!("# Spec {number}\n\n## Purpose\n\n{purpose}\n"),
        );
        project.write(&format!("specs/_changes/change-{number:03}/proposal.md"), "# Change: C\n");
        write!(large, "\n### Requirement: Number {number}\n\nIt SHALL.\n").unwrap();
    }
    project.write("specs/large/spec.md", large);
    let client = small(&project).await;

    let specs = all_pages(&client, "list_specs", json!({}), "specs").await;
    let ids: Vec<_> = specs.iter().map(|spec| spec["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 301);
    assert!(ids.is_sorted());
    // A long purpose is cut, between characters.
    assert!(specs[1]["purpose"].as_str().unwrap().ends_with('…'));

    let asked = json!({"spec_id": "large"});
    let requirements = all_pages(&client, "get_spec_requirements", asked, "requirements").await;
    assert_eq!(requirements.len(), 300);
    assert_eq!(requirements[299]["name"], "Number 299");

    let changes = all_pages(&client, "list_changes", json!({}), "changes").await;
    assert_eq!(changes.len(), 300);
}

#[tokio::test]
async fn a_long_change_is_cut_and_its_sections_can_be_read_to_their_end() {
    let project = Copy::of("library");
    let folder = "specs/_changes/add-reservations";
    let why = "Because ö. ".repeat(2_000);
    let what = "- What ß.\n".repeat(2_000);
    let tasks = "- [ ] 1.1 Täsk\n".repeat(2_000);
    let design = "Dêsign.\n".repeat(2_000);
    let proposal = format!("# Change: Long\n\n## Why\n\n{why}\n\n## What Changes\n\n{what}\n");
    project.write(&format!("{folder}/proposal.md"), proposal);
    project.write(&format!("{folder}/tasks.md"), &tasks);
    project.write(&format!("{folder}/design.md"), &design);
    let mut delta = "## ADDED Requirements\n".to_owned();
    for number in 0..200 {
        let scenario = "#### Scenario: S\n\n- **WHEN** a\n- **THEN** b\n";
        write!(delta, "\n### Requirement: Number {number}\n\nIt SHALL.\n\n{scenario}").unwrap();
    }
    project.write(&format!("{folder}/specs/lending/spec.md"), delta);
    let client = small(&project).await;

    let whole = structured(&client, "get_change", json!({"change_id": "add-reservations"})).await;
    assert!(whole.to_string().len() < 2 * BUDGET + AROUND, "{}", whole.to_string().len());
    let note = whole["note"].as_str().unwrap();
    for section in ["proposal", "tasks", "design", "deltas"] {
        assert!(note.contains(section), "{note}");
    }
    assert_eq!(whole["tasks"]["total"], 2_000);

    for (section, member, text) in [
        ("tasks", "/tasks/content", &tasks),
        ("design", "/design", &design),
        ("proposal", "/proposal/what_changes", &what.trim().to_owned()),
    ] {
        let parts = section_parts(&client, section).await;
        let texts = parts.iter().map(|part| part.pointer(member).unwrap());
        let read: String = texts.map(|text| text.as_str().unwrap()).collect();
        assert!(read == *text, "{section}: {} of {} bytes", read.len(), text.len());
    }

    let names = delta_names(&client).await;
    assert_eq!(names.len(), 201);
    assert_eq!((&names[0], &names[200]), (&json!("Number 0"), &json!("Queue")));
}

#[tokio::test]
async fn many_new_capabilities_do_not_make_a_long_answer() {
    let project = Copy::of("library");
    let folder = "specs/_changes/add-reservations";
    let purpose = "Keeps what is asked for until it comes back. ".repeat(100);
    for number in 0..100 {
        let delta = format!(
            "## Purpose\n{purpose}\n\n## ADDED Requirements\n\n### Requirement: Number {number}\nIt SHALL.\n"
        );
        project.write(&format!("{folder}/specs/made-{number:03}/spec.md"), delta);
    }
    let client = small(&project).await;
    // Those, and the three that were there.
    assert_eq!(delta_names(&client).await.len(), 103);
    let whole = structured(&client, "get_change", json!({"change_id": "add-reservations"})).await;
    let length = whole.to_string().len();
    assert!(length < 2 * BUDGET + AROUND, "{length}");
}

#[tokio::test]
async fn a_long_scenario_is_cut_and_says_where_the_rest_is() {
    let project = Copy::of("library");
    let clauses = "- **AND** more and more of it\n".repeat(1_000);
    let text = project.read("specs/lending/spec.md");
    let text =
        text.replace("- **THEN** the renewal is refused\n", &format!("- **THEN** so\n{clauses}"));
    project.write("specs/lending/spec.md", text);
    let client = small(&project).await;
    let asked =
        json!({"spec_id": "lending", "requirement": "Renewal", "scenario": "Somebody waits"});
    let scenario = structured(&client, "get_scenario", asked).await;
    assert!(scenario.to_string().len() < BUDGET + AROUND);
    let then = scenario["then"].as_array().unwrap();
    assert!((10..1_000).contains(&then.len()), "{}", then.len());
    let note = scenario["note"].as_str().unwrap();
    assert_has(note, &["specs/lending/spec.md", "line 36"]);
}

#[tokio::test]
async fn many_findings_are_counted_and_some_told() {
    let project = Copy::of("empty");
    for number in 0..500 {
        project.write(&format!("specs/spec-{number:03}/spec.md"), "# Nothing\n");
    }
    let client = small(&project).await;
    let verdict = structured(&client, "validate_spec", json!({})).await;
    assert!(verdict.to_string().len() < BUDGET + AROUND);
    assert_eq!(verdict["valid"], false);
    let note = verdict["note"].as_str().unwrap();
    assert!(note.contains(" of 1000 errors"), "{note}");
    assert_has(verdict["summary"].as_str().unwrap(), &["1000 errors"]);
}

#[tokio::test]
async fn names_without_end_are_cut_everywhere() {
    let project = Copy::of("library");
    let long = "Nämé ".repeat(20_000);
    let scenario = format!(
        "#### Scenario: {long}\n\n- **GIVEN** {long}\n- **WHEN** {long}\n- **THEN** {long}\n"
    );
    let requirement = format!("### Requirement: {long}\n\n{long}\n\n{scenario}\n{scenario}");
    let spec = format!(
        "# {long}\n\n## Purpose\n\n{long}\n\n## Requirements\n\n{requirement}\n{requirement}"
    );
    project.write("specs/lending/spec.md", spec);
    let folder = "specs/_changes/add-reservations";
    let proposal = format!("# Change: {long}\n\n## Why\n\n{long}\n\n## What Changes\n\n{long}\n");
    project.write(&format!("{folder}/proposal.md"), proposal);
    project
        .write(&format!("{folder}/tasks.md"), format!("## {long}\n\n- [ ] {long}\n- [ ] {long}\n"));
    project.write(&format!("{folder}/design.md"), &long);
    let delta = format!(
        "## ADDED Requirements\n\n{requirement}\n## MODIFIED Requirements\n\n{requirement}"
    );
    project.write(&format!("{folder}/specs/lending/spec.md"), delta);
    let client = small(&project).await;
    let change = json!({"change_id": "add-reservations"});
    for (tool, arguments) in [
        ("list_specs", json!({})),
        ("get_spec_requirements", json!({"spec_id": "lending"})),
        ("get_scenario", json!({"spec_id": "lending", "requirement": long})),
        ("get_scenario", json!({"spec_id": "lending", "requirement": "N"})),
        ("get_scenario", json!({"spec_id": "lending", "requirement": long, "scenario": "N"})),
        ("search_specs", json!({"query": "nämé loan"})),
        ("list_changes", json!({})),
        ("get_change", change.clone()),
        ("get_change", json!({"change_id": "add-reservations", "section": "deltas"})),
        ("validate_spec", json!({})),
        ("validate_change", json!({})),
        ("preview_change", change),
    ] {
        let result = client.call_tool_raw(tool, arguments.clone()).await.unwrap();
        let text = result["content"][0]["text"].as_str().unwrap();
        // The characters beyond ASCII are two bytes, and what is quoted is longer than it is.
        let length = text.len();
        assert!(length < 3 * (BUDGET + AROUND), "{tool}: {length} bytes");
    }
}
