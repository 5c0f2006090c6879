//! New messages are sent to those who subscribed, once each, in both eras.

use std::fs::OpenOptions;
use std::io::Write as _;

use chat_server::index::Options;
use mcp_proto::Era;
use serde_json::json;

use super::harness::{BOTH, HANG, RunningService, TestSetup, structured};
use super::listener::Listener;

const WATCHED: &str = r#"
[[source]]
id = "telegram"
kind = "whatsapp-export"
path = "exports"
zone = "UTC"
watch = true
day_order = "day-first"
"#;

const ANTTI: &str = "exports/WhatsApp Chat with Antti.txt";
/// Read before the other: by name.
const AARNO: &str = "exports/WhatsApp Chat with Aarno.txt";

fn setup() -> TestSetup {
    let setup = TestSetup::new(WATCHED);
    setup.write(ANTTI, "13/01/2025, 09:00 - Antti: Old.\n");
    setup.write(AARNO, "13/01/2025, 09:00 - Carol: Old.\n");
    setup
}

fn append(setup: &TestSetup, file: &str, lines: &str) {
    let mut file = OpenOptions::new().append(true).open(setup.path(file)).unwrap();
    file.write_all(lines.as_bytes()).unwrap();
}

/// Messages of Antti, a minute each.
fn minutes(count: usize) -> String {
    let line = |n| format!("14/01/2025, {:02}:{:02} - Antti: {n}\n", n / 60, n % 60);
    (0..count).map(line).collect()
}

/// A subscriber to `uri` of a service that has read what there is: only what comes later is new.
async fn subscribed(
    setup: &TestSetup,
    era: Era,
    uri: &str,
    options: Options,
) -> (RunningService, Listener) {
    let running = setup.start_with(options);
    let client = running.client(era).await;
    let known = structured(&client, "get_messages", json!({})).await;
    assert_eq!(known["messages"].as_array().unwrap().len(), 2, "{known}");
    (running, Listener::of(client, uri).await)
}

#[tokio::test]
async fn each_new_message_is_one_update_with_its_source_its_chat_and_its_number() {
    for era in BOTH {
        let (setup, uri) = (setup(), "messages://telegram/*");
        let (_running, mut listener) = subscribed(&setup, era, uri, Options::default()).await;
        append(&setup, ANTTI, "13/01/2025, 09:01 - Antti: New.\n");
        let told = listener.message(uri).await;
        assert_eq!(told["source"], "telegram");
        assert_eq!(told["chat"], "Antti");
        assert_eq!(told["content"], "New.");
        assert_eq!(told["sequence"], 3);
        append(&setup, AARNO, "13/01/2025, 09:02 - Carol: Another.\n");
        let told = listener.message(uri).await;
        assert_eq!((&told["chat"], &told["sequence"]), (&json!("Aarno"), &json!(4)));
    }
}

#[tokio::test]
async fn the_query_of_the_uri_filters_and_a_cursor_reads_on() {
    let uris = [
        "messages://telegram/Antti",
        "messages://telegram/*?chat=Antti",
        "messages://*/*?sender=ANTTI",
        "messages://telegram/*?search=wanted",
    ];
    for (uri, era) in uris.into_iter().zip(BOTH.into_iter().cycle()) {
        let setup = setup();
        let (_running, mut listener) = subscribed(&setup, era, uri, Options::default()).await;
        append(&setup, AARNO, "13/01/2025, 09:02 - Carol: Not this.\n");
        // In order, so that what is not sent would have been sent before.
        append(&setup, ANTTI, "13/01/2025, 09:03 - Antti: This is wanted.\n");
        let mut update = listener.next().await;
        let told = update["_meta"]["chat-server/message"].take();
        assert_eq!(told["content"], "This is wanted.", "{uri}");
        append(&setup, AARNO, "13/01/2025, 09:04 - Carol: After it.\n");
        let cursor = update["_meta"]["chat-server/cursor"].take();
        let rest = async {
            loop {
                let asked = json!({ "source": "telegram", "cursor": cursor });
                let mut rest = structured(&listener.client, "get_messages", asked).await;
                let rest = rest["messages"].take();
                if rest != json!([]) {
                    return rest;
                }
            }
        };
        let rest = tokio::time::timeout(HANG, rest).await.unwrap();
        let last = rest.as_array().unwrap().last().unwrap();
        assert_eq!(last["content"], "After it.");
    }
}

#[tokio::test]
async fn what_is_told_of_a_chat_of_all_is_read_under_the_same_address() {
    for era in BOTH {
        let setup = setup();
        let uri = "messages://telegram/*?chat=Antti&sender=ANTTI";
        let (_running, mut listener) = subscribed(&setup, era, uri, Options::default()).await;
        append(&setup, ANTTI, "13/01/2025, 09:01 - Antti: New.\n");
        assert_eq!(listener.message(uri).await["content"], "New.");
        let read = json!({ "uri": uri });
        let read = listener.client.request("resources/read", read).await;
        assert_eq!(
            read.unwrap()["contents"][0]["text"],
            "[2025-01-13T09:01:00+00:00] Antti: New.\n[2025-01-13T09:00:00+00:00] Antti: Old."
        );
    }
}

#[tokio::test]
async fn a_thousand_messages_at_once_are_told_once_each_in_order() {
    for era in BOTH {
        let (setup, uri) = (setup(), "messages://telegram/Antti");
        let (_running, mut listener) = subscribed(&setup, era, uri, Options::default()).await;
        append(&setup, ANTTI, &minutes(1_000));
        for n in 0..1_000 {
            let told = listener.message(uri).await;
            assert_eq!(told["content"], n.to_string());
        }
    }
}

#[tokio::test]
async fn who_is_far_behind_is_told_how_many_it_missed_and_where_to_read_them() {
    for era in BOTH {
        let (setup, uri) = (setup(), "messages://telegram/*");
        let options = Options { max_lag: 10, ..Options::default() };
        let (_running, mut listener) = subscribed(&setup, era, uri, options).await;
        append(&setup, ANTTI, &minutes(900));
        let update = listener.next().await;
        assert_eq!(update["uri"], uri);
        let missed = &update["_meta"]["chat-server/missed"];
        assert_eq!(
            (&missed["source"], &missed["missed"]),
            (&json!("telegram"), &json!(900)),
            "{update}"
        );
        let asked = json!({ "source": "telegram", "cursor": missed["cursor"], "limit": 1000 });
        let told = structured(&listener.client, "get_messages", asked).await;
        let told = told["messages"].as_array().unwrap();
        assert_eq!(told.len(), 900);
        assert!(
            told.iter()
                .enumerate()
                .all(|(n, message)| message["content"].as_str() == Some(&*n.to_string()))
        );
    }
}

#[tokio::test]
async fn a_second_server_tells_too_and_takes_over_when_the_first_ends() {
    let setup = setup();
    let first = setup.start();
    let client = first.client(Era::Modern).await;
    structured(&client, "get_messages", json!({})).await;
    let second = setup.start();
    assert!(!second.service.index().is_writer());
    let uri = "messages://telegram/*";
    let mut listener = Listener::of(second.client(Era::Modern).await, uri).await;
    append(&setup, ANTTI, "13/01/2025, 09:01 - Antti: While both run.\n");
    assert_eq!(listener.message(uri).await["content"], "While both run.");
    client.close().await.unwrap();
    let index = first.service.index().clone();
    drop(first);
    tokio::task::spawn_blocking(move || index.close()).await.unwrap();
    append(&setup, ANTTI, "13/01/2025, 09:02 - Antti: While one runs.\n");
    assert_eq!(listener.message(uri).await["content"], "While one runs.");
}
