//! What the tools answer beyond the contract's scenarios.

use std::fs;

use mcp_proto::Era;
use serde_json::{Value, json};

use super::harness::{Copy, both_eras, call, client, error_of, settings, structured};
use crate::assert_has;

#[tokio::test]
async fn a_spec_without_a_purpose_is_listed_and_files_that_cannot_be_read_are_told() {
    let project = Copy::of("library");
    project.write("specs/bare/spec.md", "# Bare\n");
    project.write("specs/binary/spec.md", b"# Binary\n\xff\xfe\n");
    for client in both_eras(&settings(project.root())).await {
        let listed = structured(&client, "list_specs", json!({})).await;
        let ids: Vec<_> = listed["specs"].as_array().unwrap().iter().collect();
        assert_eq!(ids[0], &json!({"id": "bare", "title": "Bare", "purpose": ""}));
        assert_eq!(listed["total"], 4, "{listed}");
        let unreadable = listed["unreadable"].as_array().unwrap();
        assert_eq!(unreadable.len(), 1);
        assert_eq!(unreadable[0]["file"], "specs/binary/spec.md");
        assert!(unreadable[0]["problem"].as_str().unwrap().contains("UTF-8"));

        let error = error_of(&client, "get_spec_requirements", json!({"spec_id": "binary"})).await;
        assert_eq!(error["code"], "UNREADABLE");
        assert_has(error["message"].as_str().unwrap(), &["specs/binary/spec.md"]);

        let searched = structured(&client, "search_specs", json!({"query": "reminder"})).await;
        assert_eq!(searched["results"][0]["spec_id"], "notices");
        assert_has(searched["note"].as_str().unwrap(), &["1 file could not be read"]);
    }
}

#[tokio::test]
async fn what_is_written_or_removed_meanwhile_is_seen_at_once() {
    let project = Copy::of("library");
    for client in both_eras(&settings(project.root())).await {
        structured(&client, "list_specs", json!({})).await;
        project.write(
            "specs/fees/spec.md",
            "# Fees\n\n## Purpose\n\nSays what a lost quaternion costs.\n\n## Requirements\n\n### Requirement: Loss\n\nA lost \
             copy SHALL be paid.\n\n#### Scenario: Lost\n\n- **WHEN** lost\n- **THEN** paid\n",
        );
        let listed = structured(&client, "list_specs", json!({})).await;
        assert_eq!(listed["specs"][0]["id"], "fees");
        let found = structured(&client, "search_specs", json!({"query": "quaternion"})).await;
        assert_eq!(found["results"][0]["spec_id"], "fees");
        assert_eq!(found["results"][0]["requirement"], Value::Null);

        fs::remove_dir_all(project.path("specs/fees")).unwrap();
        let error = error_of(&client, "get_spec_requirements", json!({"spec_id": "fees"})).await;
        assert_eq!(error["code"], "SPEC_NOT_FOUND");
        let found = structured(&client, "search_specs", json!({"query": "quaternion"})).await;
        assert_eq!(found["results"], json!([]));
    }
}

#[tokio::test]
async fn a_change_of_parts_is_told_as_far_as_it_goes() {
    let project = Copy::of("library");
    project.write("specs/_changes/idea/notes.txt", "nothing yet");
    for client in both_eras(&settings(project.root())).await {
        let change = structured(&client, "get_change", json!({"change_id": "idea"})).await;
        let expected = json!({
            "change_id": "idea",
            "proposal": {"why": "", "what_changes": ""},
            "tasks": {"content": "", "completed": 0, "total": 0},
            "deltas": {},
            "files": [{"file": "notes.txt", "bytes": 11}],
        });
        assert_eq!(change, expected);
        for section in ["proposal", "tasks", "design"] {
            let asked = json!({"change_id": "idea", "section": section});
            let error = error_of(&client, "get_change", asked).await;
            assert_eq!(error["code"], "SECTION_NOT_FOUND");
            assert_eq!(error["data"]["section"], section);
        }
        let asked = json!({"change_id": "idea", "section": "deltas"});
        let deltas = structured(&client, "get_change", asked).await;
        assert_eq!(deltas, json!({"change_id": "idea", "deltas": {}}));
    }
}

#[tokio::test]
async fn two_changes_of_one_requirement_are_told_of_each_other() {
    let project = Copy::of("library");
    let delta = project.read("specs/_changes/shorten-notice/specs/notices/spec.md");
    project.write("specs/_changes/other/proposal.md", "# Change: Other\n");
    project.write("specs/_changes/other/specs/notices/spec.md", delta);
    for client in both_eras(&settings(project.root())).await {
        let asked = json!({"change_id": "shorten-notice", "strict": true});
        let verdict = structured(&client, "validate_change", asked).await;
        // Advice makes nothing invalid, strict or not.
        assert_eq!(verdict["valid"], true, "{verdict}");
        let warnings = verdict["warnings"].as_array().unwrap();
        let conflict = warnings.iter().find(|warning| warning["rule"] == "change-conflict");
        let conflict = conflict.unwrap_or_else(|| panic!("{verdict}"));
        assert_eq!(conflict["advice"], true);
        assert!(conflict["description"].as_str().unwrap().contains("other"));
    }
}

