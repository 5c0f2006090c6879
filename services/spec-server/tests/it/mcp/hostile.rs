//! Bad input: wrong types, ids that lead elsewhere, words without end. Each gets a tool error, and the server goes on.

use mcp_proto_client::Client;
use serde_json::{Value, json};

use super::harness::{Copy, both_eras, call, error_of, settings, structured, with_id};

/// The tools that take the id of a spec or a change.
const WITH_ID: [&str; 8] = [
    "get_spec_requirements",
    "get_scenario",
    "validate_spec",
    "get_change",
    "validate_change",
    "preview_change",
    "archive_change",
    "complete_task",
];

async fn clients(project: &Copy) -> [Client; 2] {
    let mut settings = settings(project.root());
    settings.allow_writes = true;
    both_eras(&settings).await
}

#[tokio::test]
async fn arguments_of_a_wrong_type_are_told_with_their_path() {
    let project = Copy::of("library");
    let spec = |id: Value| json!({"spec_id": id});
    let of = |requirement: Value, scenario: Value| json!({"spec_id": "lending", "requirement": requirement, "scenario": scenario});
    let best = |top_k: Value| json!({"query": "loan", "top_k": top_k});
    let change = |name: &str, value: Value| json!({"change_id": "add-reservations", name: value});
    let wrong = [
        ("list_specs", json!({"offset": "one"}), "/offset"),
        ("list_specs", json!({"offset": -1}), "/offset"),
        ("get_spec_requirements", json!({}), "spec_id"),
        ("get_spec_requirements", spec(json!(["lending"])), "/spec_id"),
        ("get_scenario", spec(json!("lending")), "requirement"),
        ("get_scenario", of(json!({}), json!("x")), "/requirement"),
        ("get_scenario", of(json!("Loan"), json!(1)), "/scenario"),
        ("search_specs", json!({}), "query"),
        ("search_specs", json!({"query": 7}), "/query"),
        ("search_specs", best(json!(0)), "/top_k"),
        ("search_specs", best(json!(1.5)), "/top_k"),
        ("list_changes", json!({"archived": "yes"}), "/archived"),
        ("get_change", json!({}), "change_id"),
        ("get_change", change("section", json!("Impact")), "/section"),
        ("validate_spec", spec(json!(1)), "/spec_id"),
        ("validate_change", json!({"strict": "very"}), "/strict"),
        ("preview_change", json!({"change_id": true}), "/change_id"),
        ("archive_change", json!({}), "change_id"),
        ("complete_task", change("done", json!(true)), "task"),
        ("complete_task", change("task", json!(1.2)), "/task"),
    ];
    for client in clients(&project).await {
        for (tool, arguments, path) in &wrong {
            let error = error_of(&client, tool, arguments.clone()).await;
            assert_eq!(error["code"], "INVALID_ARGUMENTS", "{tool} {arguments}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(path), "{tool} {arguments}: {message}");
        }
    }
}

#[tokio::test]
async fn no_id_leads_out_of_the_project() {
    let outside = Copy::of("library");
    let project = Copy::of("library");
    let name = outside.root().file_name().unwrap().to_string_lossy().into_owned();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path("specs/members"), project.path("specs/linked"))
        .unwrap();
    let before = outside.read("specs/lending/spec.md");
    let hostile: Vec<String> = [
        "..",
        ".",
        "",
        "/",
        "../..",
        "../../etc/passwd",
        "/etc/passwd",
        "a/../b",
        "lending/../../x",
        "lending/",
        "//lending",
        "lending\0",
        "\0",
        "lending\n",
        "..\\..\\x",
        "c:x",
        "_changes/add-reservations",
        "_changes",
        "_archive",
        ".spox",
        "linked",
        "lending/.",
        "%2e%2e",
        "~",
        "$HOME",
        "lending;rm -rf /",
        "\u{202e}gnidnel",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        format!("../../{name}/specs/lending"),
        format!("{}/specs/lending", outside.root().display()),
        "x".repeat(10_000),
        "é/".repeat(5_000),
        "../".repeat(3_000),
    ])
    .collect();
    for client in clients(&project).await {
        for tool in WITH_ID {
            for id in &hostile {
                let mut arguments = with_id(tool, &json!(id));
                if tool == "complete_task" {
                    arguments["task"] = json!("1.1");
                }
                let error = error_of(&client, tool, arguments).await;
                let code = error["code"].as_str().unwrap();
                let known = ["INVALID_ID", "SPEC_NOT_FOUND", "CHANGE_NOT_FOUND", "UNREADABLE"];
                assert!(known.contains(&code), "{tool} {id:?}: {error}");
                assert!(error.to_string().len() < 3_000, "{tool}: {error}");
                assert!(!error.to_string().contains("root:"), "{tool} {id:?}: {error}");
            }
        }
        structured(&client, "list_specs", json!({})).await;
    }
    assert_eq!(outside.read("specs/lending/spec.md"), before);
}

