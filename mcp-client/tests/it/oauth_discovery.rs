//! From a refusal to the authorization server: in the specified order, and nothing that does not fit is used (rows A10,
//! A11).

use serde_json::json;

use crate::oauth_common::{Person, Reply, Rules, Site, World, complaint};
use futures_util::future::{BoxFuture, ready};
use http::{HeaderMap, Method, Uri};
use mcp_proto::Era;
use mcp_proto_client::authorize::{Grant, OAuth};
use mcp_proto_client::{Client, ClientConfig, ClientError, Credentials, Refusal};
use std::sync::Arc;

const OF_RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OF_SERVER: &str = "/.well-known/oauth-authorization-server";

#[tokio::test]
async fn the_challenge_says_where_the_metadata_is_and_nothing_else_is_tried() {
    let world = World::new(Rules {
        challenge: r#"Basic realm="old", Bearer resource_metadata="{mcp}/here""#.to_owned(),
        resource_at: Some("/here"),
        ..Rules::default()
    });
    let world = world.await;
    let tools = world.client(world.oauth()).await.list_tools().await.unwrap();
    assert_eq!(tools[0].name, "one");
    assert_eq!(world.mcp.at("/here").len(), 1);
    assert!(world.mcp.looked().is_empty());
    assert_eq!(world.login.looked(), [OF_SERVER]);
    assert_eq!(world.shown(), [None, Some("Bearer t1".to_owned())]);
    // One who signs in before the first request asks, too.
    let before = world.oauth();
    before.sign_in().await.unwrap();
    assert_eq!(world.mcp.at("/here").len(), 2);
    // There is nothing where it says.
    let world = World::new(Rules {
        challenge: r#"Bearer resource_metadata="{mcp}/there""#.to_owned(),
        ..Rules::default()
    });
    let world = world.await;
    let failure = world.failure().await;
    assert!(
        failure.contains("/there: the challenge of the MCP server names this place"),
        "{failure}"
    );
    assert!(world.login.seen().is_empty());
}

#[tokio::test]
async fn the_well_known_paths_are_tried_in_their_order() {
    let of_endpoint = format!("{OF_RESOURCE}/mcp");
    let world = World::new(Rules::default()).await;
    world.client(world.oauth()).await.list_tools().await.unwrap();
    assert_eq!(world.mcp.looked(), [of_endpoint.as_str()]);
    let world = World::new(Rules { resource_at: Some(OF_RESOURCE), ..Rules::default() });
    let world = world.await;
    world.client(world.oauth()).await.list_tools().await.unwrap();
    assert_eq!(world.mcp.looked(), [of_endpoint, OF_RESOURCE.to_owned()]);
    for (tenant, at, tried) in [
        ("", OF_SERVER, vec![OF_SERVER]),
        (
            "",
            "/.well-known/openid-configuration",
            vec![OF_SERVER, "/.well-known/openid-configuration"],
        ),
        (
            "/a/b",
            "/.well-known/oauth-authorization-server/a/b",
            vec!["/.well-known/oauth-authorization-server/a/b"],
        ),
        (
            "/a/b",
            "/a/b/.well-known/openid-configuration",
            vec![
                "/.well-known/oauth-authorization-server/a/b",
                "/.well-known/openid-configuration/a/b",
                "/a/b/.well-known/openid-configuration",
            ],
        ),
    ] {
        let world = World::new(Rules { tenant, server_at: Some(at), ..Rules::default() });
        let world = world.await;
        world.client(world.oauth()).await.list_tools().await.unwrap();
        assert_eq!(world.login.looked(), tried);
    }
}

