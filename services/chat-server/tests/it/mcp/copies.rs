//! Copies of a denied chat, under the names of systems, of other telephones, and of people, are hidden from every
//! question.

use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig};
use serde_json::{Value, json};

use super::harness::{BOTH, TestSetup, zip_of};
use super::listener::Listener;

/// The names under which the same chat is found, and the ends of their files.
const NAMES: [&str; 14] = [
    "Doctor",
    "Doctor 2",
    "Doctor copy",
    "Doctor copy 3",
    "Doctor - Copy",
    "Doctor - Copy (2)",
    "Doctor - Kopie",
    "Doctor(2)",
    "DOCTOR",
    "Do\u{301}ctor",
    "Dr Miller",
    "Praxis am Hafen",
    "+44 7700 900111",
    "Docteur",
];

/// What is only in it.
const HIDDEN: [&str; 8] =
    ["ctor", "CTOR", "Miller", "Praxis", "7700", "Docteur", "zebrafinch", "Quillon"];

fn text(more: &str) -> String {
    let lines = (0..8)
        .map(|n| format!("25/03/2024, 10:0{n} - Quillon: the zebrafinch number {n} is ill\n"));
    lines.collect::<String>() + more
}

fn setup() -> TestSetup {
    let source = |id: &str, more: &str| {
        format!(
            "[[source]]\nid = \"{id}\"\nkind = \"whatsapp-export\"\npath = \"{id}\"\nzone = \"UTC\"\nwatch = true\n{more}\n"
        )
    };
    let setup = TestSetup::new(&(source("wa", "deny = [\"Doctor\"]") + &source("old", "")));
    for name in NAMES {
        setup.write(&format!("wa/WhatsApp Chat with {name}.txt"), &text(""));
    }
    let zip = zip_of(&[("_chat.txt", text("").as_bytes())]);
    setup.write_bytes("wa/WhatsApp Chat - Doctor 4.zip", &zip);
    // A source that denies nothing has it, too.
    setup.write("old/WhatsApp Chat with Dr Miller.txt", &text(""));
    for id in ["wa", "old"] {
        let ann = "25/03/2024, 11:00 - Ann: A robin.\n";
        setup.write(&format!("{id}/WhatsApp Chat with Ann {id}.txt"), ann);
    }
    setup
}

fn is_clean(what: &str, answer: &Value) {
    let answer = answer.to_string();
    for hidden in HIDDEN {
        assert!(!answer.contains(hidden), "{what}: {hidden} in {answer}");
    }
}

/// Every question that names a chat, and those that name none. Returns how many were asked.
async fn probe(client: &Client) -> usize {
    let mut asked = 0;
    let mut ask = async |method: &str, params: Value, names_it: bool| {
        asked += 1;
        let what = format!("{method} {params}");
        match client.request(method, params).await {
            // A refusal may repeat what was asked for, and nothing else.
            Err(_) => assert!(names_it, "{what}"),
            Ok(answer) if names_it && answer["isError"] == true => {
                let words = answer.to_string();
                assert!(
                    words.contains("NOT_FOUND") && !words.contains("zebrafinch"),
                    "{what}: {words}"
                );
            }
            Ok(answer) => is_clean(&what, &answer),
        }
    };
    let call = |tool: &str, arguments: Value| json!({"name": tool, "arguments": arguments});
    for source in ["wa", "old"] {
        for name in NAMES {
            let chat = json!({"source": source, "chat": name});
            for tool in ["get_messages", "get_statistics"] {
                ask("tools/call", call(tool, chat.clone()), true).await;
            }
            let search = json!({"source": source, "chat": name, "query": "zebrafinch"});
            ask("tools/call", call("search_messages", search), true).await;
            let around = json!({"source": source, "chat": name, "message_id": "1"});
            ask("tools/call", call("get_message_context", around), true).await;
            let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
            for uri in [
                format!("messages://{source}/{encoded}"),
                format!("messages://{source}/*?chat={encoded}"),
                format!("attachment://{source}/{encoded}/1/0"),
            ] {
                ask("resources/read", json!({"uri": uri}), true).await;
            }
            for prompt in ["analyze_conversation", "open_questions"] {
                ask("prompts/get", json!({"name": prompt, "arguments": chat}), true).await;
            }
        }
    }
    for (tool, arguments) in [
        ("list_sources", json!({})),
        ("list_chats", json!({})),
        ("list_chats", json!({"filter": {"name_pattern": "o"}})),
        ("get_messages", json!({"limit": 1000})),
        ("get_messages", json!({"sender": "Quill"})),
        ("get_messages", json!({"search": "finch", "order": "oldest"})),
        ("search_messages", json!({"query": "ill OR robin", "context_before": 9})),
        ("search_messages", json!({"query": "ebrafinc"})),
        ("get_statistics", json!({})),
        ("list_people", json!({})),
        ("list_people", json!({"name": "Q"})),
    ] {
        ask("tools/call", call(tool, arguments), false).await;
    }
    for uri in ["messages://wa/*", "messages://old/*", "messages://*/*"] {
        ask("resources/read", json!({"uri": uri}), uri.contains("*/*")).await;
    }
    ask("resources/list", json!({}), false).await;
    for value in ["", "D", "Dr", "+"] {
        let prompt = json!({"type": "ref/prompt", "name": "open_questions"});
        let complete = json!({"ref": prompt, "argument": {"name": "chat", "value": value}});
        ask("completion/complete", complete, false).await;
    }
    asked
}

#[tokio::test]
async fn copies_are_hidden_from_every_question() {
    let setup = setup();
    assert_eq!(setup.run("import", &[]).await.0, 0);
    for (command, arguments) in [
        ("chats", &[][..]),
        ("messages", &[]),
        ("messages", &["--search", "finch"]),
        ("search", &["zebrafinch"]),
        ("sources", &[]),
    ] {
        let (_, stdout, stderr) = setup.run(command, arguments).await;
        is_clean(command, &json!([stdout, stderr]));
    }
    let mut asked = 0;
    for era in BOTH {
        let (_server, url) = setup.listening(&[]).await;
        let client = Client::http(&url, ClientConfig::new(era)).await.unwrap();
        asked += probe(&client).await;
    }
    let pipes = Client::stdio(setup.command("mcp"), ClientConfig::new(Era::Modern)).await.unwrap();
    asked += probe(&pipes).await;
    assert!(asked > 700, "{asked}");
}

/// A copy that comes in while somebody listens, and one that grows.
#[tokio::test]
async fn copies_are_not_told_to_listeners() {
    let setup = setup();
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    for entry in running.service.registry().iter() {
        entry.export.as_ref().unwrap().settled().await;
    }
    let mut listener = Listener::of(client, "messages://wa/*").await;
    setup.write("wa/WhatsApp Chat with Tierarzt.txt", &text(""));
    let more = "25/03/2024, 10:30 - Quillon: the zebrafinch is well\n";
    setup.write("wa/WhatsApp Chat with Dr Miller.txt", &text(more));
    setup.write(
        "wa/WhatsApp Chat with Ann wa.txt",
        "25/03/2024, 11:00 - Ann: A robin.\n25/03/2024, 11:01 - Ann: A wren.\n",
    );
    let heard = listener.message("messages://wa/*").await;
    assert_eq!(heard["content"], "A wren.", "{heard}");
}
