//! Bad input of every kind gets an error with a code, and nothing breaks.

use std::io::Write as _;

use chat_server::chat_service::Question;
use mcp_proto::Era;
use serde_json::{Value, json};

use super::harness::{BOTH, TestSetup, error_of, structured};
use crate::import::worked;

#[tokio::test]
async fn what_cannot_be_meant_is_told() {
    let setup = TestSetup::of("chats.toml");
    let running = setup.start();
    let long = "x".repeat(100_000);
    let cases: [(&str, Vec<(&str, Value)>); 5] = [
        (
            "INVALID_PARAMETER",
            vec![
                ("get_messages", json!({ "limit": -1 })),
                ("get_messages", json!({ "limit": i64::MAX })),
                ("get_messages", json!({ "limit": 1.5 })),
                ("get_messages", json!({ "limit": "10" })),
                ("get_messages", json!({ "offset": -5 })),
                ("get_messages", json!({ "since": "" })),
                ("get_messages", json!({ "since": "2025-02-30" })),
                ("get_messages", json!({ "since": "99999999999999999999d" })),
                ("get_messages", json!({ "before": "someday" })),
                ("get_messages", json!({ "since": long })),
                ("get_messages", json!({ "cursor": "\u{0}" })),
                ("get_messages", json!({ "chat": "" })),
                ("get_messages", json!({ "chat": long })),
                ("get_messages", json!({ "source": ["telegram"] })),
                ("list_chats", json!({ "filter": { "chat_type": "" } })),
                ("list_chats", json!({ "filter": "group" })),
                ("list_chats", json!({ "limit": 5_001 })),
                ("search_messages", json!({})),
                ("search_messages", json!({ "query": "" })),
                ("search_messages", json!({ "query": "a ".repeat(65) })),
                ("search_messages", json!({ "query": "a", "context_before": 501 })),
                ("search_messages", json!({ "query": "a", "limit": 1000, "context_after": 5 })),
                ("get_message_context", json!({ "chat": "*", "message_id": "1" })),
                (
                    "get_message_context",
                    json!({ "chat": "Family", "message_id": "1", "before": -1 }),
                ),
                ("get_statistics", json!({ "since": "7x" })),
                ("list_people", json!({ "limit": 0 })),
            ],
        ),
        (
            "SOURCE_NOT_FOUND",
            vec![
                ("get_messages", json!({ "source": long })),
                ("list_chats", json!({ "source": "../../etc" })),
                ("list_chats", json!({ "source": "" })),
            ],
        ),
        (
            "CHAT_NOT_FOUND",
            vec![
                ("get_messages", json!({ "source": "telegram", "chat": "\u{0}\u{202e}" })),
                ("get_messages", json!({ "source": "telegram", "chat": "'; DROP TABLE chat; --" })),
            ],
        ),
        ("SOURCE_NOT_CONNECTED", vec![("get_messages", json!({ "source": "signal" }))]),
        (
            "MESSAGE_NOT_FOUND",
            vec![("get_message_context", json!({ "chat": "Family", "message_id": long }))],
        ),
    ];
    for era in BOTH {
        let client = running.client(era).await;
        for (code, questions) in &cases {
            for (tool, arguments) in questions {
                let (found, message) = error_of(&client, tool, arguments.clone()).await;
                let shown: String = arguments.to_string().chars().take(100).collect();
                assert_eq!(found, *code, "{tool} {shown}: {message}");
                assert!(message.chars().count() < 1_000, "{tool} {shown}: {message}");
            }
        }
        structured(&client, "list_sources", json!({})).await;
    }
}

#[tokio::test]
async fn addresses_that_lead_nowhere_are_told() {
    let setup = TestSetup::of("chats.toml");
    let running = setup.start();
    let client = running.client(Era::Modern).await;
    for uri in [
        "messages://",
        "messages://telegram",
        "messages://telegram/",
        "messages://telegram/Antti/x",
        "messages://telegram/%FF",
        "messages://nowhere/*",
        "messages://telegram/Antti?limit=0",
        "messages://telegram/Antti?limit=99999999999999999999",
        "messages://telegram/Antti?unknown=1",
        "attachment://telegram/-102/3/1",
        "attachment://telegram/-102/3/x",
        "attachment://telegram/-102/99/0",
        "attachment://telegram/-102/..%2F..%2Fetc%2Fpasswd/0",
        "attachment://whatsapp/Antti/1/0",
        "file:///etc/passwd",
    ] {
        let read = client.request("resources/read", json!({ "uri": uri })).await;
        assert!(read.is_err(), "{uri}: {read:?}");
    }
    structured(&client, "list_sources", json!({})).await;
}

/// Many dates, which are no numbers: none of them is looked through again for each that follows. Eight times as many
/// take about eight times the work of this thread, which is where they are found.
#[tokio::test]
async fn numbers_are_looked_for_in_linear_time() {
    let work = async |count: usize| {
        let setup = TestSetup::new(
            "redact_phone_numbers = true\n[[source]]\nid = \"w\"\nkind = \"whatsapp-export\"\npath = \"chat.txt\"\n",
        );
        let dates = "1.1.2024 ".repeat(count);
        let text = format!("13/01/2025, 09:00 - Ann: {dates}or call 040 123 4567\n");
        setup.write("chat.txt", &text);
        let running = setup.start();
        let asked = Question::default();
        running.service.messages(&asked).await.unwrap();
        let start = worked()?;
        let told = running.service.messages(&asked).await.unwrap();
        let content = &told.messages[0].content;
        assert!(content.starts_with("1.1.2024 1.1.2024"));
        assert!(content.contains("or call phone-") && !content.contains("4567"));
        worked().map(|end| end - start)
    };
    let (Some(once), Some(eight)) = (work(4_000).await, work(32_000).await) else {
        // Not by a macro: what those print is shown for tests that fail only.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: this system does not tell how long a thread has worked"
        );
        return;
    };
    // A few milliseconds are the index's.
    assert!(eight < 20 * once + 20_000_000, "{once} ns, and {eight} ns for eight times as much");
}
