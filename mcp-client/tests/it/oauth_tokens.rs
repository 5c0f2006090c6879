//! What is asked for, by whom, and what becomes of the tokens (rows A10, A13, A14).

use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use mcp_proto_client::ClientError;
use mcp_proto_client::authorize::{MemoryStore, RegisteredClient, TokenStore};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::oauth_common::{Reply, Rules, World};

#[tokio::test]
async fn a_request_has_its_challenge_its_resource_and_its_state() {
    let world = World::new(Rules::default()).await;
    world.client(world.oauth()).await.list_tools().await.unwrap();
    let (asked, grant) = (&world.asked()[0], &world.grants()[0].form);
    assert_eq!(asked["response_type"], "code");
    assert_eq!(asked["code_challenge_method"], "S256");
    let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&grant["code_verifier"]));
    assert_eq!(asked["code_challenge"], challenge);
    assert_eq!((&asked["resource"], &grant["resource"]), (&world.url(), &world.url()));
    assert_eq!(
        (grant["grant_type"].as_str(), grant["code"].as_str()),
        ("authorization_code", "the code")
    );
    assert!(asked["state"].len() >= 16 && grant["code_verifier"].len() >= 43);
    assert!(!asked.contains_key("scope"), "no scope was named");
}

#[tokio::test]
async fn scopes_are_those_of_the_challenge_or_all_that_are_listed() {
    let challenge = r#"Bearer scope="read""#;
    let listed = json!({ "scopes_supported": ["read", "write"] });
    let offline = json!({ "scopes_supported": ["offline_access", "read"] });
    for (challenge, resource, server, scope) in [
        (challenge, listed.clone(), json!({}), Some("read")),
        ("Bearer", listed.clone(), json!({}), Some("read write")),
        ("Bearer", json!({}), json!({}), None),
        (challenge, listed.clone(), offline.clone(), Some("offline_access read")),
        ("Bearer", json!({}), offline, None),
        ("Bearer", listed.clone(), listed, Some("read write")),
    ] {
        let world = World::new(Rules {
            challenge: challenge.to_owned(),
            resource,
            server,
            ..Rules::default()
        });
        let world = world.await;
        world.client(world.oauth()).await.list_tools().await.unwrap();
        let asked = &world.asked()[0];
        assert_eq!(asked.get("scope").map(String::as_str), scope);
    }
}

#[tokio::test]
async fn more_scopes_are_asked_for_beside_those_of_before() {
    let world = World::new(Rules {
        challenge: r#"Bearer scope="read""#.to_owned(),
        needs: Some("write"),
        refuse: |number, _| {
            let token = if number == 1 { "t1.read" } else { "t2.read.write" };
            let token = json!({ "access_token": token, "token_type": "bearer" });
            Some(Reply::json(200, &token))
        },
        ..Rules::default()
    });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    client.list_tools().await.unwrap();
    client.call_tool_raw("one", json!({})).await.unwrap();
    let scopes: Vec<_> = world.asked().iter().map(|it| it["scope"].clone()).collect();
    assert_eq!(scopes, ["read", "read write"]);
    assert_eq!(world.shown().last().unwrap().as_deref(), Some("Bearer t2.read.write"));
}

#[tokio::test]
async fn a_server_that_wants_ever_more_is_given_up() {
    // It wants what it was given.
    let world = World::new(Rules {
        needs: Some("write"),
        token: json!({ "scope": "write" }),
        ..Rules::default()
    });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    let Err(ClientError::Unauthorized(problem)) = client.call_tool_raw("one", json!({})).await
    else {
        panic!("it was given up")
    };
    assert!(
        problem.contains("asks for the scopes \"write\"") && problem.contains("has them"),
        "{problem}"
    );
    assert_eq!(world.asked().len(), 1);
    // What it wants is never granted.
    let world = World::new(Rules {
        needs: Some("write"),
        token: json!({ "scope": "read" }),
        ..Rules::default()
    });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    let failed = client.call_tool_raw("one", json!({})).await;
    assert!(matches!(failed, Err(ClientError::Unauthorized(_))), "{failed:?}");
    assert_eq!(world.asked().len(), 3);
    // It does not take what its authorization server gives.
    let world = World::new(Rules { revoked: vec!["t1".to_owned()], ..Rules::default() });
    let world = world.await;
    let failure = world.failure().await;
    assert!(failure.contains("does not take the token"), "{failure}");
    assert_eq!(world.asked().len(), 1);
}

