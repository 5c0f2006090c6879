//! Tokens without a person, and tokens that are bound to a key.

use std::sync::Arc;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use mcp_proto_client::ClientError;
use mcp_proto_client::authorize::{
    FixedAssertion, Grant, IdentityProvider, OAuth, RegisteredClient, SigningKey,
};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _,
    UnparsedPublicKey,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::oauth_common::{Reply, Rules, Seen, Site, World, claims};

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

#[tokio::test]
async fn a_client_may_be_its_own_caller() {
    let world = World::new(Rules {
        challenge: r#"Bearer scope="read""#.to_owned(),
        server: json!({ "code_challenge_methods_supported": null }),
        ..Rules::default()
    });
    let world = world.await;
    let of =
        |client| OAuth::new(&world.url(), Grant::ClientCredentials).unwrap().with_client(client);
    let secret = RegisteredClient::new("the client").with_secret("s:ecret");
    world.client(of(secret)).await.list_tools().await.unwrap();
    let grant = &world.grants()[0];
    assert_eq!(grant.basic().as_deref(), Some("the+client:s%3Aecret"), "RFC 6749 §2.3.1");
    assert_eq!(grant.form["grant_type"], "client_credentials");
    assert_eq!((grant.form["scope"].as_str(), &grant.form["resource"]), ("read", &world.url()));
    // By a signature, for this issuer alone.
    let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
    let text = BASE64.encode(pkcs8.as_ref());
    let (one, two) = text.split_at(64);
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{one}\n{two}\n-----END PRIVATE KEY-----\n");
    let client = RegisteredClient::new("signer").with_key(SigningKey::from_pem(&pem).unwrap());
    world.client(of(client)).await.list_tools().await.unwrap();
    let form = &world.grants()[1].form;
    assert_eq!(
        form["client_assertion_type"],
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
    let (text, signature) = form["client_assertion"].rsplit_once('.').unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8.as_ref(), &random).unwrap();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
    let signature = BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap();
    key.verify(text.as_bytes(), &signature).unwrap();
    let claims = claims(&form["client_assertion"]);
    assert_eq!((claims["iss"].as_str(), claims["sub"].as_str()), (Some("signer"), Some("signer")));
    assert_eq!(claims["aud"], world.issuer());
    assert!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap() <= 60);
    // A client is needed.
    let nobody = OAuth::new(&world.url(), Grant::ClientCredentials).unwrap();
    let failed = world.client(nobody).await.list_tools().await.unwrap_err().to_string();
    assert!(failed.contains("use OAuth::with_client"), "{failed}");
    for broken in ["", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----"] {
        assert!(SigningKey::from_pem(broken).is_err());
    }
}

#[tokio::test]
async fn a_workload_is_vouched_for_and_asks_once() {
    let world = World::new(Rules::default()).await;
    let of = || {
        let jwt = Arc::new(FixedAssertion::new("vouched"));
        let oauth = OAuth::new(&world.url(), Grant::Workload(jwt)).unwrap();
        oauth.with_client(RegisteredClient::new("workload"))
    };
    world.client(of()).await.list_tools().await.unwrap();
    let form = &world.grants()[0].form;
    assert_eq!((form["grant_type"].as_str(), form["assertion"].as_str()), (JWT_BEARER, "vouched"));
    assert_eq!((form["client_id"].as_str(), &form["resource"]), ("workload", &world.url()));
    world.rules().refuse = |_, _| Some(Reply::json(400, &json!({ "error": "invalid_grant" })));
    let failed = world.client(of()).await.list_tools().await;
    assert!(
        matches!(&failed, Err(ClientError::Unauthorized(it)) if it.contains("invalid_grant")),
        "{failed:?}"
    );
    assert_eq!(world.grants().len(), 2);
}

#[tokio::test]
async fn an_organization_decides_who_of_its_people_may_use_a_server() {
    let world = World::new(Rules::default()).await;
    let answer = |kind: &'static str| {
        move |url: &str, seen: &Seen| match seen.path.as_str() {
            "/.well-known/openid-configuration" => Reply::json(
                200,
                &json!({ "issuer": url, "token_endpoint": format!("{url}/exchange") }),
            ),
            "/exchange" => Reply::json(
                200,
                &json!({ "access_token": "granted", "token_type": "N_A", "issued_token_type": kind }),
            ),
            _ => Reply::nothing(),
        }
    };
    let idp = Site::start(answer("urn:ietf:params:oauth:token-type:id-jag")).await;
    let of = |idp: &Site| {
        let id_token = Arc::new(FixedAssertion::new("of ada"));
        let provider = IdentityProvider::new(&idp.url, RegisteredClient::new("at idp"), id_token);
        let oauth = OAuth::new(&world.url(), Grant::Enterprise(provider)).unwrap();
        oauth.with_client(RegisteredClient::new("at login").with_secret("hush"))
    };
    world.client(of(&idp)).await.list_tools().await.unwrap();
    let exchange = &idp.at("/exchange")[0].form;
    for (name, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("subject_token", "of ada"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("audience", &world.issuer()),
        ("resource", &world.url()),
        ("client_id", "at idp"),
    ] {
        assert_eq!(exchange[name], value, "{name}");
    }
    let grant = &world.grants()[0];
    assert_eq!(
        (grant.form["grant_type"].as_str(), grant.form["assertion"].as_str()),
        (JWT_BEARER, "granted")
    );
    assert_eq!(grant.basic().as_deref(), Some("at+login:hush"));
    // What is no grant is not passed on.
    let other = Site::start(answer("urn:ietf:params:oauth:token-type:access_token")).await;
    let failed = world.client(of(&other)).await.list_tools().await.unwrap_err().to_string();
    assert!(failed.contains("issued_token_type"), "{failed}");
    assert_eq!(world.grants().len(), 1);
}

