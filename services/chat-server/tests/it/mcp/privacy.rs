//! What is private stays so: numbers, chats that may not be seen, what is said.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use mcp_proto::Era;
use mcp_proto::client::{Client, ClientConfig};
use serde_json::json;
use tokio::process::Command;

use super::harness::{Place, binary, structured};

const WHATSAPP: &str = r#"
redact_phone_numbers = true

[[source]]
id = "whatsapp"
kind = "whatsapp-export"
path = "exports"
zone = "UTC"
"#;

#[tokio::test]
async fn no_telephone_number_is_told_anywhere_and_who_is_who_still_is() {
    let place = Place::new(WHATSAPP);
    place.write(
        "exports/WhatsApp Chat with +358 40 765 4321.txt",
        "13/01/2025, 09:00 - +358 40 765 4321: Call 040-765 4321, (09) 1234 567 or +4930123456 on 2025-01-13.\n\
         13/01/2025, 09:01 - ~ +44 20 7946 0958: at 12.1.2025 040 1112223 and 3584055566770405556678\n\
         13/01/2025, 09:02 - +358 40 765 4321: Bring 3 ropes, 12.50 each, at 10:30.\n",
    );
    let running = place.desk();
    let client = running.client(Era::Modern).await;
    let mut told = Vec::new();
    for (tool, arguments) in [
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        (
            "search_messages",
            json!({ "query": "call", "context_after": 2 }),
        ),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
    ] {
        told.push(structured(&client, tool, arguments).await);
    }
    let listed = client.request("resources/list", json!({})).await.unwrap();
    let uri = listed["resources"][0]["uri"].clone();
    let asked = json!({ "uri": uri });
    told.push(client.request("resources/read", asked).await.unwrap());
    told.push(listed);
    let chat = told[0]["chats"][0]["id"].as_str().unwrap().to_owned();
    let arguments = json!({ "source": "whatsapp", "chat": chat });
    let prompt = json!({ "name": "analyze_conversation", "arguments": arguments });
    told.push(client.request("prompts/get", prompt).await.unwrap());
    for told in &told {
        let told = told.to_string();
        for digits in [
            "765 4321",
            "7654321",
            "1234 567",
            "4930123456",
            "7946",
            "1112223",
            "35840555",
        ] {
            assert!(!told.contains(digits), "{digits}: {told}");
        }
        assert!(told.contains("phone-"), "{told}");
    }
    let messages = &told[1]["messages"];
    assert_eq!(
        messages[0]["content"],
        "Bring 3 ropes, 12.50 each, at 10:30."
    );
    assert!(
        messages[1]["content"]
            .as_str()
            .unwrap()
            .starts_with("at 12.1.2025 phone-")
    );
    assert!(
        messages[2]["content"]
            .as_str()
            .unwrap()
            .ends_with(" on 2025-01-13.")
    );
    let sender = |n: usize| messages[n]["sender"]["display_name"].clone();
    assert_eq!(sender(0), sender(2));
    assert_ne!(sender(0), sender(1));
}

#[tokio::test]
async fn a_chat_that_is_denied_later_is_no_longer_told() {
    let config = WHATSAPP.replace("redact_phone_numbers = true", "");
    let place = Place::new(&config);
    place.write(
        "exports/WhatsApp Chat with Ann.txt",
        "13/01/2025, 09:00 - Ann: Hello.\n",
    );
    place.write(
        "exports/WhatsApp Chat with Bob.txt",
        "13/01/2025, 09:01 - Bob: Secret.\n",
    );
    {
        let running = place.desk();
        let client = running.client(Era::Modern).await;
        let told = structured(&client, "get_messages", json!({})).await;
        assert_eq!(told["messages"].as_array().unwrap().len(), 2);
        client.close().await.unwrap();
        running.desk.index().close();
    }
    place.write("config.toml", &format!("{config}deny = [\"bob\"]\n"));
    let running = place.desk();
    let client = running.client(Era::Modern).await;
    for (tool, arguments) in [
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        ("search_messages", json!({ "query": "hello" })),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
    ] {
        let told = structured(&client, tool, arguments).await.to_string();
        assert!(
            told.contains("Ann") && !told.contains("Bob"),
            "{tool}: {told}"
        );
    }
    let found = structured(&client, "search_messages", json!({ "query": "secret" })).await;
    assert_eq!(found["hits"], json!([]));
}

#[tokio::test]
async fn nothing_of_a_message_is_in_the_log_and_the_data_is_the_owners_alone() {
    let place = Place::of("chats.toml");
    let mut command: Command = binary();
    command
        .arg("mcp")
        .arg("--config")
        .arg(place.path("config.toml"));
    command.arg("--data-dir").arg(place.path("data"));
    command.env("RUST_LOG", "trace").stderr(Stdio::from(
        std::fs::File::create(place.path("log")).unwrap(),
    ));
    let client = Client::stdio(command, ClientConfig::new(Era::Legacy))
        .await
        .unwrap();
    for (tool, arguments) in [
        (
            "get_messages",
            json!({ "source": "telegram", "chat": "Family" }),
        ),
        ("search_messages", json!({ "query": "\"bridge is open\"" })),
        ("get_messages", json!({ "chat": "Invalid" })),
    ] {
        client.call_tool(tool, arguments).await.unwrap();
    }
    let uri = json!({ "uri": "messages://telegram/Friends" });
    client.request("resources/read", uri).await.unwrap();
    client.close().await.unwrap();
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert!(log.contains("INFO"), "nothing is logged: {log}");
    for said in [
        "Dinner at six",
        "Our garden",
        "040 123",
        "bridge is open",
        "project starts",
        "Mother",
    ] {
        assert!(!log.contains(said), "{said:?} is in the log");
    }
    let mode = std::fs::metadata(place.path("data"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
}
