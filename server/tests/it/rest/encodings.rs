//! Compressed answers: for clients that take them, where it is worth it, over REST and MCP.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::harness::client::Headers;
use crate::harness::{Client, Era, Feed, Local, Reply, Wire, add_star, tick};

/// A universe whose JSON has some 100 kB.
async fn large(client: Client) -> String {
    let names = |n: u64| format!("body-{n}");
    let bodies: serde_json::Map<String, Value> = (0..400)
        .map(|n| {
            let mut body = add_star(&names(n))["payload"].take();
            body["id"] = json!(names(n));
            body["children"] = json!([]);
            body["orbitalPhase"] = json!(n);
            (names(n), body)
        })
        .collect();
    let roots: Vec<_> = (0..400).map(names).collect();
    client.create("large", json!({ "stars": bodies, "rootIds": roots })).await
}

async fn get(client: Client, path: &str, headers: Headers<'_>) -> Reply {
    client.call("GET", path, headers, &Value::Null).await
}

/// The body of an answer, decoded as its headers say.
fn decoded(reply: &Reply) -> Vec<u8> {
    match reply.header("content-encoding") {
        "gzip" => {
            let mut body = Vec::new();
            GzDecoder::new(&*reply.body).read_to_end(&mut body).unwrap();
            body
        }
        "" => reply.body.to_vec(),
        other => panic!("{other}"),
    }
}

fn varies(reply: &Reply) -> bool {
    reply.headers.get_all("vary").iter().any(|vary| vary == "accept-encoding")
}

#[tokio::test]
async fn the_client_chooses_by_its_weights() {
    let server = Local::start().await;
    let client = server.client;
    let path = format!("/universes/{}", large(client).await);
    let plain = client.get(&path).await;
    assert_eq!((plain.header("content-encoding"), varies(&plain)), ("", true));
    for (accepted, encoding) in [
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "gzip"),
        ("GZip;q=0.9, br;q=0.8", "gzip"),
        ("*", "gzip"),
        ("*;q=0.1, br;q=0", "gzip"),
        ("*, gzip;q=0", ""),
        ("gzip;q=0", ""),
        ("identity, gzip;q=0.5", ""),
        ("gzip;q=0.5, identity;q=0.4", "gzip"),
        ("br, deflate, zstd", ""),
        ("gzip;q=nonsense", ""),
        ("", ""),
    ] {
        let reply = get(client, &path, &[("accept-encoding", accepted)]).await;
        assert_eq!(reply.header("content-encoding"), encoding, "{accepted}");
        assert!(varies(&reply));
        assert_eq!(decoded(&reply), plain.body, "{accepted}");
        if !encoding.is_empty() {
            assert!(reply.body.len() * 4 < plain.body.len(), "{}", reply.body.len());
            assert_eq!(reply.header("content-length"), reply.body.len().to_string());
        }
    }
}

#[tokio::test]
async fn entity_tags_distinguish_encodings_and_name_the_same_revision() {
    let server = Local::start().await;
    let client = server.client;
    let path = format!("/universes/{}", large(client).await);
    let gzip = ("accept-encoding", "gzip");
    let reply = get(client, &path, &[gzip]).await;
    assert_eq!(reply.header("etag"), "\"0-gzip\"");
    for tag in ["\"0-gzip\"", "W/\"0-gzip\"", "\"0\""] {
        let known = get(client, &path, &[gzip, ("if-none-match", tag)]).await;
        let told = tag.strip_prefix("W/").unwrap_or(tag);
        assert_eq!((known.status, known.header("etag")), (304, told));
    }
    let commands = format!("{path}/commands?result=events");
    for (tag, status) in [("\"1-gzip\"", 412), ("\"0-br\"", 400), ("\"0-gzip\"", 200)] {
        let reply = client.call("POST", &commands, &[("if-match", tag)], &tick()).await;
        assert_eq!(reply.status, status, "{tag}");
    }
    let changed = get(client, &path, &[gzip, ("if-none-match", "\"0-gzip\"")]).await;
    assert_eq!((changed.status, changed.header("etag")), (200, "\"1-gzip\""));
}

#[tokio::test]
async fn short_answers_and_feeds_stay_as_they_are() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let gzip = [("accept-encoding", "gzip, zstd")];
    for path in ["/health".to_owned(), format!("/universes/{id}")] {
        let reply = get(client, &path, &gzip).await;
        assert_eq!((reply.header("content-encoding"), varies(&reply)), ("", false));
    }
    let feed = client.open("GET", &format!("/universes/{id}/events"), &gzip).await;
    assert!(feed.headers().get("content-encoding").is_none());
    let mut feed = Feed::new(feed.into_body());
    client.command(&id, &tick()).await;
    assert_eq!(feed.event().await.unwrap().id, Some(1));
}

#[tokio::test]
async fn mcp_answers_are_compressed_in_both_eras() {
    let server = Local::start().await;
    let client = server.client;
    let id = large(client).await;
    for era in Era::BOTH {
        let mcp = Wire::new(client, era).await;
        let universe = json!({"universeId": id});
        let plain = mcp.call("get_universe_state", universe.clone()).await;
        assert_eq!(plain.header("content-encoding"), "");
        let mcp = mcp.clone().accepting("gzip");
        let reply = mcp.call("get_universe_state", universe.clone()).await;
        assert_eq!(reply.header("content-encoding"), "gzip");
        assert!(varies(&reply) && reply.body.len() * 4 < plain.body.len());
        assert_eq!(decoded(&reply), plain.body, "{era:?}");
        let short = mcp.send(&json!(1), "ping", json!({})).await;
        assert_eq!(short.header("content-encoding"), "");
    }
}
