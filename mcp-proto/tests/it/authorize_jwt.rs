//! Access tokens that are JSON Web Tokens: which are taken, and what is said of those that are not.

use mcp_proto::http::authorize::jwt::{IssuerKeys, SigningAlgorithm};
use mcp_proto::scopes::Guarded;
use mcp_proto::{CallToolResult, Context, Principal, Scopes, Server, Tool, ToolError};
use serde_json::{Map, Value, json};

use crate::authorize_common::{
    AUDIENCE, Signer, both_eras, by_rsa, challenge, claims, guarded, now, over, set, signed,
    tokens, with_token,
};
use crate::common::{Raw, builder, probe, say, server};

/// The claims with some of them replaced, or removed where null is given.
fn but(mut claims: Value, others: &Value) -> Value {
    for (name, value) in others.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn hmac(key: &[u8], header: &Value, claims: &Value) -> String {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key);
    signed(header, claims, |text| ring::hmac::sign(&key, text).as_ref().to_vec())
}

#[tokio::test]
async fn only_what_the_issuer_signed_for_this_server_is_taken() {
    let (signer, stranger) = (Signer::new(), Signer::new());
    let good = claims("ada");
    let (rsa, by_rsa) = by_rsa(&good);
    let secret = json!({ "kty": "oct", "kid": "shared", "k": "c2VjcmV0" });
    let keys = set(&[signer.named("one"), rsa.clone(), secret, json!({ "kty": "new" })]);
    let served = guarded(server(), tokens(IssuerKeys::from_text(&keys).unwrap())).await;
    let es256 = |more: &Value| {
        let header = but(json!({ "alg": "ES256", "kid": "one", "typ": "JWT" }), more);
        signer.sign(&header, &good)
    };
    let with = |others: &Value| signer.token(&but(good.clone(), others));
    let point = data_encoding::BASE64URL_NOPAD
        .decode(signer.jwk()["x"].as_str().unwrap().as_bytes())
        .unwrap();
    let modulus =
        data_encoding::BASE64URL_NOPAD.decode(rsa["n"].as_str().unwrap().as_bytes()).unwrap();
    for token in [
        signer.token(&good),
        by_rsa.clone(),
        es256(&json!({ "typ": null })),
        es256(&json!({ "typ": "application/AT+jwt" })),
        // A key that is said to be elsewhere means nothing.
        es256(&json!({ "jku": "http://127.0.0.1:1/keys", "jwk": stranger.jwk() })),
        with(&json!({ "aud": ["https://other.example", AUDIENCE] })),
        with(&json!({ "exp": now() - 10, "nbf": now() + 10 })),
        with(&json!({ "scope": null, "scp": ["read"] })),
    ] {
        for raw in both_eras() {
            let reply = over(served.address, with_token(raw, &token), "/mcp").await;
            assert_eq!(reply.status, 200, "{:?}", reply.body);
        }
    }
    let mut touched = signer.token(&good).into_bytes();
    let at = touched.len() - 10;
    touched[at] = if touched[at] == b'A' { b'B' } else { b'A' };
    let touched = String::from_utf8(touched).unwrap();
    let none = signed(&json!({ "alg": "none" }), &good, |_| Vec::new());
    for (token, problem) in [
        ("nonsense".to_owned(), "not a JSON Web Token"),
        ("a.b.c".to_owned(), "not a JSON Web Token"),
        (format!("{}.x", signer.token(&good)), "not a JSON Web Token"),
        (touched, "signature"),
        (signer.token(&json!({})), "(iss)"),
        (stranger.token(&good), "signature"),
        (with(&json!({ "exp": now() - 60 })), "expired"),
        (with(&json!({ "nbf": now() + 60 })), "not valid yet"),
        (with(&json!({ "exp": null })), "exp"),
        (with(&json!({ "exp": "soon" })), "exp"),
        (with(&json!({ "sub": null })), "sub"),
        (with(&json!({ "sub": "" })), "subject"),
        (with(&json!({ "sub": "x".repeat(256) })), "subject"),
        (with(&json!({ "iss": "https://evil.example" })), "than https://login.example"),
        (with(&json!({ "iss": ["https://login.example"] })), "issuer"),
        (with(&json!({ "aud": "https://other.example" })), AUDIENCE),
        (with(&json!({ "aud": null })), "aud"),
        (none, "ES256"),
        (hmac(b"secret", &json!({ "alg": "HS256", "kid": "shared" }), &good), "ES256"),
        // The public key, which everybody has, as if it were a shared secret.
        (hmac(&point, &json!({ "alg": "HS256", "kid": "one" }), &good), "ES256"),
        (hmac(&modulus, &json!({ "alg": "HS256", "kid": "rsa" }), &good), "ES256"),
        (signer.sign(&json!({ "alg": "ES256", "kid": "rsa" }), &good), "not for its algorithm"),
        (signer.sign(&json!({ "alg": "RS256", "kid": "one" }), &good), "not for its algorithm"),
        (es256(&json!({ "kid": "two" })), "does not publish"),
        (es256(&json!({ "typ": "dpop+jwt" })), "at+jwt"),
        (es256(&json!({ "crit": ["exp"] })), "crit"),
        (with(&json!({ "cnf": { "x5t#S256": "abc" } })), "bound"),
    ] {
        for raw in both_eras() {
            let reply = over(served.address, with_token(raw, &token), "/mcp").await;
            assert_eq!(reply.refusal(), (401, -32600, None), "{problem}");
            let challenge = challenge(&reply);
            assert!(challenge.starts_with("Bearer error=\"invalid_token\""), "{challenge}");
            assert!(challenge.contains(problem), "{problem}: {challenge}");
            let signature = token.rsplit('.').next().unwrap();
            assert!(signature.len() < 20 || !challenge.contains(signature));
        }
    }
    // What shows no token, or shows it wrongly, or in the query.
    let bare = |value: Option<&'static str>| {
        both_eras().map(|raw| match value {
            Some(value) => raw.set("authorization", value),
            None => raw,
        })
    };
    let token = signer.token(&good);
    for (raws, path, status) in [
        (bare(None), "/mcp".to_owned(), 401),
        (bare(None), format!("/mcp?access_token={token}"), 401),
        (bare(Some("Bearer a b")), "/mcp".to_owned(), 400),
    ] {
        for raw in raws {
            let reply = over(served.address, raw, &path).await;
            assert_eq!(reply.refusal(), (status, -32600, None));
        }
    }
}

