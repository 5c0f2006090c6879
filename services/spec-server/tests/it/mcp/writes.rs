//! The tools that write: only if they may, all or nothing, and never over what somebody else has written.

use std::fs;
use std::io::Write as _;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::json;
use spec_server::mcp;

use super::harness::{Copy, both_eras, client, error_of, settings, structured};
use crate::assert_has;

async fn writing(project: &Copy, era: Era) -> Client {
    let mut settings = settings(project.root());
    settings.allow_writes = true;
    client(settings, era).await
}

const BOTH: [Era; 2] = [Era::Legacy, Era::Modern];

#[tokio::test]
async fn nothing_writes_unless_it_may() {
    let project = Copy::of("library");
    for client in both_eras(&settings(project.root())).await {
        let tools = client.list_tools().await.unwrap();
        assert_eq!(tools.len(), 11);
        assert!(tools.iter().all(|tool| {
            let hints = tool.annotations.as_ref().unwrap();
            hints.read_only_hint == Some(true)
        }));
        for tool in ["archive_change", "complete_task"] {
            let arguments = json!({"change_id": "shorten-notice", "task": "1.1"});
            assert!(client.call_tool_raw(tool, arguments).await.is_err(), "{tool}");
        }
    }
    let client = writing(&project, Era::Modern).await;
    let tools = client.list_tools().await.unwrap();
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let hints = tool.annotations.clone().unwrap();
        (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint)
    };
    assert_eq!(hints("archive_change"), (Some(false), Some(true), Some(false)));
    assert_eq!(hints("complete_task"), (Some(false), Some(false), Some(true)));
}

#[tokio::test]
async fn a_change_is_archived_as_it_was_previewed() {
    for era in BOTH {
        let project = Copy::of("library");
        let client = writing(&project, era).await;
        let of = json!({"change_id": "add-reservations"});
        let preview = structured(&client, "preview_change", of.clone()).await;
        let before = project.read("specs/lending/spec.md");
        assert!(!before.contains("### Requirement: Hold"), "a preview writes nothing");

        let error = error_of(&client, "archive_change", of.clone()).await;
        assert_eq!(error["code"], "TASKS_OPEN");
        assert!(project.path("specs/_changes/add-reservations").exists());
        let forced = json!({"change_id": "add-reservations", "force": true});
        let archived = structured(&client, "archive_change", forced).await;
        assert_eq!(archived["specs"], preview["specs"]);
        let id = archived["archived_id"].as_str().unwrap();
        assert!(id.ends_with("-add-reservations") && id.len() == "2026-01-01-".len() + 16, "{id}");
        assert_eq!(archived["folder"], format!("specs/_archive/{id}"));
        assert!(!project.path("specs/_changes/add-reservations").exists());
        assert!(project.path("specs/_archive").join(id).join("tasks.md").exists());
        let after = project.read("specs/lending/spec.md");
        assert!(after.contains("### Requirement: Hold"));
        // What the change does not speak of is as it was.
        let (head, _) = before.split_once("### Requirement: Renewal").unwrap();
        assert!(after.starts_with(head));

        // Everything else knows of it at once.
        let error = error_of(&client, "get_change", json!({"change_id": "add-reservation"})).await;
        assert_eq!(error["code"], "CHANGE_NOT_FOUND");
        let listed = structured(&client, "list_specs", json!({})).await;
        assert_eq!(listed["total"], 4, "{listed}");
        let verdict = structured(&client, "validate_spec", json!({})).await;
        assert_eq!(verdict["errors"], json!([]));
        let again = error_of(&client, "archive_change", of).await;
        assert_eq!(again["code"], "CHANGE_NOT_FOUND");
    }
}

#[tokio::test]
async fn open_tasks_are_the_users_to_decide() {
    for era in BOTH {
        for (answer, archives) in [
            (json!({"action": "accept", "content": {"archive": true}}), true),
            (json!({"action": "accept", "content": {"archive": false}}), false),
            (json!({"action": "decline"}), false),
        ] {
            let project = Copy::of("library");
            let mut settings = settings(project.root());
            settings.allow_writes = true;
            let mut config = ClientConfig::new(era).with_answers(move |asked| {
                let message = asked.params["message"].as_str().unwrap_or_default().to_owned();
                assert!(message.contains("2 of 4 tasks are open"), "{message}");
                let answer = answer.clone();
                async move { Ok(answer) }
            });
            let capabilities = &mut config.capabilities;
            capabilities.insert("elicitation".to_owned(), json!({}));
            let server = mcp::server(settings).unwrap();
            let client = Client::memory(server, config).await.unwrap();
            let of = json!({"change_id": "add-reservations"});
            if archives {
                structured(&client, "archive_change", of).await;
            } else {
                let error = error_of(&client, "archive_change", of).await;
                assert_eq!(error["code"], "DECLINED");
            }
            let is_active = project.path("specs/_changes/add-reservations").exists();
            assert_eq!(is_active, !archives);
        }
    }
}

