//! Bad input of every kind is told with a code, and nothing breaks.

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
    let cases: Vec<(&str, Value, &str)> = vec![
        ("get_messages", json!({ "limit": -1 }), "INVALID_PARAMETER"),
        (
            "get_messages",
            json!({ "limit": i64::MAX }),
            "INVALID_PARAMETER",
        ),
        ("get_messages", json!({ "limit": 1.5 }), "INVALID_PARAMETER"),
        (
            "get_messages",
            json!({ "limit": "10" }),
            "INVALID_PARAMETER",
        ),
        ("get_messages", json!({ "offset": -5 }), "INVALID_PARAMETER"),
        ("get_messages", json!({ "since": "" }), "INVALID_PARAMETER"),
        (
            "get_messages",
            json!({ "since": "2025-02-30" }),
            "INVALID_PARAMETER",
        ),
        (
            "get_messages",
            json!({ "since": "99999999999999999999d" }),
            "INVALID_PARAMETER",
        ),
        (
            "get_messages",
            json!({ "before": "someday" }),
            "INVALID_PARAMETER",
        ),
        (
            "get_messages",
            json!({ "since": long }),
            "INVALID_PARAMETER",
        ),
        (
            "get_messages",
            json!({ "cursor": "\u{0}" }),
            "INVALID_PARAMETER",
        ),
        ("get_messages", json!({ "chat": "" }), "INVALID_PARAMETER"),
        ("get_messages", json!({ "chat": long }), "INVALID_PARAMETER"),
        (
            "get_messages",
            json!({ "source": long }),
            "SOURCE_NOT_FOUND",
        ),
        (
            "get_messages",
            json!({ "source": "telegram", "chat": "\u{0}\u{202e}" }),
            "CHAT_NOT_FOUND",
        ),
        (
            "get_messages",
            json!({ "source": "telegram", "chat": "'; DROP TABLE chat; --" }),
            "CHAT_NOT_FOUND",
        ),
        (
            "get_messages",
            json!({ "source": ["telegram"] }),
            "INVALID_PARAMETER",
        ),
        (
            "get_messages",
            json!({ "source": "signal" }),
            "SOURCE_NOT_CONNECTED",
        ),
        (
            "list_chats",
            json!({ "source": "../../etc" }),
            "SOURCE_NOT_FOUND",
        ),
        ("list_chats", json!({ "source": "" }), "SOURCE_NOT_FOUND"),
        (
            "list_chats",
            json!({ "filter": { "chat_type": "" } }),
            "INVALID_PARAMETER",
        ),
        (
            "list_chats",
            json!({ "filter": "group" }),
            "INVALID_PARAMETER",
        ),
        ("list_chats", json!({ "limit": 5_001 }), "INVALID_PARAMETER"),
        ("search_messages", json!({}), "INVALID_PARAMETER"),
        (
            "search_messages",
            json!({ "query": "" }),
            "INVALID_PARAMETER",
        ),
        (
            "search_messages",
            json!({ "query": "a ".repeat(65) }),
            "INVALID_PARAMETER",
        ),
        (
            "search_messages",
            json!({ "query": "a", "context_before": 501 }),
            "INVALID_PARAMETER",
        ),
        (
            "search_messages",
            json!({ "query": "a", "limit": 1000, "context_after": 5 }),
            "INVALID_PARAMETER",
        ),
        (
            "get_message_context",
            json!({ "chat": "*", "message_id": "1" }),
            "INVALID_PARAMETER",
        ),
        (
            "get_message_context",
            json!({ "chat": "Family", "message_id": long }),
            "MESSAGE_NOT_FOUND",
        ),
        (
            "get_message_context",
            json!({ "chat": "Family", "message_id": "1", "before": -1 }),
            "INVALID_PARAMETER",
        ),
        (
            "get_statistics",
            json!({ "since": "7x" }),
            "INVALID_PARAMETER",
        ),
        ("list_people", json!({ "limit": 0 }), "INVALID_PARAMETER"),
    ];
    for era in BOTH {
        let client = running.client(era).await;
        for (tool, arguments, code) in &cases {
            let (told, message) = error_of(&client, tool, arguments.clone()).await;
            let shown: String = arguments.to_string().chars().take(100).collect();
            assert_eq!(told, *code, "{tool} {shown}: {message}");
            assert!(message.chars().count() < 1_000, "{tool} {shown}: {message}");
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
        let read = client
            .request("resources/read", json!({ "uri": uri }))
            .await;
        assert!(read.is_err(), "{uri}: {read:?}");
    }
    structured(&client, "list_sources", json!({})).await;
}

/// Many dates, which are no numbers: none of them is looked through again for each that follows. Eight times as many
/// take about eight times the work of this thread, which is where they are told.
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
        eprintln!("skipped: this system does not tell how long a thread has worked");
        return;
    };
    // A few milliseconds are the index's.
    assert!(
        eight < 20 * once + 20_000_000,
        "{once} ns, and {eight} ns for eight times as much"
    );
}
