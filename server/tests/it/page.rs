//! The live page: its files as browsers get them, and what answers say a caller may do. What it does in a browser is
//! tested by `cargo xtask page`.

use std::io::Read as _;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::harness::{Client, Local, Reply, Server};

/// The files that the page names.
fn files(page: &Reply) -> Vec<String> {
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    let quoted = text.split('"').filter(|part| part.starts_with("/page/"));
    quoted.map(str::to_owned).collect()
}

async fn get(client: Client, path: &str, headers: &[(&str, &str)]) -> Reply {
    client.call("GET", path, headers, &Value::Null).await
}

#[tokio::test]
async fn the_page_may_load_what_this_server_has_and_nothing_else() {
    let server = Local::start().await;
    let page = server.client.get("/").await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    assert_eq!(page.header("referrer-policy"), "no-referrer");
    assert_eq!(page.header("cache-control"), "no-cache");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';"));
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let text = String::from_utf8_lossy(&page.body);
    assert!(!text.contains("://"), "an outside address: {text}");
    assert!(!text.contains("<style") && !text.contains("style="), "{text}");
    assert_eq!(files(&page).len(), 3);
}

#[tokio::test]
async fn files_are_kept_for_good_and_packed_for_those_who_take_it() {
    let server = Local::start().await;
    let page = server.client.get("/").await;
    for path in files(&page) {
        let plain = get(server.client, &path, &[]).await;
        assert_eq!(plain.status, 200, "{path}");
        assert!(plain.header("cache-control").contains("immutable"));
        assert_eq!(plain.header("vary"), "accept-encoding");
        assert!(!plain.headers.contains_key("content-encoding"));
        for takes in ["gzip", "br, gzip;q=0.5", "GZIP"] {
            let packed = get(server.client, &path, &[("accept-encoding", takes)]).await;
            assert_eq!(packed.header("content-encoding"), "gzip", "{takes}");
            let mut text = Vec::new();
            GzDecoder::new(&*packed.body).read_to_end(&mut text).unwrap();
            assert_eq!(text, plain.body, "{path}");
            assert_ne!(packed.header("etag"), plain.header("etag"));
        }
        for takes in ["gzip;q=0", "identity", "br"] {
            let reply = get(server.client, &path, &[("accept-encoding", takes)]).await;
            assert_eq!(reply.header("etag"), plain.header("etag"), "{takes}");
        }
        let tag = plain.header("etag");
        for known in [tag, &format!("\"x\", W/{tag}")] {
            let reply = get(server.client, &path, &[("if-none-match", known)]).await;
            assert_eq!((reply.status, reply.body.len()), (304, 0), "{known}");
            assert_eq!(reply.header("etag"), tag);
        }
        let head = server.client.call("HEAD", &path, &[], &Value::Null).await;
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert_eq!(head.header("content-length"), plain.body.len().to_string());
    }
}

#[tokio::test]
async fn the_page_takes_nothing_and_other_paths_are_no_part_of_it() {
    let server = Local::start().await;
    for path in ["/", "/page/sol.json"] {
        let reply = server.client.post(path, &json!({})).await;
        assert_eq!((reply.status, reply.header("allow")), (405, "GET, HEAD"));
    }
    for path in ["/page/", "/page/page.js", "/page/../page.rs", "/index.html"] {
        assert_eq!(server.client.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_solar_system_can_be_made_without_the_demo() {
    let server = Local::start().await;
    let state = server.client.get("/page/sol.json").await.json();
    let id = server.client.create("Sol", state).await;
    let made = server.client.universe(&id).await;
    assert_eq!(made["state"]["stars"]["earth"]["parentId"], "sun");
}

#[tokio::test]
async fn what_was_read_says_what_may_be_done() {
    let server = Local::start().await;
    let id = server.client.create("u", json!({})).await;
    let path = format!("/universes/{id}");
    let list = server.client.get("/universes").await;
    assert_eq!(list.header("allow"), "GET, HEAD, POST, OPTIONS");
    let one = server.client.get(&path).await;
    assert_eq!(one.header("allow"), "GET, HEAD, PUT, DELETE, OPTIONS");
    let tag = one.header("etag");
    let known = get(server.client, &path, &[("if-none-match", tag)]).await;
    assert_eq!(known.status, 304);
    assert_eq!(known.header("allow"), "GET, HEAD, PUT, DELETE, OPTIONS");
    let tree = server.client.get(&format!("{path}/tree")).await;
    assert!(!tree.headers.contains_key("allow"));

    let dir = tempfile::TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--demo", "--read-only"]).await;
    for path in ["/universes", "/universes/sol"] {
        let read = server.client.get(path).await;
        assert_eq!(read.header("allow"), "GET, HEAD, OPTIONS", "{path}");
    }
}
