//! Sessions of the handshake revisions on several servers: what one has begun another goes on with.

use serde_json::{Value, json};

use super::node;
use crate::engines::urls;
use crate::harness::{Era, Feed, Wire, add_star, tick};

/// The next message of a GET stream, with the id of its event.
pub(super) async fn next(stream: &mut Feed<hyper::body::Incoming>) -> Option<(Value, String)> {
    loop {
        let block = stream.block().await?;
        let field = |name: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.trim().to_owned())
        };
        if let Some(data) = field("data:").filter(|data| !data.is_empty()) {
            let data = serde_json::from_str(&data).unwrap();
            return Some((data, field("id:").unwrap_or_default()));
        }
    }
}

/// Reads until it is told that a resource was updated; gives the id of that event.
async fn updated(stream: &mut Feed<hyper::body::Incoming>, uri: &str) -> String {
    loop {
        let (message, id) = next(stream).await.expect("the stream goes on");
        if message["method"] == "notifications/resources/updated" && message["params"]["uri"] == uri
        {
            return id;
        }
    }
}

async fn done(wire: &Wire, method: &str, uri: &str) {
    let reply = wire.send(&json!(5), method, json!({ "uri": uri })).await;
    assert!(reply.status == 200 && reply.json()["error"].is_null(), "{reply:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_of_one_is_served_by_the_other_and_ends_at_both() {
    for url in urls() {
        let (a, b) = (node(&url).await, node(&url).await);
        let id = a.client.create("u", json!({})).await;
        let other = a.client.create("v", json!({})).await;
        let (uri, second) = (format!("universe://{id}"), format!("universe://{other}"));
        let at_a = Wire::new(a.client, Era::Legacy).await;
        let at_b = at_a.at(b.client);
        let sent = at_b.command(&id, &add_star("sun")).await.json();
        assert_eq!(sent["result"]["isError"], Value::Null, "{sent}");
        assert_eq!(a.client.universe(&id).await["revision"], 1);

        // Subscribed to at one, heard at the other, whoever makes the change.
        done(&at_a, "resources/subscribe", &uri).await;
        let response = at_b.stream(None).await;
        assert_eq!(response.status(), 200);
        let mut stream = Feed::new(response.into_body());
        for node in [&a, &b] {
            node.client.command(&id, &tick()).await;
            updated(&mut stream, &uri).await;
        }
        // And while the stream is open: it is told that what was subscribed to elsewhere may have changed, and what
        // does.
        done(&at_a, "resources/subscribe", &second).await;
        updated(&mut stream, &second).await;
        for node in [&a, &b] {
            node.client.command(&other, &tick()).await;
            updated(&mut stream, &second).await;
        }
        // A newer one at the same server has the messages from then on, as without the other server.
        let newer = at_b.stream(None).await;
        assert_eq!(newer.status(), 200);
        let mut newer = Feed::new(newer.into_body());
        a.client.command(&id, &tick()).await;
        updated(&mut newer, &uri).await;

        assert_eq!(at_a.end().await.status, 204);
        while next(&mut newer).await.is_some() {}
        assert_eq!(next(&mut stream).await, None);
        for wire in [&at_a, &at_b] {
            assert_eq!(wire.send(&json!(6), "ping", json!({})).await.status, 404);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_whose_server_has_gone_is_taken_up_by_the_other() {
    for url in urls() {
        let (mut a, b) = (node(&url).await, node(&url).await);
        let id = a.client.create("u", json!({})).await;
        let uri = format!("universe://{id}");
        let at_a = Wire::new(a.client, Era::Legacy).await;
        let at_b = at_a.at(b.client);
        done(&at_a, "resources/subscribe", &uri).await;
        let mut stream = Feed::new(at_a.stream(None).await.into_body());
        a.client.command(&id, &tick()).await;
        let last = updated(&mut stream, &uri).await;
        // The last thing that is said is when to come back.
        a.stop().await;
        let mut blocks = Vec::new();
        while let Some(block) = stream.block().await {
            blocks.push(block);
        }
        assert!(blocks.last().is_some_and(|block| block.contains("\nretry: ")), "{blocks:?}");
        // What was changed meanwhile nobody has told: it may be anything that was subscribed to.
        b.client.command(&id, &tick()).await;
        let response = at_b.stream(Some(&last)).await;
        assert_eq!(response.status(), 200);
        let mut stream = Feed::new(response.into_body());
        updated(&mut stream, &uri).await;
        b.client.command(&id, &tick()).await;
        let last = updated(&mut stream, &uri).await;
        // At the same server it is resumed as ever.
        drop(stream);
        let response = at_b.stream(Some(&last)).await;
        assert_eq!(response.status(), 200);
        let mut stream = Feed::new(response.into_body());
        b.client.command(&id, &tick()).await;
        updated(&mut stream, &uri).await;
        // A call that was lost with its server is said to be lost.
        let lost = last.replacen('s', "c", 1);
        assert_eq!(at_b.stream(Some(&lost)).await.status(), 400);
    }
}
