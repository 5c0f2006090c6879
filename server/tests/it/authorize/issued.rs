//! Access tokens of an authorization server: which count, over REST and both eras of MCP.

use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::wire::initialize;
use crate::harness::{Era, Server, tick};

const ISSUER: &str = "https://login.example";
const AUDIENCE: &str = "https://universe.example/mcp";

fn part(part: &[u8]) -> String {
    BASE64URL_NOPAD.encode(part)
}

/// An authorization server with one key.
struct Issuer(EcdsaKeyPair);

impl Issuer {
    fn new() -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let key = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(kind, key.as_ref(), &random).unwrap())
    }

    fn keys(&self) -> Value {
        let (x, y) = self.0.public_key().as_ref()[1..].split_at(32);
        json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "x": part(x), "y": part(y)}]})
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let text = format!(
            "{}.{}",
            part(header.to_string().as_bytes()),
            part(claims.to_string().as_bytes())
        );
        let signature = match header["alg"].as_str() {
            Some("none") => Vec::new(),
            // With what everybody knows.
            Some("HS256") => {
                let public = hmac::Key::new(hmac::HMAC_SHA256, self.0.public_key().as_ref());
                hmac::sign(&public, text.as_bytes()).as_ref().to_vec()
            }
            _ => self.0.sign(&SystemRandom::new(), text.as_bytes()).unwrap().as_ref().to_vec(),
        };
        format!("{text}.{}", part(&signature))
    }
}

#[tokio::test]
async fn only_tokens_for_this_server_and_this_time_count() {
    let dir = TempDir::new().unwrap();
    let issuer = Issuer::new();
    let keys = dir.path().join("keys.json");
    std::fs::write(&keys, issuer.keys().to_string()).unwrap();
    let keys = keys.to_str().unwrap();
    let arguments =
        ["--demo", "--oauth-issuer", ISSUER, "--oauth-audience", AUDIENCE, "--oauth-jwks", keys];
    let server = Server::with(&dir.path().join("data"), &arguments).await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let header = json!({"alg": "ES256", "kid": "one"});
    let claims =
        json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "exp": now + 600, "scope": "read"});
    let with = |of: &Value, member: &str, value: Value| {
        let mut changed = of.clone();
        changed[member] = value;
        changed
    };
    let mut spoilt = issuer.token(&header, &claims);
    spoilt.replace_range(spoilt.len() - 4.., "AAAA");
    let rows = [
        ("good", issuer.token(&header, &claims), 200, 403),
        (
            "may write",
            issuer.token(&header, &with(&claims, "scope", json!("universe:sol:write"))),
            200,
            200,
        ),
        ("other scope", issuer.token(&header, &with(&claims, "scope", json!("other"))), 403, 403),
        ("expired", issuer.token(&header, &with(&claims, "exp", json!(now - 600))), 401, 401),
        (
            "other issuer",
            issuer.token(&header, &with(&claims, "iss", json!("https://x.example"))),
            401,
            401,
        ),
        (
            "other audience",
            issuer.token(&header, &with(&claims, "aud", json!("https://x.example/mcp"))),
            401,
            401,
        ),
        ("unknown key", issuer.token(&with(&header, "kid", json!("two")), &claims), 401, 401),
        ("unsigned", issuer.token(&with(&header, "alg", json!("none")), &claims), 401, 401),
        (
            "by the public key",
            issuer.token(&with(&header, "alg", json!("HS256")), &claims),
            401,
            401,
        ),
        ("other signature", spoilt, 401, 401),
    ];
    let command = json!({"universeId": "sol", "command": tick()});
    let call = json!({"name": "send_universe_command", "arguments": command});
    let call = Era::Modern.request(&json!(1), "tools/call", call);
    for (what, token, read, write) in rows {
        let shown = format!("Bearer {token}");
        let rest = [("authorization", shown.as_str())];
        let mut mcp = rest.to_vec();
        mcp.push(("accept", "application/json, text/event-stream"));
        // A session may be opened by all who are known.
        let opened = if read == 403 { 200 } else { read };
        let (client, nothing) = (server.client, Value::Null);
        assert_eq!(client.call("POST", "/mcp", &mcp, &initialize()).await.status, opened, "{what}");
        mcp.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")]);
        mcp.push(("mcp-name", "send_universe_command"));
        assert_eq!(
            client.call("GET", "/universes/sol", &rest, &nothing).await.status,
            read,
            "{what}"
        );
        for sent in [
            client.call("POST", "/universes/sol/commands", &rest, &tick()).await,
            client.call("POST", "/mcp", &mcp, &call).await,
        ] {
            assert_eq!(sent.status, write, "{what} {sent:?}");
            let challenge = sent.header("www-authenticate");
            let told = match write {
                200 => "",
                401 => "error=\"invalid_token\"",
                _ => "scope=\"write\"",
            };
            assert!(challenge.contains(told), "{what} {challenge}");
        }
    }
}
