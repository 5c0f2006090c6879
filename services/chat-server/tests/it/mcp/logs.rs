//! Logs hold nothing of a message, whatever happens and is asked; what is kept is its owner's alone.

use std::os::unix::fs::PermissionsExt as _;

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, Stderr};
use serde_json::json;
use tokio::process::Command;

use super::harness::TestSetup;
use super::listener::Listener;
use crate::fake::bot_api::{BotApi, Fault, update};
use crate::fake::signal_daemon::{Endpoint, from_anna};

/// The words, names and numbers of what follows: none of them may be in a log.
const MARKS: [&str; 12] = [
    "zebrafinch",
    "Quillon",
    "Vexmoor",
    "5550199",
    "wombat",
    "Thessaly",
    "Marrowby",
    "5550177",
    "secrettoken",
    "Pellucid",
    "IMG-77",
    "axolotl",
];

const LOGGED: &str = r#"
[[source]]
id = "whatsapp"
kind = "whatsapp-export"
path = "chats"
watch = true

[[source]]
id = "telegram"
kind = "telegram-export"
path = "result.json"

[[source]]
id = "bot"
kind = "telegram-bot"
token_file = "token"
"#;

fn logged(endpoint: &Endpoint, api: &BotApi) -> TestSetup {
    let lines = format!(
        "{LOGGED}base_url = \"{}\"\n\n[[source]]\nid = \"signal\"\nkind = \"signal-cli\"\n{}\n",
        api.url,
        endpoint.line()
    );
    let setup = TestSetup::new(&lines);
    setup.write("token", "123:secrettoken\n");
    setup.write(
        "chats/WhatsApp Chat with Vexmoor.txt",
        "13/01/2025, 09:00 - Quillon: A zebrafinch, call +1 5550199.\n\
         13/01/2025, 09:01 - +1 5550199: IMG-77.jpg (file attached)\nMarrowby\n\
         13/01/2025, 29:61 - Quillon: A wombat that cannot be.\n",
    );
    setup.write("chats/IMG-77.jpg", "picture");
    // One that is no chat, and one that breaks off.
    setup.write("chats/Marrowby.txt", "Nothing of Thessaly.\n");
    setup.write(
        "result.json",
        r#"{"name":"Marrowby","type":"personal_chat","id":1,"messages":[
        {"id":1,"type":"message","date_unixtime":"1","from":"Thessaly","from_id":"user1","text":"A wombat."},
        {"id":2,"type":"message","date_unixtime":"never","from":"Thessaly","from_id":"user1","text":"wombat"},
        {"id":3,"type":"message","date_unixtime":"2","from":"Thessaly","text":"zebrafi"#,
    );
    setup
}

/// Everything that is logged is in the file `log`.
fn with_log(setup: &TestSetup, command: &str) -> Command {
    let mut command = setup.command(command);
    let file = std::fs::OpenOptions::new().create(true).append(true).open(setup.path("log"));
    command.env("RUST_LOG", "trace").stderr(file.unwrap());
    command
}

#[tokio::test]
async fn nothing_of_a_message_is_in_the_log_and_the_data_is_the_owners_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (endpoint, api) = (Endpoint::unix(&dir.path().join("socket")), BotApi::start().await);
    let setup = logged(&endpoint, &api);
    let command = with_log(&setup, "mcp");
    let config = ClientConfig::new(Era::Legacy).with_stderr(Stderr::AsCommanded);
    let client = Client::stdio(command, config);
    let client = client.await.unwrap();
    let mut daemon = endpoint.accept().await;
    let mut listener = Listener::of(client.clone(), "messages://*/*").await;
    // Networks that say what they should not, too.
    daemon.write(b"{\"wombat\n\xff wombat\n").await;
    daemon
        .send(from_anna(9, json!({"message": "A wombat, +1 5550177.", "sticker": {"wombat": 1}})))
        .await;
    listener.next().await;
    let user = json!({"id": 5, "first_name": "Pellucid", "username": "Thessaly"});
    let said = json!({"text": "An axolotl.", "from": user, "chat": {"id": -7, "type": "group", "title": "Marrowby"}});
    api.push([update(1, &said)], &[Fault::BadGateway, Fault::Reset]);
    listener.next().await;
    api.state().refusals.push_back(json!({"ok": false, "result": "axolotl"}));
    api.push([update(2, &said)], &[]);
    listener.next().await;
    everything(&client).await;
    daemon.die().await;
    client.close().await.unwrap();
    // The person who imports sees at his terminal which chat is meant; a log is not that.
    for name in ["chats.db", "chats.lock"] {
        let mode = std::fs::metadata(setup.path("data").join(name)).unwrap();
        assert_eq!(mode.permissions().mode() & 0o777, 0o600, "{name}");
    }
    let log = std::fs::read_to_string(setup.path("log")).unwrap();
    for level in ["TRACE", "INFO", "WARN"] {
        assert!(log.contains(level), "nothing is logged as {level}: {log}");
    }
    for mark in MARKS {
        let line = log.lines().find(|line| line.contains(mark));
        assert_eq!(line, None, "{mark:?} is in the log");
    }
    let mode = std::fs::metadata(setup.path("data")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o700);
}

