//! Copies of denied chats while the sources are read for the first time, and again.

use chat_server::chat_service::{ChatService, Mode};
use chat_server::config::Config;
use chat_server::index::{Index, Options};
use chat_server::model::{Body, Chat, ChatKind, Message};
use chat_server::source::{Batch, Event, Report};
use jiff::Timestamp;
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::harness::{TestSetup, error_of, structured};

fn message(n: i64, text: &str) -> Message {
    Message {
        id: n.to_string(),
        timestamp: Timestamp::from_second(1_711_360_800 + 60 * n).unwrap(),
        body: Body::Text(text.to_owned()),
        ..Message::default()
    }
}

/// A chat and its messages, as an export brings them in.
fn chat(name: &str, words: &str) -> Vec<Event> {
    let kind = ChatKind::Direct;
    let chat = Chat { id: name.to_owned(), name: name.to_owned(), kind, participants: None };
    let messages = (0..6).map(|n| Event::Message {
        chat: name.to_owned(),
        message: Box::new(message(n, &format!("{words} {n} is here"))),
    });
    std::iter::once(Event::Chat(chat)).chain(messages).collect()
}

/// While an export is read, what it has brought in so far is not known to be no copy of a chat that is denied.
#[tokio::test]
async fn a_copy_of_a_denied_chat_is_not_seen_while_it_is_read() {
    let setup = TestSetup::new(
        "[[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\ndeny = [\"Doctor\"]\n",
    );
    setup.write("wa/WhatsApp Chat with Doctor.txt", "25/03/2024, 10:00 - Doctor: hi\n");
    let config = Config::read(&setup.path("config.toml")).unwrap();
    let index = Index::open(&setup.path("data"), Options::default()).unwrap();
    let service = ChatService::new(&config, index, Mode::Reads);
    let sink = service.registry().sink("wa", service.index());
    let server = chat_server::mcp::server(service.clone()).unwrap();
    let client = Client::memory(server, ClientConfig::new(Era::Modern)).await.unwrap();
    let names = async || {
        let mut seen = Vec::new();
        for (tool, arguments) in [
            ("list_chats", json!({"stored": true})),
            ("get_messages", json!({"stored": true})),
            ("search_messages", json!({"query": "here"})),
            ("get_statistics", json!({})),
            ("list_people", json!({})),
            ("list_sources", json!({})),
        ] {
            seen.push(structured(&client, tool, arguments).await.to_string());
        }
        seen.join("\n")
    };
    // As they are found in the folder: the copy comes before the chat that shows what it is.
    for events in [chat("Dr Miller", "result of test"), chat("Ann", "the boat")] {
        sink.keep(Batch { events, ..Batch::default() }).await.unwrap();
    }
    let seen = names().await;
    for word in ["Miller", "result of", "the boat"] {
        assert!(!seen.contains(word), "{word} in {seen}");
    }
    let events = chat("Doctor", "result of test");
    let (mark, report) = (Some("read".to_owned()), Some(Report::default()));
    sink.keep(Batch { events, mark, report, ..Batch::default() }).await.unwrap();
    let seen = names().await;
    assert!(seen.contains("the boat"), "{seen}");
    for word in ["Miller", "Doctor", "result of"] {
        assert!(!seen.contains(word), "{word} in {seen}");
    }
    // A copy that is found later, when the export is read again.
    let sink = service.registry().sink("wa", service.index());
    let events = chat("+44 7700 900111", "result of test");
    sink.keep(Batch { events, ..Batch::default() }).await.unwrap();
    let seen = names().await;
    assert!(seen.contains("the boat") && !seen.contains("7700"), "{seen}");
}

