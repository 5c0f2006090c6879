//! Server cards (SEP-2127): the card, the catalog that leads to it, and who may read them.

use http::Method;
use mcp_proto::http::authorize::{Authorization, BearerTokens, ProtectedResource};
use mcp_proto::http::{HttpConfig, ServerCard};
use mcp_proto::{Icon, Server, StreamableHttpService};
use serde_json::{Value, json};

use crate::common::{Raw, Reply};

const SCHEMA: &str = include_str!("../../../packaging/schema/server-card-v1.json");
const CATALOG: &str = "/.well-known/ai-catalog.json";
const URL: &str = "https://tools.example/mcp";

fn named(name: &str) -> Server {
    Server::builder(name, "1.2.3", ()).build().unwrap()
}

fn tokens() -> Authorization {
    let hash = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    Authorization::new(BearerTokens::from_text(&format!("{hash} ada read")).unwrap())
}

fn service(
    server: Server,
    url: &str,
    authorization: Option<Authorization>,
) -> StreamableHttpService {
    let mut config = HttpConfig::default();
    config.card = ServerCard::new(&server, url, authorization.as_ref());
    assert!(config.card.is_some(), "{url}");
    config.authorization = authorization;
    StreamableHttpService::with_config(server, config)
}

async fn send(service: &StreamableHttpService, path: &str, raw: Raw) -> Reply {
    let mut request = raw.request();
    *request.uri_mut() = path.parse().unwrap();
    let (head, body) = service.handle(request).await.into_parts();
    let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
    Reply { status: head.status, headers: head.headers, body }
}

async fn get(service: &StreamableHttpService, path: &str) -> Value {
    let reply = send(service, path, Raw::bare(Method::GET)).await;
    assert_eq!(reply.status, 200, "{path}");
    serde_json::from_slice(&reply.body).unwrap()
}

/// The card, which fits the official schema.
async fn card(service: &StreamableHttpService) -> Value {
    let card = get(service, "/mcp/server-card").await;
    let mut schema: Value = serde_json::from_str(SCHEMA).unwrap();
    schema["$ref"] = json!("#/$defs/ServerCard");
    let schema = jsonschema::options().offline().build(&schema).unwrap();
    let findings: Vec<_> = schema.iter_errors(&card).map(|error| error.to_string()).collect();
    assert_eq!(findings, [""; 0], "{card}");
    card
}

#[tokio::test]
async fn a_card_says_what_the_server_says() {
    let server = Server::builder("notes", "1.2.3", ())
        .title("Notes")
        .description("Keeps notes.")
        .website_url("https://tools.example")
        .icon(Icon::new("https://tools.example/icon.png"))
        .build()
        .unwrap();
    let service = service(server, "https://tools.example/mcp/", None);
    assert_eq!(
        card(&service).await,
        json!({
            "$schema": "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
            "name": "example.tools/notes",
            "version": "1.2.3",
            "title": "Notes",
            "description": "Keeps notes.",
            "websiteUrl": "https://tools.example",
            "icons": [{"src": "https://tools.example/icon.png"}],
            "remotes": [{
                "type": "streamable-http",
                "url": URL,
                "supportedProtocolVersions":
                    ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
            }],
        })
    );
    assert_eq!(
        get(&service, CATALOG).await,
        json!({"specVersion": "1.0", "entries": [{
            "identifier": "urn:air:tools.example:mcp:notes",
            "displayName": "Notes",
            "type": "application/mcp-server-card+json",
            "url": "https://tools.example/mcp/server-card",
        }]})
    );
    // What it says is what a client finds when it connects.
    let discovered = Raw::modern("server/discover", json!({})).send(&service).await.result();
    let card = card(&service).await;
    assert_eq!(card["remotes"][0]["supportedProtocolVersions"], discovered["supportedVersions"]);
}

#[tokio::test]
async fn names_and_texts_are_made_to_fit_the_schema() {
    let long = "é".repeat(101);
    for (server, url, name, description, identifier) in [
        (
            named("a b/c"),
            "http://127.0.0.1:3001/mcp",
            "127.0.0.1/a-b-c",
            "a b/c",
            "127.0.0.1:mcp:a-b-c",
        ),
        (named("x"), "http://[::1]/mcp", "1/x", "x", "1:mcp:x"),
        (named("x"), "http://[2001:db8::1]:80", "2001-db8--1/x", "x", "2001-db8--1:mcp:x"),
        (named("x"), "http://localhost", "localhost/x", "x", "localhost:mcp:x"),
        (
            Server::builder("x", "1", ()).title("").description(long.clone()).build().unwrap(),
            "https://a.b.example.:8443/c/mcp",
            "example.b.a/x",
            &format!("{}…", "é".repeat(99)),
            "a.b.example:mcp:x",
        ),
    ] {
        let service = service(server, url, None);
        let card = card(&service).await;
        assert_eq!((&card["name"], &card["description"]), (&json!(name), &json!(description)));
        assert_eq!(card["remotes"][0]["url"], url);
        let catalog = get(&service, CATALOG).await;
        assert_eq!(catalog["entries"][0]["identifier"], format!("urn:air:{identifier}"));
    }
    let deep = format!("https://{}x.example/mcp", "a.".repeat(100));
    for url in [
        "",
        "tools.example/mcp",
        "ftp://a/b",
        "https://a/b?c",
        "https://a/b#c",
        "https://{a}/b",
        &deep,
    ] {
        assert!(ServerCard::new(&named("x"), url, None).is_none(), "{url}");
    }
    assert!(ServerCard::new(&named("é"), URL, None).is_none());
}

