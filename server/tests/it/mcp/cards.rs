//! The server card and the catalog: where clients find the server, by the URL that is right for them.

use serde_json::json;
use tempfile::TempDir;

use crate::harness::Server;
use crate::harness::process::{binary, run};

const CARD: &str = "/mcp/server-card";
const CATALOG: &str = "/.well-known/ai-catalog.json";

#[tokio::test]
async fn a_server_on_loopback_names_its_address() {
    let dir = TempDir::new().unwrap();
    let server = Server::on(dir.path()).await;
    let card = server.client.get(CARD).await;
    assert_eq!(card.status, 200);
    assert_eq!(card.header("content-type"), "application/mcp-server-card+json");
    assert_eq!(card.header("access-control-allow-origin"), "*");
    let tag = card.header("etag").to_owned();
    let card = card.json();
    let url = format!("http://{}/mcp", server.client.0);
    assert_eq!(card["remotes"][0]["url"], url);
    assert_eq!(card["name"], "127.0.0.1/universe-server");
    assert_eq!(card["version"], env!("CARGO_PKG_VERSION"));
    let headers = [("if-none-match", tag.as_str())];
    let again = server.client.call("GET", CARD, &headers, &json!(null)).await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let catalog = server.client.get(CATALOG).await;
    assert_eq!(catalog.header("content-type"), "application/ai-catalog+json");
    assert_eq!(catalog.json()["entries"][0]["url"], format!("{url}/server-card"));
}

#[tokio::test]
async fn behind_a_proxy_the_operator_gives_the_url() {
    let dir = TempDir::new().unwrap();
    let proxied =
        ["--allowed-host", "universe.example", "--trusted-proxy", "127.0.0.1", "--allow-anyone"];
    let server = Server::with(&dir.path().join("a"), &proxied).await;
    for path in [CARD, CATALOG] {
        assert_eq!(server.client.get(path).await.status, 404, "{path}");
    }
    let arguments = [&proxied[..], &["--public-url", "https://universe.example/sky/"]].concat();
    let server = Server::with(&dir.path().join("b"), &arguments).await;
    let card = server.client.get(CARD).await.json();
    assert_eq!(card["remotes"][0]["url"], "https://universe.example/sky/mcp");
    assert_eq!(card["name"], "example.universe/universe-server");
    let greeting = server.greeting.join("\n");
    assert!(greeting.contains("https://universe.example/sky/universes"), "{greeting}");
    let mut command = binary();
    command.args(["--public-url", "universe.example", "check-config"]);
    let ended = run(&mut command).await;
    assert!(!ended.status.success());
    assert!(ended.stderr.contains("such as https://tools.example"), "{}", ended.stderr);
}