#[tokio::test]
async fn metadata_of_another_resource_is_refused() {
    let world = World::new(Rules::default()).await;
    let own = world.mcp.url.clone();
    for resource in [
        "https://evil.example/mcp".to_owned(),
        format!("{own}/mc"),
        format!("{own}/mcp/below"),
        format!("{own}/mcp#part"),
        format!("{own}/mcp?other"),
        "mcp".to_owned(),
    ] {
        world.rules().resource = json!({ "resource": resource });
        let failure = world.failure().await;
        assert!(failure.contains("its member resource must be that URL"), "{failure}");
    }
    assert!(world.login.seen().is_empty(), "no authorization server hears of it");
}

#[tokio::test]
async fn the_resource_is_named_as_its_metadata_does() {
    for (resource_at, path) in [(Some(OF_RESOURCE), ""), (Some(OF_RESOURCE), "/"), (None, "/mcp")] {
        let world = World::new(Rules { resource_at, ..Rules::default() });
        let world = world.await;
        let resource = format!("{}{path}", world.mcp.url);
        world.rules().resource = json!({ "resource": resource });
        if resource_at.is_none() {
            world.rules().server = json!({});
        }
        world.client(world.oauth()).await.list_tools().await.unwrap();
        let site = if resource_at.is_some() { &world.login } else { &world.mcp };
        assert_eq!(site.at("/authorize")[0].form["resource"], resource);
        assert_eq!(site.at("/token")[0].form["resource"], resource);
    }
}

#[tokio::test]
async fn an_issuer_must_be_the_one_that_was_asked_for() {
    let world = World::new(Rules::default()).await;
    let own = world.login.url.clone();
    for issuer in ["https://evil.example".to_owned(), format!("{own}/"), own.to_uppercase()] {
        world.rules().server = json!({ "issuer": issuer });
        let failure = world.failure().await;
        assert!(failure.contains("to the letter (RFC 8414 §3.3)"), "{failure}");
    }
    assert!(world.login.at("/register").is_empty());
    // The list is empty, or names what is no place of metadata.
    for (servers, complaint) in [
        (json!([]), "must name an authorization server"),
        (json!(["http://login.example"]), "must begin with https://"),
        (json!(["ftp://127.0.0.1/"]), "must begin with https://"),
        (json!([format!("{own}?x")]), "no query and no fragment"),
        (json!(["https://user:pass@login.example"]), "a user name"),
    ] {
        world.rules().resource = json!({ "authorization_servers": servers });
        let failure = world.failure().await;
        assert!(failure.contains(complaint), "{failure}");
    }
}

#[tokio::test]
async fn without_s256_nobody_is_asked() {
    for methods in [json!(null), json!([]), json!(["plain"])] {
        let world = World::new(Rules {
            server: json!({ "code_challenge_methods_supported": methods }),
            ..Rules::default()
        });
        let world = world.await;
        let failure = world.failure().await;
        assert!(failure.contains("must list S256"), "{failure}");
        assert!(world.login.at("/authorize").is_empty());
    }
}

#[tokio::test]
async fn a_server_of_2025_03_26_is_its_own_authorization_server() {
    for (server_at, authorize) in [(Some(OF_SERVER), "/authorize"), (None, "/authorize")] {
        let world = World::new(Rules {
            resource_at: None,
            server_at,
            // A server without metadata cannot announce anything.
            answer: json!({ "iss": null }),
            server: json!({ "authorization_response_iss_parameter_supported": null }),
            ..Rules::default()
        });
        let world = world.await;
        world.client(world.oauth()).await.list_tools().await.unwrap();
        assert_eq!(world.mcp.at(authorize).len(), 1);
        assert_eq!(world.mcp.at("/register").len(), 1);
        assert_eq!(world.mcp.at("/token").len(), 1);
        assert!(world.login.seen().is_empty());
    }
}

