//! Who may call: hosts, origins, and what a web page may read.

use http::Method;
use mcp_proto::StreamableHttpService;
use mcp_proto::http::{Hosts, HttpConfig, Origins, Peer, ServeConfig};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::common::{Raw, Served, server};

fn with(hosts: Hosts, origins: Origins) -> StreamableHttpService {
    let mut config = HttpConfig::default();
    config.hosts = hosts;
    config.origins = origins;
    StreamableHttpService::with_config(server(), config)
}

fn list() -> Raw {
    Raw::modern("tools/list", json!({}))
}

#[tokio::test]
async fn hosts() {
    let listed = Hosts::List(vec!["mcp.example".to_owned(), "2001:db8::1".to_owned()]);
    // Host, then whether loopback names, a list, and anything let it in.
    for (host, loopback, list_of_two) in [
        ("localhost", true, true),
        ("LocalHost:3000", true, true),
        ("127.0.0.1", true, true),
        ("127.8.9.1:80", true, true),
        ("[::1]", true, true),
        ("[::1]:3000", true, true),
        ("mcp.example", false, true),
        ("MCP.example:8443", false, true),
        ("[2001:db8::1]:443", false, true),
        ("evil.example", false, false),
        ("localhost.evil.example", false, false),
        ("127.0.0.1.evil.example", false, false),
        ("127.0.0.1:80.evil.example", false, false),
        ("[::1].evil.example", false, false),
        ("localhost:80:90", false, false),
        ("localhost@evil.example", false, false),
        ("", false, false),
    ] {
        for (hosts, good) in
            [(Hosts::Loopback, loopback), (listed.clone(), list_of_two), (Hosts::Any, true)]
        {
            let service = with(hosts.clone(), Origins::Loopback);
            let reply = list().set("host", host).send(&service).await;
            let wanted = if good { 200 } else { 403 };
            assert_eq!(reply.status.as_u16(), wanted, "{host:?} {hosts:?}");
        }
    }
}

#[tokio::test]
async fn the_target_names_the_host_where_it_has_one() {
    // As over HTTP/2, and in HTTP/1.1 requests in absolute form.
    let service = with(Hosts::Loopback, Origins::Loopback);
    for (target, status) in [("http://127.0.0.1:80/mcp", 200), ("http://evil.example/mcp", 403)] {
        let mut request = list().unset("host").request();
        *request.uri_mut() = target.parse().unwrap();
        assert_eq!(service.handle(request).await.status().as_u16(), status, "{target}");
    }
}

#[tokio::test]
async fn origins() {
    let listed = Origins::List(vec!["https://app.example/".to_owned()]);
    for (origin, loopback, list_of_one) in [
        ("http://localhost", true, true),
        ("http://localhost:6274", true, true),
        ("https://127.0.0.1:8080", true, true),
        ("http://[::1]:6274", true, true),
        ("https://app.example", false, true),
        ("https://app.example:8443", false, false),
        ("http://app.example", false, false),
        ("null", false, false),
        ("", false, false),
        ("localhost", false, false),
        ("file://localhost", false, false),
        ("http://localhost.evil.example", false, false),
        ("http://evil.example/localhost", false, false),
        ("http://localhost@evil.example", false, false),
    ] {
        for (origins, good) in
            [(Origins::Loopback, loopback), (listed.clone(), list_of_one), (Origins::Any, true)]
        {
            let service = with(Hosts::Loopback, origins.clone());
            let reply = list().set("origin", origin).send(&service).await;
            assert_eq!(
                reply.status.as_u16(),
                if good { 200 } else { 403 },
                "{origin:?} {origins:?}"
            );
            let readable = reply.header("access-control-allow-origin");
            assert_eq!(readable, good.then_some(origin), "{origin:?} {origins:?}");
        }
    }
}

#[tokio::test]
async fn one_foreign_origin_of_two_is_enough_to_be_refused() {
    let service = with(Hosts::Loopback, Origins::Loopback);
    let raw = list().set("origin", "http://localhost").add("origin", "http://evil.example");
    assert_eq!(raw.send(&service).await.refusal().0, 403);
}

