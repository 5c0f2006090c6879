//! Large bodies: those that are refused, whose senders must hear of it, and the answers to HEAD and pages of the tree.

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::process::verb;
use crate::harness::{Client, Local, Server, add_star, remove_star, soon, tick};

/// Sends a whole request before it reads, and gives the status line; fails if sending does.
async fn status_after_sending(client: Client, head: &str, body: usize) -> String {
    let mut stream = TcpStream::connect(client.0).await.unwrap();
    let head = format!("{head}host: localhost\r\ncontent-length: {body}\r\n\r\n");
    soon(stream.write_all(head.as_bytes())).await.unwrap();
    let piece = vec![b' '; 64 * 1024];
    let mut left = body;
    while left > 0 {
        let some = left.min(piece.len());
        soon(stream.write_all(&piece[..some])).await.expect("the server reads on");
        left -= some;
    }
    let mut answer = [0; 13];
    soon(stream.read_exact(&mut answer)).await.unwrap();
    String::from_utf8(answer.to_vec()).unwrap()
}

#[tokio::test]
async fn one_who_sends_a_refused_body_to_its_end_receives_why() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let json = "content-type: application/json\r\n";
    let rows = [
        (format!("POST /universes HTTP/1.1\r\n{json}"), "413"),
        (format!("POST /mcp HTTP/1.1\r\n{json}"), "413"),
        (format!("PUT /universes/{id} HTTP/1.1\r\n{json}"), "413"),
        ("POST /universes HTTP/1.1\r\ncontent-type: text/plain\r\n".to_owned(), "415"),
        (format!("POST /nothing HTTP/1.1\r\n{json}"), "404"),
        (format!("DELETE /health HTTP/1.1\r\n{json}"), "405"),
        (format!("POST /universes HTTP/1.1\r\norigin: https://evil.example\r\n{json}"), "403"),
    ];
    for (head, status) in rows {
        // Far more than the buffers of a connection hold, and than a body may have.
        let answer = status_after_sending(client, &head, 60 << 20).await;
        assert_eq!(answer, format!("HTTP/1.1 {status} "), "{head}");
    }
}

#[tokio::test]
async fn the_limits_are_options() {
    let dir = TempDir::new().unwrap();
    for wrong in ["lots", "0", "1GiB", "-1"] {
        let ended = verb(dir.path(), &[&format!("--max-body={wrong}")]).await;
        assert_eq!(ended.status.code(), Some(2), "{wrong}");
        let told = "a size is a number with a unit, such as 16MiB: from 1.0 KiB to 128.0 MiB";
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
    }
    let large = json!({"name": "u", "state": {"note": "x".repeat(11 << 20)}});
    let server = Server::on(dir.path()).await;
    let refused = server.client.post("/universes", &large).await;
    assert_eq!(refused.status, 413);
    assert_eq!(refused.error(), "the body is larger than 10485760 bytes");
    drop(server);
    let dir = TempDir::new().unwrap();
    let limits = ["--max-body", "12MiB", "--max-universe", "2 MiB"];
    let server = Server::with(dir.path(), &limits).await;
    let client = server.client;
    let made = client.post("/universes", &large).await;
    assert_eq!(made.status, 201, "{:?}", made.error());
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(client.universe(&id).await["state"]["note"], large["state"]["note"]);
    // What it reads it takes back.
    let again = client.universe(&id).await;
    let put = client.put(&format!("/universes/{id}"), &again).await;
    assert_eq!((put.status, put.json()["state"].clone()), (200, again["state"].clone()));
    let grown = client.post(&format!("/universes/{id}/commands"), &add_star("s")).await;
    assert_eq!(grown.status, 413);
    assert!(grown.error().contains("2097152"), "{}", grown.error());
    let path = format!("/universes/{id}/commands?result=events");
    assert_eq!(client.post(&path, &tick()).await.status, 200);
}

#[tokio::test]
async fn one_command_alone_goes_beyond_the_limit() {
    let dir = TempDir::new().unwrap();
    let server = Server::with(dir.path(), &["--max-universe", "4MiB"]).await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    let path = format!("/universes/{id}/commands?result=events");
    let mut large = add_star("large");
    large["payload"]["name"] = json!("x".repeat(9 << 20));
    assert_eq!(client.post(&path, &large).await.status, 200);
    // How large the universe is by now is still being measured.
    let refused = client.post(&path, &add_star("small")).await;
    assert_eq!(refused.status, 413, "{refused:?}");
    let small = json!({"type": "updateStar", "id": "large", "payload": {"name": "x"}});
    assert_eq!(client.post(&path, &small).await.status, 200);
    // Here the log grows, and the universe does not.
    for _ in 0..3 {
        let set = json!({"type": "setNebulae", "nebulae": {}, "filler": "x".repeat(3 << 20)});
        assert_eq!(client.post(&path, &set).await.status, 200);
    }
    assert_eq!(client.post(&path, &add_star("small")).await.status, 200);
}

#[tokio::test]
async fn head_has_the_headers_of_get() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({"note": "x".repeat(100_000)})).await;
    for path in [
        format!("/universes/{id}"),
        "/universes".to_owned(),
        "/universes?view=summary".to_owned(),
        format!("/universes/{id}/history"),
        format!("/universes/{id}/tree"),
        "/health".to_owned(),
    ] {
        let get = client.get(&path).await;
        let head = client.call("HEAD", &path, &[], &Value::Null).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        for name in ["content-type", "etag", "link"] {
            assert_eq!(head.header(name), get.header(name), "{path} {name}");
        }
        let length = head.header("content-length");
        assert!(length.is_empty() || length == get.header("content-length"), "{path}: {length}");
        assert_eq!(head.header("transfer-encoding"), "");
    }
}

#[tokio::test]
async fn the_tree_comes_in_pages_of_one_revision() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    for star in ["a", "b", "c", "d", "e"] {
        client.command(&id, &add_star(star)).await;
    }
    let whole = client.get(&format!("/universes/{id}/tree")).await;
    assert_eq!(whole.header("content-type"), "text/plain; charset=utf-8");
    assert_eq!((whole.header("etag"), whole.header("link")), ("\"5\"", ""));
    let lines = |body: &[u8]| -> Vec<String> {
        let text = String::from_utf8(body.to_vec()).unwrap();
        assert!(text.contains(&format!("[{id}]: ")), "{text}");
        let lines = text.lines().filter(|line| line.starts_with("- "));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(lines(&whole.body).len(), 5);
    let mut path = Some(format!("/universes/{id}/tree?limit=2"));
    let mut pages = Vec::new();
    while let Some(next) = path {
        let page = client.get(&next).await;
        assert_eq!((page.status, page.header("etag")), (200, "\"5\""), "{next}");
        pages.push(lines(&page.body));
        path = page.header("link").split(['<', '>']).nth(1).map(str::to_owned);
        // The pages that follow do not see it.
        let gone = ["a", "b", "c"][pages.len() - 1];
        client.command(&id, &remove_star(gone)).await;
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(pages.concat(), lines(&whole.body));
    for (query, told) in [
        ("limit=0", "limit must be a number from 1 to 10000"),
        ("limit=x", "limit must be a whole number"),
        ("cursor=7", "cursor must be the one of a Link header"),
        ("cursor=99.2", "99"),
    ] {
        let reply = client.get(&format!("/universes/{id}/tree?{query}")).await;
        assert!(reply.status >= 400 && reply.error().contains(told), "{reply:?}");
    }
}