#[tokio::test]
async fn strictly_a_warning_is_a_failure() {
    let project = Copy::of("library");
    let spec = project.read("specs/notices/spec.md");
    let spec = spec.replace("Reminds members of their days of return in good time and", "Reminds");
    project
        .write("specs/notices/spec.md", spec.replace("without revealing what they read.", "us."));
    for client in both_eras(&settings(project.root())).await {
        let lenient = structured(&client, "validate_spec", json!({"spec_id": "NOTICES"})).await;
        assert_eq!((&lenient["valid"], &lenient["errors"]), (&json!(true), &json!([])));
        assert_eq!(lenient["warnings"].as_array().unwrap().len(), 1, "{lenient}");
        let asked = json!({"spec_id": "notices", "strict": true});
        let strict = structured(&client, "validate_spec", asked).await;
        assert_eq!(strict["valid"], false);
        assert_eq!(strict["warnings"], lenient["warnings"]);
    }
}

#[tokio::test]
async fn a_place_without_a_project_is_told_until_there_is_one() {
    let project = Copy::empty();
    let [legacy, modern] = both_eras(&settings(project.root())).await;
    for client in [&legacy, &modern] {
        for tool in ["list_specs", "list_changes", "validate_spec", "validate_change"] {
            let error = error_of(client, tool, json!({})).await;
            assert_eq!(error["code"], "NO_PROJECT");
            let message = error["message"].as_str().unwrap();
            assert_has(message, &[".spox/config.toml", "openspec/"]);
        }
        let listed = client.request("resources/list", json!({})).await.unwrap_err();
        assert!(listed.to_string().contains(".spox/config.toml"), "{listed}");
    }
    fs::create_dir_all(project.path("openspec")).unwrap();
    for client in [&legacy, &modern] {
        let listed = structured(client, "list_specs", json!({})).await;
        assert_eq!(listed, json!({"specs": [], "total": 0}));
        let changes = structured(client, "list_changes", json!({})).await;
        assert_eq!(changes, json!({"changes": [], "total": 0}));
        let found = structured(client, "search_specs", json!({"query": "anything"})).await;
        assert_eq!(found["results"], json!([]));
        for tool in ["validate_spec", "validate_change"] {
            assert_eq!(structured(client, tool, json!({})).await["valid"], true);
        }
    }
}

#[tokio::test]
async fn nulls_and_members_nobody_knows_are_passed_over() {
    let project = Copy::of("library");
    for client in both_eras(&settings(project.root())).await {
        let asked = json!({"spec_id": null, "strict": null, "mood": "good"});
        let result = call(&client, "validate_spec", asked).await;
        assert_eq!(result["structuredContent"]["valid"], true, "{result}");
    }
}

#[tokio::test]
async fn a_configuration_that_changes_counts_at_once() {
    let project = Copy::of("library");
    project.write("other/fees/spec.md", "# Fees\n\n## Purpose\nServes.\n");
    let config = project.read(".spox/config.toml");
    for client in both_eras(&settings(project.root())).await {
        project.write(".spox/config.toml", &config);
        let before = structured(&client, "list_specs", json!({})).await;
        assert_ne!(before["specs"][0]["id"], "fees");
        let other =
            "[paths]\nspec_folder = \"other\"\nchanges_folder = \"c\"\narchive_folder = \"a\"\n";
        project.write(".spox/config.toml", other);
        let after = structured(&client, "list_specs", json!({})).await;
        assert_eq!((&after["total"], &after["specs"][0]["id"]), (&json!(1), &json!("fees")));
        let found = structured(&client, "search_specs", json!({"query": "serves"})).await;
        assert_eq!(found["results"][0]["spec_id"], "fees");
        project.write(".spox/config.toml", "[paths");
        let broken = error_of(&client, "list_specs", json!({})).await;
        assert_eq!(broken["code"], "NO_PROJECT");
        assert!(broken["message"].as_str().unwrap().contains("is not TOML"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn who_has_written_finds_it_whoever_else_asks() {
    let project = std::sync::Arc::new(Copy::of("library"));
    for number in 0..300 {
        let text = format!("# Other {number}\n\n## Purpose\nServes.\n");
        project.write(&format!("specs/other-{number}/spec.md"), text);
    }
    let client = client(settings(project.root()), Era::Modern).await;
    let writers = (0..6).map(|writer| {
        let (client, project) = (client.clone(), project.clone());
        tokio::spawn(async move {
            for round in 0..20 {
                let mark = format!("mark{writer}of{round}");
                let text = format!("# Mine\n\n## Purpose\nServes {mark}.\n");
                project.write(&format!("specs/writer-{writer}/spec.md"), text);
                let found = structured(&client, "search_specs", json!({"query": mark})).await;
                let results = found["results"].as_array().unwrap();
                assert!(!results.is_empty(), "{mark} is not found");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}