#[tokio::test]
async fn a_token_is_named_unless_clients_find_out_where_to_get_it() {
    let service_with = |authorization| service(named("x"), URL, Some(authorization));
    let (own, public) = (service_with(tokens()), {
        let resource = ProtectedResource::new(URL, vec!["https://login.example".to_owned()]);
        service_with(tokens().with_resource(resource.unwrap()))
    });
    let header = &card(&own).await["remotes"][0]["headers"][0];
    assert_eq!(
        (&header["name"], &header["isRequired"], &header["isSecret"]),
        (&json!("Authorization"), &json!(true), &json!(true))
    );
    assert_eq!(card(&public).await["remotes"][0].get("headers"), None);
    // No token is needed for what is public; the endpoint beside it needs one.
    assert_eq!(get(&own, CATALOG).await["specVersion"], "1.0");
    assert_eq!(Raw::modern("tools/list", json!({})).send(&own).await.status, 401);
}

#[tokio::test]
async fn any_page_may_read_it_and_ask_whether_it_has_changed() {
    let service = service(named("x"), URL, None);
    for (path, media_type) in [
        ("/mcp/server-card", "application/mcp-server-card+json"),
        ("/server-card", "application/mcp-server-card+json"),
        (CATALOG, "application/ai-catalog+json"),
    ] {
        let ask = |method: Method| {
            let raw = Raw::bare(method).set("origin", "https://evil.example");
            raw.set("host", "evil.example")
        };
        let is_public = |reply: &Reply| {
            let expected = [
                ("access-control-allow-origin", "*"),
                ("access-control-allow-methods", "GET"),
                ("access-control-allow-headers", "Content-Type, If-None-Match"),
                ("access-control-expose-headers", "ETag"),
            ];
            for (name, value) in expected {
                assert_eq!(reply.header(name), Some(value), "{path}");
            }
        };
        let reply = send(&service, path, ask(Method::GET)).await;
        assert_eq!((reply.status.as_u16(), reply.header("content-type")), (200, Some(media_type)));
        assert_eq!(reply.header("cache-control"), Some("public, max-age=3600"));
        is_public(&reply);
        let tag = reply.header("etag").unwrap().to_owned();
        let strong = tag.trim_start_matches("W/").to_owned();
        for (given, status) in [
            (tag.clone(), 304),
            (strong.clone(), 304),
            (format!("\"a\", {tag}"), 304),
            ("*".to_owned(), 304),
            ("\"a\"".to_owned(), 200),
            (strong.trim_matches('"').to_owned(), 200),
        ] {
            let asked = ask(Method::GET).set("if-none-match", &given);
            let reply = send(&service, path, asked).await;
            assert_eq!(reply.status, status, "{given}");
            assert_eq!(reply.body.is_empty(), status == 304);
            assert_eq!(reply.header("etag"), Some(tag.as_str()));
            assert_eq!(reply.header("cache-control"), Some("public, max-age=3600"));
            is_public(&reply);
        }
        let asked = ask(Method::GET).add("if-none-match", "\"a\"").add("if-none-match", &tag);
        assert_eq!(send(&service, path, asked).await.status, 304);
        let preflight = send(&service, path, ask(Method::OPTIONS)).await;
        assert_eq!(preflight.status, 204);
        is_public(&preflight);
        for method in [Method::POST, Method::DELETE] {
            let refused = send(&service, path, ask(method)).await;
            assert_eq!(
                (refused.status.as_u16(), refused.header("allow")),
                (405, Some("GET, HEAD, OPTIONS"))
            );
        }
    }
}

#[tokio::test]
async fn a_server_without_a_card_has_neither() {
    let plain = StreamableHttpService::new(named("x"));
    let carded = service(named("x"), URL, None);
    for (path, route) in [("/mcp/server-card", "/server-card"), (CATALOG, CATALOG)] {
        assert_eq!(plain.document(path), None);
        assert_eq!(carded.document(path), Some(route));
        // It ignores the path, as ever.
        let reply = send(&plain, path, Raw::bare(Method::GET)).await;
        assert_eq!((reply.status.is_client_error(), reply.header("etag")), (true, None));
    }
    for path in ["/mcp", "/server-card/", "/.well-known/oauth-protected-resource"] {
        assert_eq!(carded.document(path), None, "{path}");
    }
    let resource = ProtectedResource::new(URL, vec!["https://login.example".to_owned()]).unwrap();
    let guarded = service(named("x"), URL, Some(tokens().with_resource(resource)));
    let metadata = "/.well-known/oauth-protected-resource";
    for path in [metadata, "/.well-known/oauth-protected-resource/mcp"] {
        assert_eq!(guarded.document(path), Some(metadata));
    }
    assert_eq!(guarded.document("/.well-known/oauth-protected-resource/other"), None);
}