#[tokio::test]
async fn a_request_for_two_hosts_is_for_none() {
    let service = with(Hosts::Loopback, Origins::Loopback);
    let raw = list().add("host", "evil.example");
    assert_eq!(raw.send(&service).await.refusal(), (400, -32600, None));
}

#[tokio::test]
async fn a_host_is_required_where_a_listener_of_ours_took_the_connection() {
    for hosts in [Hosts::Loopback, Hosts::Any] {
        let service = with(hosts.clone(), Origins::Loopback);
        // Called without a socket, and by an accept loop of its own.
        let bare = list().unset("host").request();
        let mut embedded = list().unset("host").request();
        embedded.extensions_mut().insert(Peer::new([127, 0, 0, 1].into()));
        for request in [bare, embedded] {
            assert_eq!(service.handle(request).await.status(), 200);
        }
        let mut config = HttpConfig::default();
        config.hosts = hosts;
        let served = Served::with(server(), config, ServeConfig::default()).await;
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        let request = b"GET /mcp HTTP/1.1\r\nconnection: close\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(answer.ends_with("\"message\":\"the Host header is missing\"}}"), "{answer}");
    }
}

#[tokio::test]
async fn refusals_of_hosts_and_origins_name_what_was_refused() {
    let service = with(Hosts::Loopback, Origins::Loopback);
    let reply = list().set("host", "evil.example").send(&service).await;
    assert!(
        reply.message().contains("\"evil.example\"") && reply.message().contains("allowed hosts")
    );
    let reply = list().set("origin", "null").send(&service).await;
    assert!(reply.message().contains("\"null\"") && reply.message().contains("allowed origins"));
}

#[tokio::test]
async fn a_preflight_is_answered_without_a_session() {
    let service = with(Hosts::Loopback, Origins::Loopback);
    let raw = Raw::bare(Method::OPTIONS)
        .set("origin", "http://localhost:6274")
        .set("access-control-request-method", "POST")
        .set("access-control-request-headers", "content-type, mcp-protocol-version");
    let reply = raw.send(&service).await;
    assert_eq!((reply.status.as_u16(), reply.body.len()), (204, 0));
    assert_eq!(reply.header("access-control-allow-origin"), Some("http://localhost:6274"));
    assert_eq!(reply.header("vary"), Some("origin"));
    let listed = |name: &str| -> Vec<String> {
        let value = reply.header(name).unwrap();
        value.split(", ").map(str::to_owned).collect()
    };
    for method in ["POST", "GET", "DELETE"] {
        assert!(listed("access-control-allow-methods").contains(&method.to_owned()));
    }
    for header in [
        "content-type",
        "accept",
        "authorization",
        "last-event-id",
        "mcp-protocol-version",
        "mcp-session-id",
        "mcp-method",
        "mcp-name",
    ] {
        assert!(listed("access-control-allow-headers").contains(&header.to_owned()), "{header}");
    }
    let foreign = Raw::bare(Method::OPTIONS).set("origin", "http://evil.example");
    let reply = foreign.send(&service).await;
    assert_eq!(reply.refusal().0, 403);
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

#[tokio::test]
async fn a_page_may_read_refusals_and_session_ids() {
    let service = with(Hosts::Loopback, Origins::Loopback);
    for raw in [
        Raw::initialize("2025-11-25"),
        list().set("content-type", "text/plain"),
        list().unset("mcp-method"),
        Raw::bare(Method::PUT),
        Raw::bare(Method::GET),
    ] {
        let reply = raw.set("origin", "http://localhost:6274").send(&service).await;
        assert_eq!(reply.header("access-control-allow-origin"), Some("http://localhost:6274"));
        assert_eq!(
            reply.header("access-control-expose-headers"),
            Some("mcp-session-id, www-authenticate")
        );
    }
    // No page, no headers for pages.
    assert_eq!(list().send(&service).await.header("access-control-allow-origin"), None);
}