#[tokio::test]
async fn what_is_fetched_is_bounded() {
    // A page for people is not a document, a broken document is not passed over.
    let pages = Site::start(|url, seen| match seen.path.as_str() {
        "/mcp" => Reply(401, vec![("www-authenticate", "Bearer".to_owned())], String::new()),
        "/.well-known/oauth-protected-resource/mcp" => {
            Reply(200, vec![("content-type", "text/html".to_owned())], "<p>hello</p>".to_owned())
        }
        "/.well-known/oauth-protected-resource" => Reply::json(200, &json!({ "resource": url })),
        _ => Reply::nothing(),
    });
    let pages = pages.await;
    let oauth = |url: &str| OAuth::new(url, Grant::Browser(Arc::new(Person))).unwrap();
    let failure = complaint(oauth(&format!("{}/mcp", pages.url)).sign_in().await);
    assert!(failure.contains("must name an authorization server"), "{failure}");
    let other = Site::start(|_, _| Reply::json(200, &json!({}))).await;
    let elsewhere = other.url.clone();
    let cases: [(&str, Reply); 4] = [
        ("length limit exceeded", Reply::json(200, &json!({ "resource": "x".repeat(300_000) }))),
        ("another origin", Reply(302, vec![("location", format!("{elsewhere}/x"))], String::new())),
        ("HTTP 500", Reply::json(500, &json!({}))),
        ("cannot be read", Reply::json(200, &json!([]))),
    ];
    for (expected, reply) in cases {
        let site = Site::start(move |_, _| reply.clone()).await;
        let failure = complaint(oauth(&format!("{}/mcp", site.url)).sign_in().await);
        assert!(failure.contains(expected), "{failure}");
        assert!(failure.contains(&site.url), "{failure}");
    }
    assert!(other.seen().is_empty());
    let plain = OAuth::new("http://tools.example/mcp", Grant::ClientCredentials);
    assert!(plain.unwrap_err().to_string().contains("must begin with https://"));
}

/// Hears the refusals of one server as if they were those of another, which cannot be reached.
#[derive(Debug)]
struct Elsewhere(OAuth);

impl Credentials for Elsewhere {
    fn headers<'a>(
        &'a self,
        _method: &'a Method,
        _url: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, ClientError>> {
        Box::pin(ready(Ok(HeaderMap::new())))
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<(), ClientError>> {
        self.0.refused(refusal)
    }
}

#[tokio::test]
async fn a_server_elsewhere_names_no_place_in_here() {
    let world = World::new(Rules::default()).await;
    let here = [
        "localhost",
        "localhost.",
        "login.localhost.",
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "[::]",
    ];
    let inside = [
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "[::ffff:10.1.2.3]",
        "[fd00::1]",
        "[fe80::1]",
    ];
    let of_public = here.iter().chain(&inside).map(|it| ("tools.example", it));
    let of_inside = here.iter().map(|it| ("10.0.0.1", it));
    for (endpoint, named) in of_public.chain(of_inside) {
        // Nothing listens there: without the rule this fails otherwise.
        world.rules().challenge = format!(r#"Bearer resource_metadata="https://{named}:1/x""#);
        let oauth =
            OAuth::new(&format!("https://{endpoint}/mcp"), Grant::Browser(Arc::new(Person)));
        let credentials = Arc::new(Elsewhere(oauth.unwrap()));
        let config = ClientConfig::new(Era::Modern).with_credentials(credentials);
        let client = Client::http(&world.url(), config).await.unwrap();
        let failure = client.list_tools().await.unwrap_err().to_string();
        let expected = "must not name a place on this machine or in its private network";
        assert!(failure.contains(expected), "{endpoint}: {failure}");
    }
}

#[tokio::test]
async fn plain_http_is_for_this_machine_alone() {
    let of = |host: &str| OAuth::new(&format!("http://{host}/mcp"), Grant::ClientCredentials);
    for host in ["localhost", "localhost.", "127.0.0.1", "[::1]"] {
        assert!(of(host).is_ok(), "{host}");
    }
    for host in ["tools.example", "10.0.0.1", "169.254.169.254", "[fd00::1]"] {
        let failure = of(host).unwrap_err().to_string();
        assert!(failure.contains("must begin with https://"), "{failure}");
    }
}
