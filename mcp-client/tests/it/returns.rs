//! When the client comes back to a server by itself, and when it must not: lost sessions, streams that end, calls that
//! may have been done, connections that are closed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use http::{HeaderMap, Method, Uri};
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, ClientError, Credentials, Interest, Refusal};
use serde_json::json;
use tokio::sync::Barrier;

use crate::common::PATIENCE;
use crate::fake::{Answer, Fake, Seen, answer, events, open_events, status, together};

/// What a legacy server with sessions says; `other` says the rest.
fn legacy(seen: &Seen, before: usize, other: impl Fn(&Seen) -> Answer) -> Answer {
    match seen.name() {
        "initialize" => seen.initialized(json!({"tools": {"listChanged": true}}), before),
        "notifications/initialized" | "notifications/cancelled" | "DELETE" => status(202),
        _ => other(seen),
    }
}

async fn connected(fake: &Fake) -> Client {
    let config = ClientConfig::new(Era::Legacy);
    Client::http(&fake.url(), config).await.unwrap()
}

fn count(fake: &Fake, name: &str) -> usize {
    fake.names().iter().filter(|seen| *seen == name).count()
}

#[tokio::test]
async fn a_server_with_sessions_and_no_route_for_get_has_no_stream() {
    let fake = Fake::new(|seen, before| {
        legacy(seen, before, |seen| match seen.name() {
            "GET" => status(404),
            _ => seen.result(json!({"tools": []})),
        })
    })
    .await;
    let client = connected(&fake).await;
    let error = client.listen(Interest::lists()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    client.list_tools().await.unwrap();
    assert_eq!((count(&fake, "initialize"), count(&fake, "GET")), (1, 1));
}

#[tokio::test]
async fn a_stream_that_brings_nothing_is_not_opened_at_full_speed() {
    let fake =
        Fake::new(|seen, before| legacy(seen, before, |_| events("id: 1\nretry: 0\ndata:\n\n")))
            .await;
    let begun = Instant::now();
    let _client = connected(&fake).await;
    fake.wait_for("GET", 3).await;
    // A tenth of a second first, and then twice the first pause of the client's own.
    assert!(begun.elapsed() >= Duration::from_millis(1_100));
}

#[tokio::test]
async fn sessions_that_are_lost_one_after_another_are_replaced_with_pauses() {
    let fake = Fake::new(|seen, before| {
        legacy(seen, before, |_| match before % 2 {
            0 => events("retry: 0\ndata:\n\n"),
            _ => status(404),
        })
    })
    .await;
    let begun = Instant::now();
    let _client = connected(&fake).await;
    fake.wait_for("initialize", 3).await;
    assert!(begun.elapsed() >= Duration::from_millis(700));
}

/// Credentials that the user would have to be asked for.
#[derive(Debug)]
struct Unknown;

impl Credentials for Unknown {
    fn headers<'a>(
        &'a self,
        _: &'a Method,
        _: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, ClientError>> {
        Box::pin(std::future::ready(Ok(HeaderMap::new())))
    }

    fn refused<'a>(&'a self, _: &'a Refusal) -> BoxFuture<'a, Result<(), ClientError>> {
        let refused = ClientError::Unauthorized("nobody logged in".to_owned());
        Box::pin(std::future::ready(Err(refused)))
    }
}

#[tokio::test]
async fn a_stream_that_is_refused_to_the_caller_asks_for_no_second_login() {
    let fake = Fake::new(|seen, before| legacy(seen, before, |_| status(401))).await;
    let config = ClientConfig::new(Era::Legacy).with_credentials(Arc::new(Unknown));
    let client = Client::http(&fake.url(), config).await.unwrap();
    let error = client.listen(Interest::lists()).await.unwrap_err();
    assert!(matches!(error, ClientError::Unsupported(_)), "{error}");
    assert_eq!(count(&fake, "GET"), 1);
}

#[tokio::test]
async fn a_call_that_finds_its_session_gone_opens_none_behind_close() {
    // The call is answered once the session is being ended.
    let both = Arc::new(Barrier::new(2));
    let fake = Fake::new(move |seen, before| match seen.name() {
        "tools/call" => together(status(404), &both),
        "DELETE" => together(status(202), &both),
        _ => legacy(seen, before, |_| status(405)),
    })
    .await;
    let client = connected(&fake).await;
    let caller = client.clone();
    let call = tokio::spawn(async move { caller.call_tool_raw("t", json!({})).await });
    fake.wait_for("tools/call", 1).await;
    client.close().await.unwrap();
    assert_eq!(call.await.unwrap(), Err(ClientError::Closed));
    assert_eq!(count(&fake, "initialize"), 1);
}

#[tokio::test]
async fn a_session_is_not_used_before_it_has_what_the_first_one_had() {
    let fake = Fake::new(|seen, before| {
        let session = seen.header("mcp-session-id").to_owned();
        legacy(seen, before, |seen| match (seen.name(), &*session) {
            ("tools/list", "s0") => status(404),
            // The caller does not wait for this answer.
            ("GET", _) | ("resources/subscribe", "s1") => open_events(""),
            _ => seen.result(json!({"tools": []})),
        })
    })
    .await;
    let client = connected(&fake).await;
    let _listening = client.subscribe("notes://1").await.unwrap();
    tokio::select! {
        listed = client.list_tools() => panic!("{listed:?}"),
        () = fake.wait_for("resources/subscribe", 2) => {}
    }
    client.list_tools().await.unwrap();
    let seen = fake.seen();
    let with = |name: &str| {
        let of = seen.iter().filter(|seen| seen.name() == name);
        of.map(|seen| seen.header("mcp-session-id")).collect::<Vec<_>>()
    };
    assert_eq!(with("resources/subscribe"), ["s0", "s1", "s2"]);
    assert_eq!(with("tools/list").last(), Some(&"s2"));
}

#[tokio::test]
async fn who_subscribes_again_while_the_last_handle_goes_stays_subscribed() {
    for turns in 0..20 {
        let fake = Fake::new(|seen, before| {
            legacy(seen, before, |seen| match seen.name() {
                "GET" => open_events(""),
                _ => seen.result(json!({})),
            })
        })
        .await;
        let client = connected(&fake).await;
        let first = client.subscribe("notes://1").await.unwrap();
        drop(first);
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        let again = client.subscribe("notes://1").await.unwrap();
        client.ping().await.unwrap();
        let names = fake.names();
        let last = names.iter().rfind(|name| name.starts_with("resources/"));
        assert_eq!(last.unwrap(), "resources/subscribe", "{turns}: {names:?}");
        let before = count(&fake, "resources/unsubscribe");
        drop(again);
        fake.wait_for("resources/unsubscribe", before + 1).await;
    }
}

#[tokio::test]
async fn only_what_reads_is_asked_twice() {
    let fake = Fake::new(|seen, before| match before {
        0 => events(": nothing\n\n"),
        _ => seen.result(json!({})),
    })
    .await;
    let config = ClientConfig::new(Era::Modern);
    let client = Client::http(&fake.url(), config).await.unwrap();
    for (method, is_repeated) in [
        ("tasks/get", true),
        ("resources/templates/list", true),
        ("completion/complete", true),
        ("tasks/update", false),
        ("com.example/pay", false),
    ] {
        let asked = client.request(method, json!({}));
        let asked = tokio::time::timeout(PATIENCE, asked).await.unwrap();
        let wanted = if is_repeated { Ok(json!({})) } else { Err(ClientError::Closed) };
        assert_eq!(asked, wanted, "{method}");
        assert_eq!(count(&fake, method), 1 + usize::from(is_repeated));
    }
}

#[tokio::test]
async fn a_result_is_a_result_whatever_its_status() {
    let fake = Fake::new(|seen, before| {
        legacy(seen, before, |seen| match seen.name() {
            "GET" => status(405),
            _ => {
                let done =
                    json!({"jsonrpc": "2.0", "id": seen.body["id"], "result": {"n": before}});
                answer(404, &done)
            }
        })
    })
    .await;
    let client = connected(&fake).await;
    let result = client.call_tool_raw("t", json!({})).await;
    assert_eq!(result, Ok(json!({"n": 0})));
    assert_eq!(count(&fake, "tools/call"), 1);
}
