//! What is private stays so: numbers, chats that may not be seen, what is said.

use mcp_proto::Era;
use serde_json::{Value, json};

use super::harness::{TestSetup, error_of, structured};
use super::listener::Listener;
use crate::fake::signal_daemon::Endpoint;

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
    let setup = TestSetup::new(WHATSAPP);
    setup.write(
        "exports/WhatsApp Chat with +358 40 765 4321.txt",
        "13/01/2025, 09:00 - +358 40 765 4321: Call 040-765 4321, (09) 1234 567 or +4930123456 on 2025-01-13.\n\
         13/01/2025, 09:01 - ~ +44 20 7946 0958: at 12.1.2025 040 1112223 and 3584055566770405556678\n\
         13/01/2025, 09:02 - +358 40 765 4321: Bring 3 ropes, 12.50 each, at 10:30.\n",
    );
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    let mut told = Vec::new();
    for (tool, arguments) in [
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        ("search_messages", json!({ "query": "call", "context_after": 2 })),
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
        for digits in
            ["765 4321", "7654321", "1234 567", "4930123456", "7946", "1112223", "35840555"]
        {
            assert!(!told.contains(digits), "{digits}: {told}");
        }
        assert!(told.contains("phone-"), "{told}");
    }
    let messages = &told[1]["messages"];
    assert_eq!(messages[0]["content"], "Bring 3 ropes, 12.50 each, at 10:30.");
    assert!(messages[1]["content"].as_str().unwrap().starts_with("at 12.1.2025 phone-"));
    assert!(messages[2]["content"].as_str().unwrap().ends_with(" on 2025-01-13."));
    let sender = |n: usize| messages[n]["sender"].clone();
    assert_eq!(sender(0), sender(2));
    assert_ne!(sender(0), sender(1));
}

#[tokio::test]
async fn a_chat_that_is_denied_later_is_no_longer_told() {
    let config = WHATSAPP.replace("redact_phone_numbers = true", "");
    let setup = TestSetup::new(&config);
    setup.write("exports/WhatsApp Chat with Ann.txt", "13/01/2025, 09:00 - Ann: Hello.\n");
    setup.write("exports/WhatsApp Chat with Bob.txt", "13/01/2025, 09:01 - Bob: Secret.\n");
    {
        let running = setup.start();
        let client = running.client(Era::Modern).await;
        let told = structured(&client, "get_messages", json!({})).await;
        assert_eq!(told["messages"].as_array().unwrap().len(), 2);
        client.close().await.unwrap();
        running.service.index().close();
    }
    setup.write("config.toml", &format!("{config}deny = [\"bob\"]\n"));
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    for (tool, arguments) in [
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        ("search_messages", json!({ "query": "hello" })),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
    ] {
        let told = structured(&client, tool, arguments).await.to_string();
        assert!(told.contains("Ann") && !told.contains("Bob"), "{tool}: {told}");
    }
    let found = structured(&client, "search_messages", json!({ "query": "secret" })).await;
    assert_eq!(found["hits"], json!([]));
}

/// Numbers that stand where names and ids do: in the names of chats, in ids of Signal, in the path of an export.
#[tokio::test]
async fn no_telephone_number_is_told_in_ids_addresses_or_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let endpoint = Endpoint::unix(&dir.path().join("socket"));
    let setup = TestSetup::new(&format!(
        "redact_phone_numbers = true\n\n[[source]]\nid = \"signal\"\nkind = \"signal-cli\"\n{}\n\n\
         [[source]]\nid = \"whatsapp\"\nkind = \"whatsapp-export\"\npath = \"chats\"\n\n\
         [[source]]\nid = \"gone\"\nkind = \"whatsapp-export\"\npath = \"WhatsApp Chat with +358 40 765 4321.txt\"\n",
        endpoint.line()
    ));
    setup.write(
        "chats/WhatsApp Chat with 040 765 4321.txt",
        "13/01/2025, 09:00 - 040 765 4321: Hello.\n13/01/2025, 09:01 - Me: IMG-1.jpg (file attached)\n",
    );
    setup.write("chats/IMG-1.jpg", "picture");
    let running = setup.start();
    let mut daemon = endpoint.accept().await;
    let client = running.client(Era::Modern).await;
    let mut listener = Listener::of(client.clone(), "messages://signal/*").await;
    let said = |at: i64, data: Value| json!({"sourceNumber": "+358407654321", "timestamp": at, "dataMessage": data});
    daemon.send(said(7_001, json!({"timestamp": 7_001, "message": "Hi."}))).await;
    let quote = json!({"id": 7_001, "authorNumber": "+358407654321", "text": "Hi."});
    let answer = json!({"timestamp": 7_002, "message": "So.", "quote": quote});
    daemon.send(said(7_002, answer)).await;
    let mut told = vec![listener.next().await, listener.next().await];
    for (tool, arguments) in [
        ("list_sources", json!({})),
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        ("search_messages", json!({ "query": "hi" })),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
    ] {
        told.push(structured(&client, tool, arguments).await);
    }
    let (code, message) = error_of(&client, "list_chats", json!({ "source": "gone" })).await;
    assert_eq!(code, "SOURCE_NOT_CONNECTED");
    told.push(json!(message));
    let messages = told[4]["messages"].clone();
    let is_so = |content: &str| {
        let messages = messages.as_array().unwrap().iter();
        let mut found = messages.filter(|message| message["content"] == content);
        found.next().unwrap().clone()
    };
    let (first, second) = (is_so("Hi."), is_so("So."));
    assert_eq!(second["reply_to"], first["id"]);
    // What is shown can be asked for.
    let asked = json!({ "source": "signal", "chat": first["chat_id"], "message_id": first["id"] });
    let around = structured(&client, "get_message_context", asked).await;
    assert_eq!(around["after"][0]["content"], "So.", "{around}");
    told.push(around);
    let file = is_so("[Image]")["attachments"][0]["uri"].clone();
    let all = ["messages://signal/*", "messages://whatsapp/*"];
    for uri in [file, json!(all[0]), json!(all[1])] {
        let read = client.request("resources/read", json!({ "uri": uri })).await;
        told.push(read.unwrap());
    }
    told.push(client.request("resources/list", json!({})).await.unwrap());
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "open_questions" },
        "argument": { "name": "chat", "value": "" },
    });
    let completed = client.request("completion/complete", complete).await;
    told.push(completed.unwrap());
    for told in &told {
        let text = told.to_string();
        for digits in ["7654321", "765 4321", "765%204321"] {
            assert!(!text.contains(digits), "{digits}: {text}");
        }
    }
}

#[tokio::test]
async fn numbers_that_are_broken_are_found_and_what_is_no_number_is_spared() {
    let setup = TestSetup::new(WHATSAPP);
    let spared = "https://example.com/item/12345678901 at 60.169912, 24.938412 to FI2112345600000785 by 18:05:09";
    setup.write(
        "exports/WhatsApp Chat with Ann.txt",
        &format!(
            "13/01/2025, 09:00 - Ann: +358 40\n765 4321\n\
             13/01/2025, 09:01 - Ann: 040\u{200b}765\u{200b}4321\n\
             13/01/2025, 09:02 - Ann: {spared}\n"
        ),
    );
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    let told = structured(&client, "get_messages", json!({})).await;
    let contents: Vec<&str> =
        (0..3).map(|n| told["messages"][n]["content"].as_str().unwrap()).collect();
    assert_eq!(contents[0], spared);
    assert!(contents[1].starts_with("phone-") && !contents[1].contains("4321"), "{contents:?}");
    assert!(contents[2].starts_with("phone-") && !contents[2].contains("4321"), "{contents:?}");
}
