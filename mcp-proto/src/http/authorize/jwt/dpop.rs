//! Proofs that the sender of a token holds the key that it is bound to (DPoP, RFC 9449).

mod used;

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64URL_NOPAD;
use http::{HeaderMap, Uri, request};
use jsonwebtoken::jwk::ThumbprintHash;
use jsonwebtoken::{DecodingKey, Validation};
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::algorithm::SigningAlgorithm;
use super::keys::verifying;
use crate::budget::Bound;
use crate::http::authorize::{Denied, MAX_TOKEN_BYTES};
use used::Used;

/// How old a proof may be.
pub const PROOF_AGE: Duration = Duration::from_secs(60);

/// How far in the future the time of a proof may be, since clocks differ.
pub const PROOF_SKEW: Duration = Duration::from_secs(30);

/// The longest id of a proof (`jti`), in bytes.
pub const MAX_PROOF_ID_BYTES: usize = 256;

/// Accepts tokens that are bound to a key of their client (`cnf.jkt`), with a proof for each request.
///
/// A proof is valid for one request within [`PROOF_AGE`]. It is remembered for a minute and a half, only in this
/// process. Server nonces (§8 of the RFC) are not required.
#[derive(Debug)]
#[must_use]
pub struct Dpop {
    endpoint: Target,
    pub(super) is_required: bool,
    used: Used,
}

/// The target of a proof: scheme, host, port and path, normalized.
#[derive(Debug, PartialEq, Eq)]
struct Target(String);

#[derive(Deserialize)]
struct Claims {
    jti: String,
    htm: String,
    htu: String,
    iat: u64,
    ath: Option<String>,
}

impl Dpop {
    /// Accepts proofs for the endpoint with this URL, such as `https://tools.example/mcp`: the one that clients use, in
    /// front of any proxies. `None` if its scheme is not http or https.
    pub fn new(url: &str) -> Option<Self> {
        Some(Self {
            endpoint: Target::of(url)?,
            is_required: false,
            used: Used::new(Bound::of(128 * 1024)),
        })
    }

    /// Refuses tokens that are not bound to a key.
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// How many proofs are remembered, for all callers and for one: 131,072, which take at most 24 MiB, and half of
    /// them by default. Callers beyond that get 503.
    pub fn with_proofs(mut self, bound: Bound) -> Self {
        self.used.bound = bound;
        self
    }

    /// Checks the proof of a request with a token that is bound to the key of this thumbprint (RFC 9449 §4.3).
    pub(super) fn check(
        &self,
        head: &request::Parts,
        token: &str,
        thumbprint: &str,
        principal: &str,
        algorithms: &[SigningAlgorithm],
    ) -> Result<(), Denied> {
        let wrong = |problem: &str| Denied::Proof(problem.to_owned());
        let proof = only(&head.headers)?;
        let (key, shown, algorithm) = key(proof, algorithms)?;
        let mut wanted = Validation::new(algorithm.in_crate());
        wanted.required_spec_claims.clear();
        (wanted.validate_exp, wanted.validate_aud) = (false, false);
        let claims: Claims = jsonwebtoken::decode(proof, &key, &wanted)
            .map_err(|_| wrong("it needs a good signature and the claims jti, htm, htu and iat"))?
            .claims;
        if claims.htm != head.method.as_str() {
            return Err(wrong("it is for another method (htm)"));
        }
        if Target::of(&claims.htu).as_ref() != Some(&self.endpoint) {
            let Target(endpoint) = &self.endpoint;
            return Err(Denied::Proof(format!("it is for another URL (htu) than {endpoint}")));
        }
        let now = seconds();
        let earliest = now.saturating_sub(PROOF_AGE.as_secs());
        if !(earliest..=now + PROOF_SKEW.as_secs()).contains(&claims.iat) {
            return Err(wrong("it is too old, or from the future (iat)"));
        }
        let hash = BASE64URL_NOPAD.encode(&Sha256::digest(token));
        if claims.ath.as_deref() != Some(&hash) {
            return Err(wrong("it is for another token (ath)"));
        }
        if shown != thumbprint {
            return Err(wrong(
                "it is by another key (jwk) than the one that the token is bound to",
            ));
        }
        if claims.jti.is_empty() || claims.jti.len() > MAX_PROOF_ID_BYTES {
            return Err(wrong("its id (jti) is empty or longer than 256 bytes"));
        }
        self.used.take(&shown, &claims.jti, principal, now)
    }
}

impl Target {
    fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let (scheme, standard) = match uri.scheme_str()? {
            "https" => ("https", 443),
            "http" => ("http", 80),
            _ => return None,
        };
        let authority = uri.authority().filter(|it| !it.as_str().contains('@'))?;
        let host = authority.host().to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(standard);
        let path = uri.path().trim_end_matches('/');
        let port = if port == standard { String::new() } else { format!(":{port}") };
        Some(Self(format!("{scheme}://{host}{port}{path}")))
    }
}

/// The one proof of a request.
fn only(headers: &HeaderMap) -> Result<&str, Denied> {
    let mut given = headers.get_all("dpop").iter();
    let (Some(proof), None) = (given.next(), given.next()) else {
        let problem = "a request with the scheme DPoP needs one header DPoP";
        return Err(Denied::Proof(problem.to_owned()));
    };
    let proof = proof.to_str().ok().filter(|it| it.len() <= MAX_TOKEN_BYTES);
    proof.ok_or_else(|| Denied::Proof("it is not a text of at most 8192 bytes".to_owned()))
}

/// The key in a proof, its thumbprint, and the proof's signing algorithm.
fn key(
    proof: &str,
    algorithms: &[SigningAlgorithm],
) -> Result<(DecodingKey, String, SigningAlgorithm), Denied> {
    let wrong = |problem: &str| Denied::Proof(problem.to_owned());
    let no_jwt = || wrong("it is not a JSON Web Token signed by a key pair");
    let header = jsonwebtoken::decode_header(proof).map_err(|_| no_jwt())?;
    let kind = header.typ.as_deref().unwrap_or_default();
    if !kind.eq_ignore_ascii_case("dpop+jwt") || header.crit.is_some() {
        return Err(wrong("its type (typ) must be dpop+jwt, without extensions (crit)"));
    }
    let algorithm = SigningAlgorithm::of(header.alg).filter(|it| algorithms.contains(it));
    let algorithm = algorithm.ok_or_else(no_jwt)?;
    let jwk = header.jwk.filter(|_| !shows_a_secret(proof));
    let jwk = jwk.ok_or_else(|| wrong("its header needs a public key (jwk)"))?;
    let key = verifying(&jwk).filter(|(fitting, _)| fitting.contains(&algorithm));
    let (_, key) = key.ok_or_else(|| wrong("its key (jwk) is not for its algorithm (alg)"))?;
    let thumbprint = jwk.thumbprint(ThumbprintHash::SHA256);
    Ok((key, thumbprint.map_err(|_| no_jwt())?, algorithm))
}

/// Whether the key in the header of a proof has a private part, or is a shared secret.
fn shows_a_secret(proof: &str) -> bool {
    let header = proof.split('.').next().unwrap_or_default();
    let header = BASE64URL_NOPAD.decode(header.as_bytes()).unwrap_or_default();
    let header: Map<String, Value> = serde_json::from_slice(&header).unwrap_or_default();
    let has = |name: &str| header.get("jwk").is_some_and(|jwk| jwk.get(name).is_some());
    has("d") || has("k")
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}