#[tokio::test]
async fn who_the_client_is_goes_by_the_specified_order() {
    let known = RegisteredClient::new("known").with_secret("secret");
    let takes_documents = json!({ "client_id_metadata_document_supported": true });
    let document = "https://client.example/me.json";
    let world = World::new(Rules { server: takes_documents, ..Rules::default() });
    let world = world.await;
    let oauth = world.oauth().with_metadata_document(document);
    world.client(oauth.with_client(known)).await.list_tools().await.unwrap();
    let oauth = world.oauth().with_metadata_document(document);
    world.client(oauth).await.list_tools().await.unwrap();
    assert!(world.login.at("/register").is_empty());
    world.rules().server = json!({});
    let oauth = world.oauth().with_metadata_document(document).with_name("tester");
    world.client(oauth).await.list_tools().await.unwrap();
    let ids: Vec<_> = world.asked().iter().map(|it| it["client_id"].clone()).collect();
    assert_eq!(ids, ["known", document, &format!("client of {}", world.login.url)]);
    let registered = world.login.at("/register")[0].json();
    assert_eq!(
        registered,
        json!({
            "client_name": "tester",
            "redirect_uris": ["http://127.0.0.1:9/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "native",
        })
    );
    // Nothing is left but to ask the person who runs the client.
    world.rules().server = json!({ "registration_endpoint": null });
    let failure = world.failure().await;
    assert!(failure.contains("register there and use OAuth::with_client"), "{failure}");
}

#[tokio::test]
async fn a_client_proves_itself_as_the_server_takes_it() {
    for (listed, registered, basic, secret) in [
        (json!(null), json!({}), true, None),
        (json!(["client_secret_basic", "client_secret_post"]), json!({}), true, None),
        (json!(["client_secret_post"]), json!({}), false, Some("hush")),
        (json!(["none"]), json!({}), false, None),
        (json!(null), json!({ "client_secret": null }), false, None),
    ] {
        let world = World::new(Rules {
            server: json!({ "token_endpoint_auth_methods_supported": listed }),
            registered,
            ..Rules::default()
        });
        let world = world.await;
        world.client(world.oauth()).await.list_tools().await.unwrap();
        let grant = &world.grants()[0];
        let id = format!("client of {}", world.login.url);
        assert_eq!(grant.basic().is_some(), basic);
        assert_eq!(grant.form.get("client_secret").map(String::as_str), secret);
        assert_eq!(grant.form.get("client_id"), (!basic).then_some(&id));
    }
    let world = World::new(Rules {
        server: json!({ "token_endpoint_auth_methods_supported": ["tls_client_auth"] }),
        ..Rules::default()
    });
    let failure = world.await.failure().await;
    assert!(failure.contains("takes tls_client_auth at its token endpoint"), "{failure}");
}

fn refreshing(number: usize, grant: &crate::oauth_common::Seen) -> Option<Reply> {
    let is_refresh = grant.form["grant_type"] == "refresh_token";
    let token = json!({
        "access_token": format!("t{number}"), "token_type": "Bearer",
        // The first runs out at once.
        "expires_in": if number == 1 { 0 } else { 3600 },
        "refresh_token": if is_refresh { Value::Null } else { json!("again") },
    });
    Some(Reply::json(200, &token))
}

#[tokio::test]
async fn a_token_that_ran_out_is_refreshed_without_a_person() {
    let world = World::new(Rules { refuse: refreshing, ..Rules::default() });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    client.list_tools().await.unwrap();
    assert_eq!(world.shown(), [None, Some("Bearer t2".to_owned())]);
    // One that the server takes no more is refreshed as well: the refresh token is still good.
    world.rules().revoked = vec!["t2".to_owned()];
    client.list_tools().await.unwrap();
    assert_eq!(world.shown().last().unwrap().as_deref(), Some("Bearer t3"));
    let grants: Vec<_> = world.grants().iter().map(|it| it.form["grant_type"].clone()).collect();
    assert_eq!(grants, ["authorization_code", "refresh_token", "refresh_token"]);
    assert_eq!(world.grants()[1].form["refresh_token"], "again");
    assert_eq!(world.grants()[1].form["resource"], world.url());
    // A refresh token that is not good any more makes room for a person.
    world.rules().refuse = |number, grant| match grant.form["grant_type"].as_str() {
        "refresh_token" => Some(Reply::json(400, &json!({ "error": "invalid_grant" }))),
        _ => refreshing(number, grant),
    };
    world.rules().revoked.push("t3".to_owned());
    client.list_tools().await.unwrap();
    assert_eq!(world.asked().len(), 2);
}

#[tokio::test]
async fn a_refresh_that_does_not_help_is_not_made_for_ever() {
    // What comes of it is refused as well.
    let world = World::new(Rules {
        refuse: refreshing,
        revoked: vec!["t2".to_owned()],
        ..Rules::default()
    });
    let world = world.await;
    world.client(world.oauth()).await.list_tools().await.unwrap();
    let kinds = |world: &World| -> Vec<_> {
        let grants = world.grants().into_iter();
        grants.map(|it| it.form["grant_type"].clone()).collect()
    };
    assert_eq!(kinds(&world), ["authorization_code", "refresh_token", "authorization_code"]);
    // It is refused itself, when the token has run out already: that one is not shown any more.
    let world = World::new(Rules {
        refuse: |number, grant| match grant.form["grant_type"].as_str() {
            "refresh_token" => Some(Reply::json(400, &json!({ "error": "invalid_client" }))),
            _ => refreshing(number, grant),
        },
        ..Rules::default()
    });
    let world = world.await;
    world.client(world.oauth()).await.list_tools().await.unwrap();
    assert_eq!(world.shown(), [None, None, Some("Bearer t4".to_owned())]);
    assert_eq!(world.login.at("/register").len(), 2, "its registration was not known any more");
    // A token that is of no use from the beginning.
    world.rules().refuse = |_, _| None;
    world.rules().token = json!({ "expires_in": 0 });
    let failure = world.failure().await;
    assert!(failure.contains("has run out already"), "{failure}");
}

// LibreChat-AI/librechat.ai#420, simpleidserver/SimpleIdServer#957
#[tokio::test]
async fn a_lifetime_as_text_and_scopes_as_a_list_are_read() {
    let world = World::new(Rules::default()).await;
    world.rules().token = json!({ "expires_in": "3600", "scope": ["read", "write"] });
    world.client(world.oauth()).await.list_tools().await.unwrap();
    world.rules().token = json!({ "expires_in": "soon" });
    let failure = world.failure().await;
    assert!(failure.contains("expires_in"), "{failure}");
}

#[tokio::test]
async fn a_server_that_lists_too_many_scopes_is_refused() {
    let listed: Vec<_> = (0..1_000).map(|at| format!("scope{at}")).collect();
    let world =
        World::new(Rules { resource: json!({ "scopes_supported": listed }), ..Rules::default() });
    let world = world.await;
    let failure = world.failure().await;
    assert!(failure.contains("at most 4096"), "{failure}");
    assert!(world.asked().is_empty());
}

#[tokio::test]
async fn tokens_are_kept_for_the_next_client() {
    let world = World::new(Rules::default()).await;
    let store: Arc<dyn TokenStore> = Arc::new(MemoryStore::default());
    for _ in 0..3 {
        let oauth = Arc::new(world.oauth().with_store(Arc::clone(&store)));
        world.sharing(&oauth).await.list_tools().await.unwrap();
    }
    assert_eq!((world.asked().len(), world.login.at("/register").len()), (1, 1));
    let oauth = world.oauth().with_store(Arc::clone(&store));
    oauth.sign_in().await.unwrap();
    oauth.sign_out().await.unwrap();
    oauth.sign_in().await.unwrap();
    assert_eq!((world.asked().len(), world.login.at("/register").len()), (2, 2));
}

#[tokio::test]
async fn another_authorization_server_learns_nothing_of_the_first() {
    let world = World::new(Rules::default()).await;
    let other = World::new(Rules::default()).await;
    let client = world.client(world.oauth()).await;
    let known = RegisteredClient::new("known").with_secret("secret");
    let registered = world.client(world.oauth().with_client(known)).await;
    let pinned = world.client(world.oauth().with_issuer(world.issuer())).await;
    for client in [&client, &registered, &pinned] {
        client.list_tools().await.unwrap();
    }
    // The MCP server moves.
    world.rules().resource = json!({ "authorization_servers": [other.issuer()] });
    world.rules().revoked = ["t1", "t2", "t3"].map(ToOwned::to_owned).to_vec();
    other.rules().token = json!({ "access_token": "of_other" });
    client.list_tools().await.unwrap();
    assert_eq!(world.shown().last().unwrap().as_deref(), Some("Bearer of_other"));
    assert_eq!(other.login.at("/register").len(), 1);
    assert_eq!(other.asked()[0]["client_id"], format!("client of {}", other.login.url));
    let before = other.login.seen().len();
    let failure = registered.list_tools().await.unwrap_err().to_string();
    assert!(failure.contains("the client is registered at"), "{failure}");
    let failure = pinned.list_tools().await.unwrap_err().to_string();
    assert!(failure.contains("the one authorization server that may be used"), "{failure}");
    let after = other.login.seen();
    assert!(after[before..].iter().all(|it| it.path.contains("well-known")));
    let told = format!("{after:?}");
    assert!(!told.contains("known\"") && !told.contains("secret"));
    // Not "t1" alone, which what is drawn by chance may have in it.
    for token in ["Bearer t1", "=t1&", "=t1\""] {
        assert!(!told.contains(token), "{told}");
    }
}

#[tokio::test]
async fn tokens_go_to_the_endpoint_and_nowhere_else() {
    use mcp_proto_client::Credentials as _;
    let world = World::new(Rules::default()).await;
    let oauth = world.oauth();
    oauth.sign_in().await.unwrap();
    let own = world.url().parse().unwrap();
    let headers = oauth.headers(&http::Method::POST, &own).await.unwrap();
    assert_eq!(headers["authorization"], "Bearer t1");
    assert!(headers["authorization"].is_sensitive());
    for other in [world.login.url.as_str(), "https://evil.example/mcp", "http://127.0.0.1/mcp"] {
        let headers = oauth.headers(&http::Method::POST, &other.parse().unwrap()).await;
        assert!(headers.unwrap().is_empty(), "{other}");
    }
    assert!(!format!("{oauth:?}").contains("t1"));
}

#[tokio::test]
async fn tokens_that_cannot_be_shown_are_refused() {
    for (token, complaint) in [
        (json!({ "access_token": "a b" }), "no header can carry"),
        (json!({ "access_token": "" }), "no header can carry"),
        (json!({ "token_type": "mac" }), "are not known here"),
        (json!({ "token_type": "DPoP" }), "bound to a key, and none was shown"),
        (json!({ "access_token": null }), "missing field"),
    ] {
        let world = World::new(Rules { token, ..Rules::default() });
        let failure = world.await.failure().await;
        assert!(failure.contains(complaint), "{failure}");
        assert!(failure.contains("/token"), "{failure}");
    }
}