/// Another source may have a copy, too: nothing is shown before the lists were checked for the first time.
#[tokio::test]
async fn nothing_is_seen_before_the_lists_were_checked() {
    let source = |id: &str, more: &str| {
        format!("[[source]]\nid = \"{id}\"\nkind = \"whatsapp-export\"\npath = \"{id}\"\n{more}\n")
    };
    let config = source("a", "deny = [\"Doctor\"]") + &source("b", "");
    let setup = TestSetup::new(&config);
    let lines: String =
        (0..6).map(|n| format!("25/03/2024, 10:0{n} - Doctor: the result of test {n}\n")).collect();
    setup.write("a/WhatsApp Chat with Doctor.txt", &lines);
    setup.write("b/WhatsApp Chat with Dr Miller.txt", &lines);
    assert_eq!(setup.run("import", &["b"]).await.0, 0);
    let config = Config::read(&setup.path("config.toml")).unwrap();
    let index = Index::open(&setup.path("data"), Options::default()).unwrap();
    // Its sources do not run yet, as at the very beginning.
    let service = ChatService::new(&config, index, Mode::Runs);
    let server = chat_server::mcp::server(service.clone()).unwrap();
    let client = Client::memory(server, ClientConfig::new(Era::Modern)).await.unwrap();
    for (tool, arguments) in [
        ("list_chats", json!({})),
        ("get_messages", json!({})),
        ("search_messages", json!({"query": "result"})),
        ("list_people", json!({})),
    ] {
        let answer = structured(&client, tool, arguments).await;
        assert!(!answer.to_string().contains("Miller"), "{tool}: {answer}");
        let note = answer["note"].as_str().unwrap();
        assert!(note.contains("the lists of chats are not checked yet"), "{tool}: {note}");
    }
    let asked = json!({"source": "b", "chat": "Dr Miller", "stored": true});
    let (code, words) = error_of(&client, "get_messages", asked).await;
    assert_eq!(code, "SOURCE_NOT_CONNECTED", "{words}");
    assert!(words.contains("still being read: a (0 %)"), "{words}");
    // Once they run, what is a copy is known.
    let stop = CancellationToken::new();
    let (running, until) = (service.clone(), stop.clone());
    let run = tokio::spawn(async move { running.run(&until).await });
    for entry in service.registry().iter() {
        entry.export.as_ref().unwrap().settled().await;
    }
    let answer = structured(&client, "list_chats", json!({})).await;
    assert_eq!(answer["chats"], json!([]), "{answer}");
    stop.cancel();
    run.await.unwrap();
}

/// A chat that is not there yet is not said to be missing without a word.
#[tokio::test]
async fn a_chat_that_is_not_read_yet_is_told_so() {
    let setup =
        TestSetup::new("[[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\n");
    setup.write("wa/WhatsApp Chat with Anna.txt", "25/03/2024, 10:00 - Anna: hi\n");
    let config = Config::read(&setup.path("config.toml")).unwrap();
    let index = Index::open(&setup.path("data"), Options::default()).unwrap();
    let server = chat_server::mcp::server(ChatService::new(&config, index, Mode::Runs)).unwrap();
    let client = Client::memory(server, ClientConfig::new(Era::Modern)).await.unwrap();
    let (code, words) = error_of(&client, "get_messages", json!({"chat": "Anna"})).await;
    assert_eq!(code, "CHAT_NOT_FOUND");
    assert_eq!(words, "Chat 'Anna' not found; still being read: wa (0 %); ask again for the rest");
}

/// A chat that is denied later: until the export was read with the new list, its copies are not known.
#[tokio::test]
async fn nothing_is_seen_before_new_lists_were_checked() {
    let setup = TestSetup::new("");
    let lines: String =
        (0..6).map(|n| format!("25/03/2024, 10:0{n} - Doctor: the result of test {n}\n")).collect();
    for name in ["Doctor", "Dr Miller"] {
        setup.write(&format!("wa/WhatsApp Chat with {name}.txt"), &lines);
    }
    let source = "[[source]]\nid = \"wa\"\nkind = \"whatsapp-export\"\npath = \"wa\"\n";
    setup.write("config.toml", source);
    assert_eq!(setup.run("import", &[]).await.0, 0);
    setup.write("config.toml", &format!("{source}deny = [\"Doctor\"]\n"));
    let config = Config::read(&setup.path("config.toml")).unwrap();
    // One that reads the exports, before it has begun, and one beside it, which only learns what was read.
    let open = || {
        let index = Index::open(&setup.path("data"), Options::default()).unwrap();
        ChatService::new(&config, index, Mode::Runs)
    };
    let services = [open(), open()];
    let mut clients = Vec::new();
    for service in &services {
        service.recall().await;
        let server = chat_server::mcp::server(service.clone()).unwrap();
        clients.push(Client::memory(server, ClientConfig::new(Era::Modern)).await.unwrap());
    }
    for client in &clients {
        let answer = structured(client, "list_chats", json!({})).await;
        assert_eq!(answer["chats"], json!([]), "{answer}");
    }
    let asked = json!({"source": "wa", "chat": "Dr Miller", "stored": true});
    let (_, words) = error_of(&clients[1], "get_messages", asked).await;
    assert!(words.contains("another process reads them"), "{words}");
    let stop = CancellationToken::new();
    let (running, until) = (services[0].clone(), stop.clone());
    let run = tokio::spawn(async move { running.run(&until).await });
    for entry in services[0].registry().iter() {
        entry.export.as_ref().unwrap().settled().await;
    }
    services[1].recall().await;
    for (service, client) in services.iter().zip(&clients) {
        let asked = json!({"source": "wa", "stored": true});
        let answer = structured(client, "get_messages", asked).await;
        assert_eq!(answer["messages"], json!([]), "{answer} {}", service.index().is_writer());
        assert!(!answer["note"].to_string().contains("not checked yet"), "{answer}");
    }
    stop.cancel();
    run.await.unwrap();
}