#[tokio::test]
async fn the_embedder_says_which_algorithms_are_taken() {
    let signer = Signer::new();
    let keys = IssuerKeys::from_text(&set(&[signer.named("one")])).unwrap();
    let tokens = tokens(keys).with_algorithms(&[SigningAlgorithm::Rs256]);
    let served = guarded(server(), tokens).await;
    let [raw, _] = both_eras();
    let token = signer.token(&claims("ada"));
    let reply = over(served.address, with_token(raw, &token), "/mcp").await;
    assert_eq!(reply.status, 401);
    assert!(challenge(&reply).contains("must be one of RS256"));
}

#[tokio::test]
async fn a_token_without_a_key_id_fits_the_only_key_of_its_algorithm() {
    let (signer, other) = (Signer::new(), Signer::new());
    let keys = IssuerKeys::from_text(&set(&[signer.jwk()])).unwrap();
    let served = guarded(server(), tokens(keys.clone())).await;
    let token = signer.sign(&json!({ "alg": "ES256" }), &claims("ada"));
    let ask = async || {
        let [raw, _] = both_eras();
        over(served.address, with_token(raw, &token), "/mcp").await
    };
    assert_eq!(ask().await.status, 200);
    // The embedder replaces the keys while the server runs.
    keys.replace(&set(&[other.jwk(), signer.jwk()])).unwrap();
    let reply = ask().await;
    assert_eq!(reply.status, 401);
    assert!(challenge(&reply).contains("its issuer has several"));
    for (text, problem) in [
        ("{}".to_owned(), "JWK set"),
        ("nonsense".to_owned(), "JWK set"),
        (set(&[]), "no public key"),
        (set(&[json!({ "kty": "oct", "k": "c2VjcmV0" })]), "no public key"),
        (set(&vec![signer.jwk(); 101]), "more than 100 keys"),
        (" ".repeat(256 * 1024 + 1), "longer than 262144 bytes"),
    ] {
        let refused = keys.replace(&text).unwrap_err().to_string();
        assert!(refused.contains(problem), "{refused}");
    }
    keys.replace(&set(&[signer.jwk()])).unwrap();
    assert_eq!(ask().await.status, 200);
}

#[tokio::test]
async fn subject_and_scopes_of_a_token_are_those_of_the_caller() {
    async fn who(
        _: (),
        _: Map<String, Value>,
        context: Context,
    ) -> Result<CallToolResult, ToolError> {
        let scopes = context.extension::<Scopes>().unwrap();
        let who = context.extension::<Principal>().unwrap();
        Ok(CallToolResult::text(format!("{}: {scopes}", who.0)))
    }
    let tool = Tool::new("who", "Says who calls.").with_input_schema(json!({ "type": "object" }));
    let server = Server::builder("bench", "1.0.0", ()).raw_tool(tool, who).build().unwrap();
    let signer = Signer::new();
    let keys = IssuerKeys::from_text(&set(&[signer.named("one")])).unwrap();
    let served = guarded(server, tokens(keys)).await;
    for (others, scopes) in [
        (json!({}), "read write"),
        (json!({ "scope": null }), ""),
        (json!({ "scope": null, "scp": "b a" }), "a b"),
        (json!({ "scope": "a", "scp": ["b"] }), "a b"),
        // wundergraph/cosmo#3251, DuendeArchive/IdentityServer4#5396
        (json!({ "scope": ["b", "a"] }), "a b"),
    ] {
        let call = Raw::modern("tools/call", json!({ "name": "who", "arguments": {} }));
        let token = signer.token(&but(claims("ada"), &others));
        let reply = over(served.address, with_token(call, &token), "/mcp").await;
        let told = reply.result()["content"][0]["text"].clone();
        assert_eq!(told, format!("https://login.example ada: {scopes}"));
    }
}

#[tokio::test]
async fn scopes_that_are_missing_are_all_named() {
    let (probe, _events) = probe();
    let server = builder(&probe)
        .require_scopes(Guarded::Tool("echo".to_owned()), Scopes::of(["admin", "write"]))
        .require_scopes(Guarded::Method("tools/call".to_owned()), Scopes::of(["call"]))
        .build()
        .unwrap();
    let signer = Signer::new();
    let keys = IssuerKeys::from_text(&set(&[signer.named("one")])).unwrap();
    let served = guarded(server, tokens(keys)).await;
    let token = signer.token(&claims("ada"));
    let open = with_token(Raw::initialize("2025-11-25"), &token);
    let opened = over(served.address, open, "/mcp").await;
    let session = opened.header("mcp-session-id").unwrap();
    for raw in [Raw::modern("tools/call", say("x")), Raw::legacy(session, "tools/call", &say("x"))]
    {
        let reply = over(served.address, with_token(raw, &token), "/mcp").await;
        assert_eq!(reply.refusal(), (403, -32600, Some(json!(7))));
        let challenge = challenge(&reply);
        assert!(challenge.starts_with("Bearer error=\"insufficient_scope\""));
        assert!(challenge.contains("scope=\"admin call write\""), "{challenge}");
    }
}
