//! An OpenSpec repository as it is: ids with slashes, the archive, prompts that name its folders.

use serde_json::{Value, json};

use super::harness::{Copy, both_eras, error_of, settings, structured};
use crate::assert_has;

#[tokio::test]
async fn ids_with_slashes_are_tools_arguments_and_uris() {
    let project = Copy::of("counter");
    project.write("openspec/specs/über uns/spec.md", "# About\n");
    for client in both_eras(&settings(project.root())).await {
        let asked = json!({"spec_id": "desk/returns", "requirement": "flap"});
        let scenario = structured(&client, "get_scenario", asked).await;
        assert_eq!(scenario["when"], "a copy is put into the flap at night");
        assert_eq!(scenario["file"], "openspec/specs/desk/returns/spec.md");

        let listed = client.request("resources/list", json!({})).await.unwrap();
        let uris: Vec<_> =
            listed["resources"].as_array().unwrap().iter().map(|one| &one["uri"]).collect();
        assert_eq!(
            uris,
            [
                "spec://desk/returns",
                "spec://hours",
                "spec://%C3%BCber%20uns",
                "change://extend-hours"
            ]
        );
        for uri in uris {
            let read = client.request("resources/read", json!({"uri": uri})).await.unwrap();
            assert_eq!(read["contents"][0]["uri"], *uri);
            assert!(!read["contents"][0]["text"].as_str().unwrap().is_empty());
        }
        let same = client.request("resources/read", json!({"uri": "spec://desk%2Freturns"})).await;
        assert!(same.unwrap()["contents"][0]["text"].as_str().unwrap().starts_with("# Returns"));

        let asked = json!({
            "ref": {"type": "ref/resource", "uri": "spec://{+id}"},
            "argument": {"name": "id", "value": "ret"},
        });
        let completed = client.request("completion/complete", asked).await.unwrap();
        assert_eq!(completed["completion"]["values"], json!(["desk/returns"]));
    }
}

#[tokio::test]
async fn archived_changes_are_listed_and_read() {
    let project = Copy::of("counter");
    for client in both_eras(&settings(project.root())).await {
        let listed = structured(&client, "list_changes", json!({"archived": true})).await;
        let change = &listed["changes"][0];
        assert_eq!(change["id"], "2026-01-12-open-on-sundays");
        assert_eq!(change["archived_on"], "2026-01-12");
        assert_eq!(change["task_progress"], json!({"completed": 1, "total": 1}));
        let asked = json!({"change_id": "2026-01-12-open-on-sundays", "section": "tasks"});
        let tasks = structured(&client, "get_change", asked).await;
        assert_eq!(tasks["tasks"]["content"], "- [x] 1.1 Open\n");
        let uri = json!({"uri": "change://2026-01-12-open-on-sundays"});
        let read = client.request("resources/read", uri).await.unwrap();
        assert_has(read["contents"][0]["text"].as_str().unwrap(), &["## Why"]);
    }
    // One that cannot be read is not one that is not there.
    let tasks = "openspec/changes/archive/2026-01-12-open-on-sundays/tasks.md";
    project.write(tasks, b"\xff");
    for client in both_eras(&settings(project.root())).await {
        let asked = json!({"change_id": "2026-01-12-open-on-sundays"});
        let error = error_of(&client, "get_change", asked).await;
        assert_eq!(error["code"], "UNREADABLE");
        assert!(error["message"].as_str().unwrap().contains(tasks));
    }
}

#[tokio::test]
async fn prompts_name_the_folders_of_this_kind_of_repository() {
    let project = Copy::of("counter");
    let mut settings = settings(project.root());
    for allow_writes in [false, true] {
        settings.allow_writes = allow_writes;
        for client in both_eras(&settings).await {
            let get = async |name: &str, arguments: Value| -> String {
                let asked = json!({"name": name, "arguments": arguments});
                let mut got = client.request("prompts/get", asked).await.unwrap();
                match got["messages"][0]["content"]["text"].take() {
                    Value::String(text) => text,
                    other => panic!("{other}"),
                }
            };
            let idea = json!({"idea": "Open at night.", "change_id": "open-at-night"});
            let propose = get("propose_change", idea).await;
            assert!(propose.contains("`openspec/changes/ID/`"), "{propose}");
            assert!(propose.contains("Its id is `open-at-night`."), "{propose}");
            // The form of a delta comes with the step that writes it.
            assert!(propose.contains("call next_step"), "{propose}");

            let of = json!({"change_id": "extend-hours"});
            let implement = get("implement_change", of.clone()).await;
            assert_has(&implement, &["1.1 (line 1) Ask the caretaker"]);
            assert_eq!(implement.contains("call complete_task"), allow_writes, "{implement}");
            let by_hand = implement.contains("`openspec/changes/extend-hours/tasks.md`");
            assert_eq!(by_hand, !allow_writes, "{implement}");

            let archive = get("archive_change", of).await;
            assert_eq!(archive.contains("Call archive_change"), allow_writes, "{archive}");
            let by_hand = archive.contains("`openspec/changes/archive/YYYY-MM-DD-extend-hours`");
            assert_eq!(by_hand, !allow_writes, "{archive}");

            let archived = json!({"change_id": "2026-01-12-open-on-sundays"});
            let archived = get("archive_change", archived).await;
            assert_has(&archived, &["was archived on 2026-01-12"]);
        }
    }
}
