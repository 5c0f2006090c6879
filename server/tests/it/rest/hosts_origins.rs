//! Who may call: hosts, origins, and what browsers receive.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_proto::http::{Hosts, Origins};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use universe_server::commands::{CommandService, ServiceLimits};
use universe_server::rest::RestConfig;

use crate::harness::local::memory;
use crate::harness::{Local, soon, tick};

#[tokio::test]
async fn foreign_hosts_are_refused_on_both_dialects() {
    let server = Local::start().await;
    for path in ["/health", "/universes", "/mcp", "/nowhere"] {
        for host in ["evil.example", "localhost.evil.example", "192.168.0.7:80"] {
            let reply = server.client.call("GET", path, &[("host", host)], &Value::Null).await;
            assert_eq!(reply.status, 403, "{path} {host}");
            assert!(String::from_utf8_lossy(&reply.body).contains(host), "{reply:?}");
        }
    }
    for host in ["localhost", "LOCALHOST:9", "127.0.0.1", "127.9.9.9:80", "[::1]:80"] {
        let reply = server.client.call("GET", "/health", &[("host", host)], &Value::Null).await;
        assert_eq!(reply.status, 200, "{host}");
    }
}

#[tokio::test]
async fn foreign_pages_change_nothing() {
    let server = Local::start().await;
    let client = server.client;
    let id = client.create("u", json!({})).await;
    for origin in ["https://evil.example", "null", "http://localhost.evil.example", "localhost"] {
        let path = format!("/universes/{id}/commands");
        let reply = client.call("POST", &path, &[("origin", origin)], &tick()).await;
        assert_eq!(reply.status, 403, "{origin}");
        assert!(reply.error().contains("--allowed-origin"), "{reply:?}");
        assert_eq!(reply.header("access-control-allow-origin"), "");
        let reply = client.call("POST", "/mcp", &[("origin", origin)], &json!({})).await;
        assert_eq!(reply.status, 403, "{origin}");
    }
    assert_eq!(client.universe(&id).await["revision"], 0);
}

#[tokio::test]
async fn pages_that_may_call_may_read_answers_and_refusals() {
    let server = Local::start().await;
    let client = server.client;
    let origin = "http://localhost:5173";
    let paths = [
        ("/health", 200),
        ("/universes/none", 404),
        ("/universes?limit=0", 400),
        ("/none", 404),
        ("/mcp", 400),
    ];
    for (path, status) in paths {
        let reply = client.call("GET", path, &[("origin", origin)], &Value::Null).await;
        assert_eq!(reply.status, status, "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), origin, "{path}");
        assert!(reply.header("vary").eq_ignore_ascii_case("origin"), "{path}");
        let exposed = reply.header("access-control-expose-headers");
        assert!(exposed.contains("mcp-session-id"), "{path}: {exposed}");
    }
    // A cache must not give this answer to a page.
    let plain = client.get("/health").await;
    assert!(plain.header("vary").eq_ignore_ascii_case("origin"), "{plain:?}");
    assert_eq!(plain.header("access-control-allow-origin"), "");
    let read = client.call("GET", "/health", &[("origin", origin)], &Value::Null).await;
    for header in ["etag", "link", "location", "mcp-session-id"] {
        assert!(read.header("access-control-expose-headers").contains(header), "{header}");
    }
}

#[tokio::test]
async fn preflights_are_answered() {
    let server = Local::start().await;
    let rows = [
        ("/universes", "GET, HEAD, POST, OPTIONS"),
        ("/universes/u", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("/universes/u/commands", "POST, OPTIONS"),
        ("/universes/u/events", "GET, HEAD, OPTIONS"),
        ("/mcp", "POST, GET, DELETE, OPTIONS"),
    ];
    for (path, methods) in rows {
        let headers = [
            ("origin", "http://127.0.0.1:8080"),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type,if-match,last-event-id"),
        ];
        let reply = server.client.call("OPTIONS", path, &headers, &Value::Null).await;
        assert_eq!((reply.status, reply.body.len()), (204, 0), "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), headers[0].1);
        let allowed = reply.header("access-control-allow-methods");
        for method in methods.split(", ").filter(|method| *method != "OPTIONS") {
            assert!(allowed.contains(method), "{path}: {allowed}");
        }
        let allowed = reply.header("access-control-allow-headers");
        assert!(allowed.contains("content-type"), "{allowed}");
        let needed = if path == "/mcp" { "mcp-session-id" } else { "if-match" };
        assert!(allowed.contains(needed), "{path}: {allowed}");
    }
    let foreign = [("origin", "https://evil.example"), ("access-control-request-method", "POST")];
    let reply = server.client.call("OPTIONS", "/universes", &foreign, &Value::Null).await;
    assert_eq!(reply.status, 403);
}

#[tokio::test]
async fn further_doors_are_opened_by_name() {
    let rest = RestConfig {
        hosts: Hosts::List(vec!["universe.example".to_owned()]),
        origins: Origins::List(vec!["https://app.example".to_owned()]),
        ..RestConfig::default()
    };
    let service = CommandService::new(memory(), ServiceLimits::default());
    let server = Local::with_service(service, rest).await;
    let rows = [
        ("universe.example", "https://app.example", 200),
        ("Universe.Example:8080", "http://localhost:1", 200),
        ("other.example", "https://app.example", 403),
        ("universe.example", "https://other.example", 403),
        ("universe.example", "http://app.example", 403),
    ];
    for (host, origin, status) in rows {
        let headers = [("host", host), ("origin", origin)];
        let reply = server.client.call("GET", "/health", &headers, &Value::Null).await;
        assert_eq!(reply.status, status, "{host} {origin}");
    }
}

#[tokio::test]
async fn http2_has_the_same_doors() {
    let server = Local::start().await;
    let stream = TcpStream::connect(server.client.0).await.unwrap();
    let handshake = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.unwrap();
    tokio::spawn(connection);
    let rows = [
        ("localhost", "/health", 200),
        ("evil.example", "/health", 403),
        ("localhost", "/universes/u-9", 404),
        ("evil.example", "/mcp", 403),
    ];
    for (authority, path, status) in rows {
        let request = http::Request::get(format!("http://{authority}{path}"));
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let response = soon(sender.send_request(request)).await.unwrap();
        assert_eq!(response.status(), status, "{authority}{path}");
    }
}