#[tokio::test]
async fn what_stands_in_the_way_is_told_and_nothing_is_written() {
    for era in BOTH {
        let project = Copy::of("library");
        let delta = "specs/_changes/add-reservations/specs/lending/spec.md";
        let text = project.read(delta).replace("Requirement: Renewal", "Requirement: Prolongation");
        project.write(delta, text);
        let before = project.read("specs/lending/spec.md");
        let client = writing(&project, era).await;
        let of = json!({"change_id": "add-reservations"});
        let preview = structured(&client, "preview_change", of.clone()).await;
        assert_eq!(preview["applicable"], false, "{preview}");
        let error = error_of(&client, "archive_change", of).await;
        assert_eq!(error["code"], "CANNOT_ARCHIVE");
        let message = error["message"].as_str().unwrap();
        assert_has(message, &["Prolongation", "nothing was written"]);
        assert_eq!(error["data"]["problems"], preview["problems"]);
        assert_eq!(error["data"]["problems"][0]["file"], delta);
        assert_eq!(project.read("specs/lending/spec.md"), before);
        assert!(!project.path("specs/reservations").exists());
        assert!(project.path("specs/_changes/add-reservations").exists());
    }
}

#[tokio::test]
async fn a_task_is_ticked_and_nothing_else_of_its_file_changes() {
    for era in BOTH {
        let project = Copy::of("library");
        let client = writing(&project, era).await;
        let file = "specs/_changes/add-reservations/tasks.md";
        let before = project.read(file);
        let tick = json!({"change_id": "Add-Reservations", "task": "1.3"});
        let ticked = structured(&client, "complete_task", tick.clone()).await;
        assert_eq!(
            ticked,
            json!({
                "change_id": "add-reservations", "number": "1.3", "line": 5,
                "text": "Forget a reservation after seven days at the counter",
                "file": file, "done": true, "changed": true, "completed": 3, "total": 4,
            })
        );
        assert_eq!(project.read(file), before.replace("- [ ] 1.3", "- [x] 1.3"));
        let again = structured(&client, "complete_task", tick).await;
        assert_eq!((&again["changed"], &again["completed"]), (&json!(false), &json!(3)));
        let back = json!({"change_id": "add-reservations", "task": "line 5", "done": false});
        let back = structured(&client, "complete_task", back).await;
        assert_eq!(back["completed"], 2);
        assert_eq!(project.read(file), before);
        for task in ["9.9", "1", "", "first"] {
            let asked = json!({"change_id": "add-reservations", "task": task});
            let error = error_of(&client, "complete_task", asked).await;
            assert_eq!(error["code"], "TASK_NOT_FOUND", "{task}");
        }
        assert_eq!(project.read(file), before);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_cannot_be_written_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Copy::of("library");
    let folder = project.path("specs/_changes/add-reservations");
    let writable = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    writable(0o555);
    // Root may write everywhere, so there is nothing to see as root.
    let is_root = fs::write(folder.join("probe"), "").is_ok();
    if is_root {
        // Not by a macro: what those print is shown for tests that fail only.
        let _ = writeln!(std::io::stderr(), "skipped: this user may write everywhere");
        return;
    }
    let client = writing(&project, Era::Modern).await;
    let asked = json!({"change_id": "add-reservations", "task": "1.3"});
    let error = error_of(&client, "complete_task", asked).await;
    writable(0o755);
    assert_eq!(error["code"], "NOT_WRITTEN");
}

#[tokio::test]
async fn what_another_agent_has_written_or_archived_is_told() {
    let project = Copy::of("library");
    let client = writing(&project, Era::Modern).await;
    let write =
        |file: &str, text: &str| json!({"change_id": "shorten-notice", "file": file, "text": text});
    let first = structured(&client, "write_artifact", write("design.md", "mine\n")).await;
    assert!(first.get("diff").is_none(), "{first}");
    let second = structured(&client, "write_artifact", write("design.md", "yours\n")).await;
    assert_has(second["diff"].as_str().unwrap(), &["-mine", "+yours"]);
    let misspelt = error_of(&client, "write_artifact", write("desing", "x")).await;
    assert_has(misspelt["message"].as_str().unwrap(), &["neither an artifact (", "proposal"]);
    let archive = json!({"change_id": "add-reservations", "force": true});
    structured(&client, "archive_change", archive.clone()).await;
    let again = error_of(&client, "archive_change", archive).await;
    assert_eq!(again["code"], "CHANGE_NOT_FOUND");
    assert_has(again["message"].as_str().unwrap(), &["archived already, as", "-add-reservations"]);
}

#[tokio::test]
async fn a_file_that_git_could_not_merge_is_told() {
    let project = Copy::of("library");
    let client = writing(&project, Era::Modern).await;
    let spec = project.read("specs/lending/spec.md");
    let merged = format!("<<<<<<< HEAD\n{spec}=======\n{spec}>>>>>>> theirs\n");
    fs::write(project.path("specs/lending/spec.md"), merged).unwrap();
    let of = json!({"spec_id": "lending"});
    let read = structured(&client, "get_spec_requirements", of.clone()).await;
    assert_has(read["note"].as_str().unwrap(), &["git could not merge it (line 1)"]);
    let verdict = structured(&client, "validate_spec", of).await;
    assert_has(&verdict["warnings"].to_string(), &["conflict-marker", "keep one side"]);
}
