//! Chats that may not be seen are hidden from every question, whether they were ever kept or not.

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientError};
use serde_json::{Value, json};

use super::harness::{BOTH, RunningService, TestSetup, error_of, structured};
use super::listener::Listener;

const SOURCE: &str = r#"
[[source]]
id = "whatsapp"
kind = "whatsapp-export"
path = "chats"
zone = "UTC"
watch = true
"#;

/// What is only in the chat that may not be seen.
const HIDDEN: [&str; 4] = ["Vexmoor", "Quillon", "zebrafinch", "IMG-77"];

fn setup(lists: &str) -> TestSetup {
    let setup = TestSetup::new(&format!("{SOURCE}{lists}\n"));
    setup.write(
        "chats/WhatsApp Chat with Vexmoor.txt",
        "13/01/2025, 09:00 - Quillon: A zebrafinch.\n13/01/2025, 09:01 - Quillon: IMG-77.jpg (file attached)\n",
    );
    setup.write("chats/IMG-77.jpg", "picture");
    setup.write(
        "chats/WhatsApp Chat with Ann.txt",
        "13/01/2025, 09:02 - Ann: A robin.\n13/01/2025, 09:03 - Me: Two.\n",
    );
    setup
}

/// No answer has anything of it.
fn is_clean(what: &str, told: &Value) {
    let told = told.to_string();
    for hidden in HIDDEN {
        assert!(!told.contains(hidden), "{what}: {told}");
    }
}

async fn refusal(client: &Client, method: &str, asked: Value) -> Value {
    match client.request(method, asked.clone()).await {
        Err(ClientError::Rpc(error)) => json!(error),
        other => panic!("{method} {asked}: {other:?}"),
    }
}

/// The address of the hidden file, as it would be given if it might be.
async fn file_of(setup: &TestSetup) -> (String, String) {
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    let asked = json!({ "chat": "Vexmoor" });
    let told = structured(&client, "get_messages", asked).await;
    let message = &told["messages"][0];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = (text(&message["attachments"][0]["uri"]), text(&message["id"]));
    end(running, client).await;
    found
}

async fn end(running: RunningService, client: Client) {
    client.close().await.unwrap();
    let index = running.service.index().clone();
    drop(running);
    tokio::task::spawn_blocking(move || index.close()).await.unwrap();
}

#[tokio::test]
async fn a_chat_that_may_not_be_seen_is_nowhere() {
    for (lists, was_kept) in [
        ("deny = [\" vexmoor \"]", false),
        ("allow = [\"Ann\"]", false),
        ("allow = [\"Ann\", \"Vexmoor\"]\ndeny = [\"VEXMOOR\"]", true),
        ("allow = [\"Ann\"]", true),
    ] {
        let open = setup("");
        let (file, message) = file_of(&open).await;
        let setup = if was_kept { open } else { setup(lists) };
        setup.write("config.toml", &format!("{SOURCE}{lists}\n"));
        let running = setup.start();
        for era in BOTH {
            is_hidden(&running.client(era).await, &file, &message).await;
        }
        is_not_told(&setup, &running).await;
    }
}

async fn is_hidden(client: &Client, file: &str, message: &str) {
    let all = json!({ "source": "whatsapp", "chat": "*", "search": "a" });
    let around = json!({ "query": "a", "context_before": 5 });
    for (tool, asked) in [
        ("list_sources", json!({})),
        ("list_chats", json!({})),
        ("list_chats", json!({ "filter": { "name_pattern": "o" } })),
        ("get_messages", json!({})),
        ("get_messages", all),
        ("search_messages", around),
        ("search_messages", json!({ "query": "zebra*" })),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
        ("list_people", json!({ "name": "q" })),
    ] {
        let told = structured(client, tool, asked).await;
        is_clean(tool, &told);
    }
    let told = structured(client, "list_sources", json!({})).await;
    let source = &told["sources"][0];
    assert_eq!((&source["chats"], &source["messages"]), (&json!(1), &json!(2)));
    let told = structured(client, "get_statistics", json!({})).await;
    assert_eq!(told["messages"], 2, "{told}");
    let chat = "Vexmoor";
    let part = json!({ "source": "whatsapp", "chat": "Vex" });
    let around = json!({ "chat": chat, "message_id": message });
    for (tool, asked) in [
        ("get_messages", json!({ "chat": chat })),
        ("get_messages", part),
        ("search_messages", json!({ "query": "a", "chat": chat })),
        ("get_statistics", json!({ "chat": chat })),
        ("get_message_context", around),
    ] {
        let (code, _) = error_of(client, tool, asked).await;
        assert_eq!(code, "CHAT_NOT_FOUND", "{tool}");
    }
    let around = json!({ "chat": "Ann", "message_id": message });
    let (code, _) = error_of(client, "get_message_context", around).await;
    assert_eq!(code, "MESSAGE_NOT_FOUND");
    let read = |uri: &str| json!({ "uri": uri });
    let prompt =
        |name: &str| json!({ "name": name, "arguments": { "source": "whatsapp", "chat": chat } });
    for (method, asked) in [
        ("resources/read", read("messages://whatsapp/Vexmoor")),
        ("resources/read", read(file)),
        ("prompts/get", prompt("analyze_conversation")),
        ("prompts/get", prompt("action_items")),
    ] {
        let told = refusal(client, method, asked).await;
        assert_eq!(told["data"]["code"], "CHAT_NOT_FOUND", "{method}: {told}");
    }
    let complete =
        |kind: Value| json!({ "ref": kind, "argument": { "name": "chat", "value": "" } });
    let template = "messages://{source}/{chat}{?since,before,sender,search,limit,offset,cursor}";
    let of_resource = complete(json!({ "type": "ref/resource", "uri": template }));
    let of_prompt = complete(json!({ "type": "ref/prompt", "name": "open_questions" }));
    for (method, asked) in [
        ("resources/list", json!({})),
        ("resources/read", read("messages://whatsapp/*")),
        ("resources/read", read("messages://whatsapp/*?search=a")),
        ("completion/complete", of_resource),
        ("completion/complete", of_prompt),
    ] {
        let told = client.request(method, asked).await.unwrap();
        assert!(told.to_string().contains("Ann"), "{method}: {told}");
        is_clean(method, &told);
    }
}

/// What comes in there is not sent either.
async fn is_not_told(setup: &TestSetup, running: &RunningService) {
    let uri = "messages://whatsapp/*";
    let client = running.client(Era::Legacy).await;
    let asked = json!({ "uri": "messages://whatsapp/Vexmoor" });
    let told = refusal(&client, "resources/subscribe", asked).await;
    assert_eq!(told["data"]["code"], "CHAT_NOT_FOUND", "{told}");
    let mut listeners = [
        Listener::of(client, uri).await,
        Listener::of(running.client(Era::Modern).await, uri).await,
    ];
    let append = |file: &str, line: &str| {
        let known = std::fs::read_to_string(setup.path(file)).unwrap();
        setup.write(file, &format!("{known}{line}\n"));
    };
    append(
        "chats/WhatsApp Chat with Vexmoor.txt",
        "13/01/2025, 09:10 - Quillon: Another zebrafinch.",
    );
    append("chats/WhatsApp Chat with Ann.txt", "13/01/2025, 09:11 - Ann: A wren.");
    for listener in &mut listeners {
        let told = listener.message(uri).await;
        assert_eq!(told["content"], "A wren.", "{told}");
    }
}
