//! The client's keys, and the assertions (RFC 7523) and proofs (RFC 9449) that it signs with them, by ES256.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use data_encoding::{BASE64, BASE64URL_NOPAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::error::{OAuthError, Result};

/// How long an assertion of the client is good for, in seconds.
const ASSERTION_SECONDS: u64 = 60;

/// A private key of the curve P-256, for signatures by ES256. Clones share it.
#[derive(Clone)]
pub struct SigningKey(Arc<Inner>);

struct Inner {
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
}

impl SigningKey {
    /// A new key.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn generate() -> Result<Self> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new());
        let pkcs8 = pkcs8.map_err(|_| setup("the system gives no random numbers"))?;
        Self::from_pkcs8(pkcs8.as_ref())
    }

    /// The key of a PEM text that begins with `-----BEGIN PRIVATE KEY-----` (PKCS #8).
    ///
    /// # Errors
    /// [`OAuthError::Setup`] for anything else, another curve included.
    pub fn from_pem(text: &str) -> Result<Self> {
        let wrong =
            || setup("the key must be a PEM text that begins with -----BEGIN PRIVATE KEY-----");
        let (_, rest) = text.split_once("-----BEGIN PRIVATE KEY-----").ok_or_else(wrong)?;
        let (body, _) = rest.split_once("-----END PRIVATE KEY-----").ok_or_else(wrong)?;
        let body: String = body.split_ascii_whitespace().collect();
        let pkcs8 = BASE64.decode(body.as_bytes()).map_err(|_| wrong())?;
        Self::from_pkcs8(&pkcs8)
    }

    /// The key in the form of PKCS #8.
    pub(super) fn from_pkcs8(pkcs8: &[u8]) -> Result<Self> {
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, pkcs8, &SystemRandom::new());
        let pair = pair.map_err(|_| setup("the key must be one of the curve P-256, for ES256"))?;
        Ok(Self(Arc::new(Inner { pair, pkcs8: pkcs8.to_vec() })))
    }

    pub(super) fn pkcs8(&self) -> &[u8] {
        &self.0.pkcs8
    }

    /// An assertion that authenticates the client `id` at the token endpoint of `issuer` (RFC 7523 §3).
    pub(super) fn client_assertion(&self, id: &str, issuer: &str) -> Result<String> {
        let now = seconds();
        let claims = json!({
            "iss": id, "sub": id, "aud": issuer, "jti": Uuid::new_v4(),
            "iat": now, "exp": now + ASSERTION_SECONDS,
        });
        self.sign(&json!({ "alg": "ES256", "typ": "JWT" }), &claims)
    }

    /// A proof for one request (RFC 9449 §4.2), with a token, or for one.
    pub(super) fn proof(
        &self,
        method: &str,
        url: &str,
        nonce: Option<&str>,
        token: Option<&str>,
    ) -> Result<String> {
        let url = url.split(['?', '#']).next().unwrap_or_default();
        let mut claims =
            json!({ "jti": Uuid::new_v4(), "htm": method, "htu": url, "iat": seconds() });
        if let Some(members) = claims.as_object_mut() {
            members.extend(nonce.map(|it| ("nonce".to_owned(), json!(it))));
            let hash = token.map(|it| BASE64URL_NOPAD.encode(&Sha256::digest(it)));
            members.extend(hash.map(|it| ("ath".to_owned(), json!(it))));
        }
        // The public key is one byte and two coordinates of 32 bytes (SEC 1 §2.3.3).
        let public = self.0.pair.public_key().as_ref();
        let coordinates = public.split_first().and_then(|(_, rest)| rest.split_at_checked(32));
        let (x, y) = coordinates.unwrap_or_default();
        let (x, y) = (BASE64URL_NOPAD.encode(x), BASE64URL_NOPAD.encode(y));
        let jwk = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": y });
        self.sign(&json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": jwk }), &claims)
    }

    fn sign(&self, header: &Value, claims: &Value) -> Result<String> {
        let part = |value: &Value| BASE64URL_NOPAD.encode(value.to_string().as_bytes());
        let text = format!("{}.{}", part(header), part(claims));
        let signature = self.0.pair.sign(&SystemRandom::new(), text.as_bytes());
        let signature = signature.map_err(|_| setup("the system gives no random numbers"))?;
        Ok(format!("{text}.{}", BASE64URL_NOPAD.encode(signature.as_ref())))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SigningKey(…)")
    }
}

/// Seconds since 1970.
pub(super) fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

fn setup(problem: &str) -> OAuthError {
    OAuthError::Setup(problem.to_owned())
}
