//! One call reads a spec, nothing of it is invisible, changes are searched, and the project's own words are read.

use std::collections::BTreeSet;

use mcp_proto::Era;
use serde_json::{Value, json};

use super::harness::{Copy, both_eras, client, error_of, settings, structured};
use crate::assert_has;

/// Two requirements of one name, one outside of the section, a text of its own.
const ODD: &str = "# Odd\n\n## Requirements\n\n### Requirement: Twin\nIt SHALL be first.\n\n#### Scenario: One\n- **WHEN** a\n\
                   - **THEN** b\n\n### Requirement: Twin\nIt SHALL be second.\n\n#### Scenario: Two\n- **WHEN** c\n- **THEN** d\n\n\
                   ## Background\n\nA heliograph flashes at noon.\n\n### Requirement: Stray\nIt SHALL be seen.\n";

fn names(answer: &Value) -> Vec<&str> {
    let all = answer["requirements"].as_array().unwrap();
    all.iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_spec_is_read_in_as_much_detail_as_is_asked_for() {
    let project = Copy::of("library");
    let text = project.read("specs/lending/spec.md");
    for client in both_eras(&settings(project.root())).await {
        let get = async |more: Value| {
            let mut asked = json!({"spec_id": "lending"});
            asked.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            structured(&client, "get_spec_requirements", asked).await
        };
        let listed = get(json!({})).await;
        assert_eq!(listed, get(json!({"detail": "names"})).await);
        assert_eq!(listed["requirements"][0].get("text"), None);
        assert_eq!(listed["note"], Value::Null);
        // What is being changed says by which change.
        assert_eq!(listed["requirements"][1]["changes"], json!(["add-reservations"]));

        let described = get(json!({"detail": "requirements"})).await;
        assert_has(described["requirements"][0]["text"].as_str().unwrap(), &["SHALL"]);
        assert_eq!(described["requirements"][0]["scenarios"].as_array().unwrap().len(), 2);

        let asked = json!({"detail": "scenarios", "requirements": ["return", "loan"]});
        let some = get(asked).await;
        assert_eq!(names(&some), ["Loan", "Return"]);
        let block = some["requirements"][0]["text"].as_str().unwrap();
        assert!(block.starts_with("### Requirement: Loan\n") && text.contains(block), "{block}");

        assert_eq!(get(json!({"detail": "whole"})).await["text"], json!(text));
        let asked = json!({"spec_id": "lending", "requirements": ["Lone"]});
        let error = error_of(&client, "get_spec_requirements", asked).await;
        assert_eq!(error["code"], "REQUIREMENT_NOT_FOUND");
        assert_eq!(error["data"]["nearest"], json!(["Loan"]));
    }
}

#[tokio::test]
async fn a_heading_among_requirements_that_does_not_say_so_is_noted() {
    let project = Copy::of("counter");
    let text = "# Plain\n\n## Purpose\nP.\n\n## Requirements\n\n### Retention\nIt SHALL be kept.\n\n\
                ### Requirement: Named\nIt SHALL be named.\n\n#### Scenario: One\n- **WHEN** a\n- **THEN** b\n";
    project.write("openspec/specs/plain/spec.md", text);
    for client in both_eras(&settings(project.root())).await {
        let asked = json!({"spec_id": "plain"});
        let listed = structured(&client, "get_spec_requirements", asked.clone()).await;
        assert_eq!(names(&listed), ["Retention", "Named"]);
        let note = listed["note"].as_str().unwrap();
        let says = "1 of 2 requirements whose headings do not say `Requirement:`, which a change cannot name (line 8)";
        assert!(note.contains(says), "{note}");
        let verdict = structured(&client, "validate_spec", asked).await;
        let advice = "`### Retention` is malformed; write `### Requirement: Retention`";
        assert!(verdict.to_string().contains(advice), "{verdict}");
    }
}

#[tokio::test]
async fn what_is_malformed_is_read_found_and_noted() {
    let project = Copy::of("counter");
    project.write("openspec/specs/odd/spec.md", ODD);
    for client in both_eras(&settings(project.root())).await {
        let asked = json!({"spec_id": "odd"});
        let listed = structured(&client, "get_spec_requirements", asked).await;
        assert_eq!(names(&listed), ["Twin", "Twin", "Stray"]);
        let note = listed["note"].as_str().unwrap();
        for part in
            ["Purpose", "1 of 3 requirements outside", "line 23", "lines 5, 12", "validate_spec"]
        {
            assert!(note.contains(part), "{note}");
        }
        let all = structured(&client, "list_specs", json!({})).await;
        assert_has(all["note"].as_str().unwrap(), &["1 spec is malformed, but read: odd"]);

        // The second of one name: by its scenario, or by its line.
        for (requirement, scenario) in [("Twin", json!("Two")), ("12", Value::Null)] {
            let mut asked = json!({"spec_id": "odd", "requirement": requirement});
            if !scenario.is_null() {
                asked["scenario"] = scenario;
            }
            let read = structured(&client, "get_scenario", asked).await;
            assert_eq!(read["requirement_description"], "It SHALL be second.");
        }
        let first = json!({"spec_id": "odd", "requirement": "Twin"});
        let first = structured(&client, "get_scenario", first).await;
        assert_has(first["note"].as_str().unwrap(), &["lines 5, 12"]);

        let found = structured(&client, "search_specs", json!({"query": "heliograph"})).await;
        let hit = &found["results"][0];
        assert_eq!((&hit["requirement"], &hit["section"]), (&Value::Null, &json!("Background")));
        let verdict = structured(&client, "validate_spec", json!({"spec_id": "ODD"})).await;
        assert_eq!(verdict["valid"], false);
    }
}

#[tokio::test]
async fn changes_and_the_archive_are_searched() {
    let project = Copy::of("counter");
    for client in both_eras(&settings(project.root())).await {
        let search = async |query: &str, scope: &str| {
            let asked = json!({"query": query, "in": scope});
            structured(&client, "search_specs", asked).await
        };
        let found = search("caretaker", "changes").await;
        assert_eq!(found["results"][0]["change_id"], "extend-hours");
        assert_eq!(found["results"][0]["file"], "tasks.md");
        let found = search("sundays", "archive").await;
        assert_eq!(found["results"][0]["change_id"], "2026-01-12-open-on-sundays");
        let nothing = search("quaternion", "changes").await;
        assert_has(nothing["note"].as_str().unwrap(), &["no word"]);
        // Archived changes answer to their bare name, in any case.
        let asked = json!({"change_id": "Open-On-Sundays"});
        let read = structured(&client, "get_change", asked).await;
        assert_eq!(read["change_id"], "2026-01-12-open-on-sundays");
    }
}

/// The title of a change is found with each of its files, also after it was changed in one.
#[tokio::test]
async fn a_new_title_is_that_of_all_files_of_a_change() {
    let project = Copy::empty();
    project.write("openspec/changes/c/tasks.md", "- [ ] 1.1 hang the lamp\n");
    let client = client(settings(project.root()), Era::Modern).await;
    for (title, gone) in [("Zebra", "giraffe"), ("Giraffe", "zebra")] {
        let proposal = format!("# {title}\n\n## Why\nSo.\n\n## What Changes\n- It.\n");
        project.write("openspec/changes/c/proposal.md", &proposal);
        let search = async |query: &str| {
            let asked = json!({"query": query, "in": "changes"});
            let found = structured(&client, "search_specs", asked).await;
            let found = found["results"].as_array().unwrap().iter();
            found.map(|hit| hit["file"].as_str().unwrap().to_owned()).collect::<BTreeSet<_>>()
        };
        let both = ["proposal.md", "tasks.md"].map(str::to_owned);
        assert_eq!(search(title).await, BTreeSet::from(both));
        assert_eq!(search(gone).await, BTreeSet::new());
    }
}

#[tokio::test]
async fn the_projects_own_words_reach_the_tool_and_the_prompts() {
    let project = Copy::of("counter");
    let config = "schema: mine\ncontext: |\n  We say reader, not user.\nrules:\n  proposal:\n    - Name the desk.\n  tasks: []\n";
    project.write("openspec/config.yaml", config);
    project.write("openspec/project.md", "# The counter\n");
    let schema = "name: mine\nversion: 1\nartifacts:\n  - id: brief\n    generates: brief.md\n    description: Half a page.\n    \
                  template: brief.md\n    instruction: Ask first.\n";
    project.write("openspec/schemas/mine/schema.yaml", schema);
    project.write("openspec/schemas/mine/templates/brief.md", "## Who\n");
    let wanted = [
        "We say reader",
        "- Name the desk.",
        "# The counter",
        "`brief.md`",
        "Ask first.",
        "## Who",
    ];
    for client in both_eras(&settings(project.root())).await {
        let read = structured(&client, "get_project", json!({})).await;
        assert_eq!((&read["kind"], &read["schema"]), (&json!("openspec"), &json!("mine")));
        let words = read["words"].as_str().unwrap();
        for (name, arguments) in [
            ("propose_change", json!({"idea": "Open at night."})),
            ("implement_change", json!({"change_id": "extend-hours"})),
            ("archive_change", json!({"change_id": "extend-hours"})),
        ] {
            let asked = json!({"name": name, "arguments": arguments});
            let got = client.request("prompts/get", asked).await.unwrap();
            let text = got["messages"][0]["content"]["text"].as_str().unwrap();
            for part in wanted {
                assert!(text.contains(part) && words.contains(part), "{name}: {part}");
            }
        }
    }
    project.write("openspec/config.yaml", "context: [\n");
    for client in both_eras(&settings(project.root())).await {
        let read = structured(&client, "get_project", json!({})).await;
        assert_has(read["note"].as_str().unwrap(), &["openspec/config.yaml"]);
    }
}