/// Every tool, resource, prompt and completion, with what is there and with what is not.
async fn everything(client: &Client) {
    let mut told = String::new();
    for chat in ["Vexmoor", "Marrowby", "Axolotl", "+1 5550199"] {
        let found = json!({ "chat": "*", "search": "zebrafinch", "sender": "Quillon" });
        let wrong = json!({ "since": "zebrafinch", "cursor": "wombat" });
        let words = json!({ "query": "\"A wombat\" axol*", "chat": chat });
        let around = json!({ "chat": chat, "message_id": "wombat" });
        for (tool, asked) in [
            ("list_sources", json!({})),
            ("list_chats", json!({ "filter": { "name_pattern": chat } })),
            ("get_messages", json!({ "chat": chat, "stored": true })),
            ("get_messages", found),
            ("get_messages", wrong),
            ("search_messages", words),
            ("search_messages", json!({ "query": "zebrafinch OR NEAR(" })),
            ("get_message_context", around),
            ("get_statistics", json!({ "chat": chat })),
            ("get_messages", json!({ "source": "bot" })),
            ("list_people", json!({ "name": "Quillon" })),
            ("wombat", json!({ "axolotl": chat })),
            ("get_messages", json!({ "axolotl": chat })),
        ] {
            if let Ok(answer) = client.call_tool_raw(tool, asked).await {
                told.push_str(&answer.to_string());
            }
        }
        let name = json!({ "name": "chat", "value": chat });
        let chat_uri = format!("messages://whatsapp/{chat}");
        let uri = |uri: &str| json!({ "uri": uri });
        for (method, asked) in [
            ("resources/list", json!({})),
            ("resources/read", uri(&chat_uri)),
            ("resources/read", uri("messages://signal/*?search=wombat")),
            ("resources/read", uri("attachment://whatsapp/Vexmoor/wombat/0")),
            ("resources/subscribe", uri(&format!("{chat_uri}?search=wombat"))),
            (
                "prompts/get",
                json!({ "name": "action_items", "arguments": { "source": "whatsapp", "chat": chat } }),
            ),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/prompt", "name": "action_items" }, "argument": name }),
            ),
            ("wombat", json!({ "axolotl": chat })),
        ] {
            if let Ok(answer) = client.request(method, asked).await {
                told.push_str(&answer.to_string());
            }
        }
    }
    for mark in ["zebrafinch", "wombat", "axolotl", "IMG-77", "Pellucid"] {
        assert!(told.contains(mark), "{mark:?} was not asked for");
    }
}

#[tokio::test]
async fn nothing_of_a_message_is_in_the_log_of_an_import() {
    let dir = tempfile::tempdir().unwrap();
    let (endpoint, api) = (Endpoint::unix(&dir.path().join("socket")), BotApi::start().await);
    let setup = logged(&endpoint, &api);
    let mut command = setup.command("import");
    let output = command.env("RUST_LOG", "trace").output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "one export breaks off: {stderr}");
    assert!(stderr.contains("TRACE") || stderr.contains("INFO"), "{stderr}");
    // The person who imports sees at his terminal in which chat something is odd, but not what is said there.
    for mark in MARKS {
        let is_chat = mark == "Vexmoor" || mark == "Marrowby";
        let mut lines = stderr.lines().filter(|line| line.contains(mark));
        let line = lines.find(|line| !is_chat || !line.starts_with("whatsapp: "));
        assert_eq!(line, None, "{mark:?} is in the log");
    }
}