#[tokio::test]
async fn no_uri_leads_out_of_the_project() {
    let project = Copy::of("library");
    for client in clients(&project).await {
        for uri in [
            "spec://..",
            "spec://../../etc/passwd",
            "spec://%2e%2e%2f%2e%2e%2fetc",
            "spec:///etc/passwd",
            "spec://a/../b",
            "spec://lending%00",
            "spec://",
            "change://..",
            "change://%2e%2e",
            "change://a%2Fb",
            "change://_archive",
            "file:///etc/passwd",
            "lending",
        ] {
            let read = client.request("resources/read", json!({"uri": uri})).await;
            let error = read.unwrap_err().to_string();
            assert!(error.contains("-32002") || error.contains("-32602"), "{uri}: {error}");
        }
    }
}

#[tokio::test]
async fn words_without_end_are_refused_or_bounded() {
    let project = Copy::of("library");
    let long = "loan ".repeat(50_000);
    for client in clients(&project).await {
        let error = error_of(&client, "search_specs", json!({"query": long})).await;
        assert_eq!(error["code"], "QUERY_TOO_LONG");
        for (requirement, scenario) in [(long.as_str(), None), ("Loan", Some(long.as_str()))] {
            let asked =
                json!({"spec_id": "lending", "requirement": requirement, "scenario": scenario});
            let error = error_of(&client, "get_scenario", asked).await;
            assert!(error.to_string().len() < 3_000, "{error}");
        }
        let asked = json!({"change_id": "add-reservations", "task": long});
        let error = error_of(&client, "complete_task", asked).await;
        assert_eq!(error["code"], "TASK_NOT_FOUND");
        assert!(error.to_string().len() < 3_000, "{error}");
        let found = structured(&client, "search_specs", json!({"query": "\0\u{202e}?!"})).await;
        assert_eq!(found["results"], json!([]));
    }
}

#[tokio::test]
async fn far_offsets_are_empty_pages() {
    let project = Copy::of("library");
    let far = json!(u32::MAX);
    let tools = [
        ("list_specs", json!({"offset": far}), "/specs"),
        ("get_spec_requirements", json!({"spec_id": "lending", "offset": far}), "/requirements"),
        ("list_changes", json!({"offset": far}), "/changes"),
    ];
    for client in clients(&project).await {
        for (tool, arguments, list) in &tools {
            let page = structured(&client, tool, arguments.clone()).await;
            assert_eq!(page.pointer(list), Some(&json!([])), "{page}");
            assert_eq!(page["next_offset"], Value::Null);
        }
        for section in ["proposal", "tasks", "design", "deltas"] {
            let asked =
                json!({"change_id": "add-reservations", "section": section, "offset": u64::MAX});
            let result = call(&client, "get_change", asked).await;
            assert_ne!(result["isError"], true, "{result}");
        }
    }
}
