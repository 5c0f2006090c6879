//! An issuer of access tokens to test with, and requests over a socket.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD as BASE64;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use mcp_proto::http::authorize::jwt::{FetchKeys, IssuerKeys, JwtTokens};
use mcp_proto::http::authorize::{Authorization, Authorizer, ProtectedResource};
use mcp_proto::http::{HttpConfig, ServeConfig};
use mcp_proto::{Scopes, Server};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents,
};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::common::{PATIENCE, Raw, Reply, Served};

pub(crate) const AUDIENCE: &str = "https://tools.example/mcp";
pub(crate) const ISSUER: &str = "https://login.example";

/// A key pair of P-256.
pub(crate) struct Signer(EcdsaKeyPair);

impl Signer {
    pub(crate) fn new() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap())
    }

    /// Its public key.
    pub(crate) fn jwk(&self) -> Value {
        let point = self.0.public_key().as_ref();
        let (x, y) = point[1..].split_at(32);
        json!({ "kty": "EC", "crv": "P-256", "x": BASE64.encode(x), "y": BASE64.encode(y) })
    }

    /// Its public key under a name, for a set.
    pub(crate) fn named(&self, id: &str) -> Value {
        let mut jwk = self.jwk();
        jwk["kid"] = json!(id);
        jwk
    }

    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        signed(header, claims, |text| {
            let signature = self.0.sign(&SystemRandom::new(), text).unwrap();
            signature.as_ref().to_vec()
        })
    }

    /// A token of the key `one`.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.sign(&json!({ "alg": "ES256", "kid": "one", "typ": "at+jwt" }), claims)
    }
}

/// The RSA key `rsa` for a set, and a token of it.
pub(crate) fn by_rsa(claims: &Value) -> (Value, String) {
    let key = RsaKeyPair::from_der(include_bytes!("authorize/rsa.der")).unwrap();
    let public = RsaPublicKeyComponents::<Vec<u8>>::from(key.public());
    let jwk = json!({
        "kty": "RSA", "kid": "rsa", "use": "sig", "alg": "RS256",
        "n": BASE64.encode(&public.n), "e": BASE64.encode(&public.e),
    });
    let header = json!({ "alg": "RS256", "kid": "rsa" });
    let token = signed(&header, claims, |text| {
        let mut signature = vec![0; key.public().modulus_len()];
        let random = SystemRandom::new();
        key.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).unwrap();
        signature
    });
    (jwk, token)
}

/// The compact form of what `sign` signs.
pub(crate) fn signed(
    header: &Value,
    claims: &Value,
    sign: impl FnOnce(&[u8]) -> Vec<u8>,
) -> String {
    let part = |part: &Value| BASE64.encode(part.to_string().as_bytes());
    let text = format!("{}.{}", part(header), part(claims));
    let signature = BASE64.encode(&sign(text.as_bytes()));
    format!("{text}.{signature}")
}

pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap().as_secs()
}

/// Good claims of somebody.
pub(crate) fn claims(subject: &str) -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": subject, "exp": now() + 600, "iat": now(),
        "scope": "read write", "client_id": "app", "jti": "1",
    })
}

pub(crate) fn set(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

/// A server that takes the tokens of the issuer.
pub(crate) async fn guarded(server: Server, tokens: impl Authorizer + 'static) -> Served {
    let resource = ProtectedResource::new(AUDIENCE, vec![ISSUER.to_owned()]).unwrap();
    let resource = resource.with_scopes(&Scopes::of(["read", "write"]));
    let mut config = HttpConfig::default();
    config.authorization = Some(Authorization::new(tokens).with_resource(resource));
    Served::with(server, config, ServeConfig::default()).await
}

pub(crate) fn tokens(keys: IssuerKeys) -> JwtTokens {
    JwtTokens::new(AUDIENCE).with_issuer(ISSUER, keys)
}

/// Sends a request over a socket and reads the whole answer.
pub(crate) async fn over(address: SocketAddr, raw: Raw, path: &str) -> Reply {
    let exchange = async {
        let (head, body) = sent(address, raw, path).await.into_parts();
        Reply {
            status: head.status,
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes(),
        }
    };
    tokio::time::timeout(PATIENCE, exchange).await.expect("no answer")
}

/// Sends a request over a socket and reads the head of the answer.
pub(crate) async fn status_over(address: SocketAddr, raw: Raw) -> u16 {
    let sent = tokio::time::timeout(PATIENCE, sent(address, raw, "/mcp")).await;
    sent.expect("no answer").status().as_u16()
}

async fn sent(address: SocketAddr, raw: Raw, path: &str) -> http::Response<Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = raw.request();
    *request.uri_mut() = path.parse().unwrap();
    sender.send_request(request).await.unwrap()
}

/// The first request of each era.
pub(crate) fn both_eras() -> [Raw; 2] {
    [Raw::modern("tools/list", json!({})), Raw::initialize("2025-11-25")]
}

pub(crate) fn with_token(raw: Raw, token: &str) -> Raw {
    raw.set("authorization", &format!("Bearer {token}"))
}

pub(crate) fn challenge(reply: &Reply) -> &str {
    reply.header("www-authenticate").unwrap_or_default()
}

/// An endpoint of keys whose answers the test sets, and which counts what it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) fetches: Arc<AtomicUsize>,
    answer: watch::Sender<Option<Result<String, String>>>,
}

impl Endpoint {
    /// One that does not answer before it is set.
    pub(crate) fn new() -> Self {
        Self { fetches: Arc::default(), answer: watch::Sender::new(None) }
    }

    pub(crate) fn set(&self, answer: Result<String, &str>) {
        self.answer.send_replace(Some(answer.map_err(str::to_owned)));
    }

    pub(crate) fn count(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}

impl FetchKeys for Endpoint {
    fn fetch(&self) -> BoxFuture<'_, Result<String, String>> {
        self.fetches.fetch_add(1, Ordering::SeqCst);
        let mut answers = self.answer.subscribe();
        Box::pin(async move {
            let answer = answers.wait_for(Option::is_some).await.unwrap();
            answer.clone().unwrap()
        })
    }
}