/// A proof that is signed by the key it shows, for this request.
fn proof(seen: &Seen, url: &str, token: Option<&str>) -> Value {
    let shown = seen.header("dpop").unwrap();
    let (text, signature) = shown.rsplit_once('.').unwrap();
    let read = |part: &str| BASE64URL_NOPAD.decode(part.as_bytes()).unwrap();
    let header: Value = serde_json::from_slice(&read(text.split('.').next().unwrap())).unwrap();
    assert_eq!((header["typ"].as_str(), header["alg"].as_str()), (Some("dpop+jwt"), Some("ES256")));
    let jwk = &header["jwk"];
    assert_eq!(jwk.as_object().unwrap().len(), 4, "{jwk}");
    let mut point = vec![4];
    point.extend(read(jwk["x"].as_str().unwrap()));
    point.extend(read(jwk["y"].as_str().unwrap()));
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(text.as_bytes(), &read(signature)).unwrap();
    let claims = claims(shown);
    assert_eq!((claims["htm"].as_str(), claims["htu"].as_str()), (Some("POST"), Some(url)));
    let hash = token.map(|it| BASE64URL_NOPAD.encode(&Sha256::digest(it)));
    assert_eq!(claims.get("ath").and_then(Value::as_str), hash.as_deref());
    claims
}

#[tokio::test]
async fn tokens_are_bound_to_a_key_where_both_servers_can() {
    let takes = json!({ "dpop_signing_alg_values_supported": ["ES256"] });
    let world = World::new(Rules {
        challenge: r#"DPoP algs="ES256""#.to_owned(),
        server: takes.clone(),
        ..Rules::default()
    });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    client.list_tools().await.unwrap();
    client.call_tool_raw("one", json!({})).await.unwrap();
    proof(&world.grants()[0], &format!("{}/token", world.login.url), None);
    let seen = world.mcp.at("/mcp");
    assert_eq!(seen[1].header("authorization"), Some("DPoP t1"));
    let (first, second) =
        (proof(&seen[1], &world.url(), Some("t1")), proof(&seen[2], &world.url(), Some("t1")));
    assert_ne!(first["jti"], second["jti"]);
    // One of them cannot.
    for (challenge, server) in [("Bearer", takes), (r#"Bearer, DPoP algs="ES256""#, json!({}))] {
        let world =
            World::new(Rules { challenge: challenge.to_owned(), server, ..Rules::default() });
        let world = world.await;
        world.client(world.oauth()).await.list_tools().await.unwrap();
        assert_eq!(world.shown()[1].as_deref(), Some("Bearer t1"));
        assert!(world.grants()[0].header("dpop").is_none());
    }
}

#[tokio::test]
async fn the_nonces_of_both_servers_are_used() {
    let world = World::new(Rules {
        challenge: "DPoP".to_owned(),
        server: json!({ "dpop_signing_alg_values_supported": ["ES256"] }),
        nonce: Some("of mcp"),
        refuse: |_, seen| {
            let proof = claims(seen.header("dpop").unwrap());
            let refusal = Reply::json(400, &json!({ "error": "use_dpop_nonce" }));
            (proof["nonce"] != "of login").then(|| refusal.with("dpop-nonce", "of login"))
        },
        ..Rules::default()
    });
    let world = world.await;
    let client = world.client(world.oauth()).await;
    client.list_tools().await.unwrap();
    client.list_tools().await.unwrap();
    assert_eq!((world.asked().len(), world.grants().len()), (1, 2));
    // The nonce is kept for the next request.
    assert_eq!(world.mcp.at("/mcp").len(), 4);
    // A server that always asks is not asked for ever.
    world.rules().refuse = |_, _| {
        let refusal = Reply::json(400, &json!({ "error": "use_dpop_nonce" }));
        Some(refusal.with("dpop-nonce", "another"))
    };
    let before = world.grants().len();
    let failure = world.failure().await;
    assert!(failure.contains("use_dpop_nonce"), "{failure}");
    assert_eq!(world.grants().len() - before, 2);
}

#[tokio::test]
async fn a_token_that_must_be_bound_is_not_taken_unbound() {
    let takes = json!({ "dpop_signing_alg_values_supported": ["ES256"] });
    let world = World::new(Rules {
        server: takes,
        token: json!({ "token_type": "Bearer" }),
        ..Rules::default()
    });
    let world = world.await;
    let failed = world.client(world.oauth().with_proofs_required()).await.list_tools().await;
    assert!(failed.unwrap_err().to_string().contains("not bound to a key"));
    world.rules().resource = json!({ "dpop_bound_access_tokens_required": true });
    assert!(world.failure().await.contains("not bound to a key"));
    world.rules().server = json!({});
    assert!(world.failure().await.contains("dpop_signing_alg_values_supported"));
    assert!(world.shown().iter().all(Option::is_none));
}
