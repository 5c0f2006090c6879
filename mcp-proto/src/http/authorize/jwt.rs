//! Access tokens as JSON Web Tokens (RFC 7519, RFC 9068): their issuer signed them, and this server verifies them
//! without asking the issuer.
//!
//! Tokens are read by `jsonwebtoken` and verified by `ring`: that crate's own backends cost 33 crates, or a C library
//! that needs CMake. The provider is set once for a process, and one that was installed before stays.

mod algorithm;
mod dpop;
#[cfg(feature = "jwks")]
mod https;
mod issuer;
mod keys;

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::request;
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::{Header, Validation, dangerous};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Authorizer, Caller, Denied, Proofs, Scheme, credentials};
use crate::context::Principal;
use crate::scopes::Scopes;

pub use algorithm::SigningAlgorithm;
pub use dpop::{Dpop, MAX_PROOF_ID_BYTES, PROOF_AGE, PROOF_SKEW};
#[cfg(feature = "jwks")]
pub use https::{HttpsKeys, InvalidKeysUrl};
pub use issuer::{FetchKeys, IssuerKeys, KEYS_FRESH, KEYS_INTERVAL, KEYS_KEPT, KEYS_TIMEOUT};
pub use keys::{InvalidKeys, MAX_KEY_SET_BYTES, MAX_KEYS};

/// The longest subject of a token, in bytes (OpenID Connect Core §2).
pub const MAX_SUBJECT_BYTES: usize = 255;

const UNCHECKED: &str = "it is bound to a key in a way (cnf) that this server cannot check";

/// Accepts access tokens that are JWTs, signed by a key of one of its issuers, for this server, within their validity
/// period.
///
/// A token needs the claims `iss`, `aud`, `exp` and `sub`; `nbf` is checked if present. Its scopes are those of `scope`
/// and `scp`. Its caller is the principal `ISSUER SUBJECT`. Headers that name keys elsewhere (`jku`, `x5u`, `jwk`) are
/// ignored, and a token with `crit` is refused.
///
/// The first one of a process makes `jsonwebtoken` verify by `ring`, unless a provider was installed before.
#[derive(Debug)]
#[must_use]
pub struct JwtTokens {
    audience: String,
    issuers: BTreeMap<String, IssuerKeys>,
    algorithms: Vec<SigningAlgorithm>,
    leeway: Duration,
    dpop: Option<Dpop>,
}

/// The claims that are read before a token is verified.
#[derive(Deserialize)]
struct Unverified {
    iss: String,
}

#[derive(Deserialize)]
struct Claims {
    #[serde(default)]
    sub: String,
    scope: Option<OneOrMany>,
    scp: Option<OneOrMany>,
    cnf: Option<Map<String, Value>>,
}

/// One text with several scopes (`scope`, RFC 8693 §4.2), or a list, which some servers write, also as `scp`.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl JwtTokens {
    /// Accepts tokens for this audience, which is the server's resource identifier:
    /// [`ProtectedResource::resource`](super::ProtectedResource::resource). Without an [issuer](Self::with_issuer) it
    /// accepts no token.
    pub fn new(audience: impl Into<String>) -> Self {
        algorithm::install();
        Self {
            audience: audience.into(),
            issuers: BTreeMap::new(),
            algorithms: SigningAlgorithm::ALL.to_vec(),
            leeway: Duration::from_secs(30),
            dpop: None,
        }
    }

    /// Also accepts tokens of this issuer, whose name must equal the claim `iss`. An issuer name has no spaces; for one
    /// with spaces, no token is accepted.
    pub fn with_issuer(mut self, name: impl Into<String>, keys: IssuerKeys) -> Self {
        self.issuers.insert(name.into(), keys);
        self
    }

    /// Accepts only tokens that are signed with these algorithms. [`SigningAlgorithm::ALL`] by default.
    pub fn with_algorithms(mut self, algorithms: &[SigningAlgorithm]) -> Self {
        self.algorithms = algorithms.to_vec();
        self
    }

    /// The allowed difference between the clocks of an issuer and of this machine. 30 s by default.
    pub fn with_leeway(mut self, leeway: Duration) -> Self {
        self.leeway = leeway;
        self
    }

    /// Accepts tokens that are bound to a key of their client, with a proof (RFC 9449). Without it they are refused.
    pub fn with_dpop(mut self, dpop: Dpop) -> Self {
        self.dpop = Some(dpop);
        self
    }

    async fn judge(&self, head: &request::Parts) -> Result<Caller, Denied> {
        let (scheme, token) = credentials(&head.headers)?;
        if scheme == Scheme::Dpop && self.dpop.is_none() {
            return Err(Denied::Missing);
        }
        let invalid = |problem: &str| Denied::Invalid(problem.to_owned());
        let header = self.header(token)?;
        let algorithm = SigningAlgorithm::of(header.alg)
            .filter(|it| self.algorithms.contains(it))
            .ok_or_else(|| self.other_algorithm())?;
        let Unverified { iss } = dangerous::insecure_decode_claims(token)
            .map_err(|_| invalid("it names no issuer (iss)"))?;
        // A space ends the issuer in the name of a principal.
        let keys = self.issuers.get(&iss).filter(|_| !iss.contains(' '));
        let keys = keys.ok_or_else(|| {
            let known: Vec<_> = self.issuers.keys().map(String::as_str).collect();
            invalid(&format!("it is of another issuer (iss) than {}", known.join(" or ")))
        })?;
        let key = keys.find(header.kid.as_deref(), algorithm).await?;
        let mut wanted = Validation::new(algorithm.in_crate());
        wanted.set_required_spec_claims(&["iss", "aud", "exp", "sub"]);
        wanted.set_issuer(&[&iss]);
        wanted.set_audience(&[&self.audience]);
        wanted.validate_nbf = true;
        wanted.leeway = self.leeway.as_secs();
        let claims: Claims = jsonwebtoken::decode(token, &key, &wanted)
            .map_err(|problem| self.explain(&problem))?
            .claims;
        if claims.sub.is_empty() || claims.sub.len() > MAX_SUBJECT_BYTES {
            return Err(invalid("its subject (sub) is missing, empty or longer than 255 bytes"));
        }
        let principal = format!("{iss} {}", claims.sub);
        match (self.thumbprint(claims.cnf.as_ref(), scheme)?, &self.dpop) {
            (Some(key), Some(dpop)) => {
                dpop.check(head, token, key, &principal, &self.algorithms)?;
            }
            (Some(_), None) => return Err(invalid(UNCHECKED)),
            (None, _) => {}
        }
        Ok(Caller { principal: Principal(principal), scopes: claims.scopes() })
    }

    /// The thumbprint of the key that a token is bound to, if that and the scheme agree.
    fn thumbprint<'c>(
        &self,
        bound: Option<&'c Map<String, Value>>,
        scheme: Scheme,
    ) -> Result<Option<&'c str>, Denied> {
        let key = bound.map(|bound| match bound.get("jkt") {
            Some(Value::String(key)) if bound.len() == 1 => Some(key.as_str()),
            _ => None,
        });
        let is_required = self.dpop.as_ref().is_some_and(|it| it.is_required);
        let problem = match (key, scheme) {
            (Some(Some(key)), Scheme::Dpop) => return Ok(Some(key)),
            (None, Scheme::Bearer) if !is_required => return Ok(None),
            (Some(Some(_)), Scheme::Bearer) if self.dpop.is_some() => {
                "it is bound to a key: send it as Authorization: DPoP TOKEN, with a proof in the header DPoP"
            }
            (Some(_), _) => UNCHECKED,
            (None, _) if is_required => "it must be bound to a key of its client (DPoP)",
            (None, _) => "it is not bound to a key: send it as Authorization: Bearer TOKEN",
        };
        Err(Denied::Invalid(problem.to_owned()))
    }

    /// The header of a token that may be an access token.
    fn header(&self, token: &str) -> Result<Header, Denied> {
        let header =
            jsonwebtoken::decode_header(token).map_err(|problem| match problem.kind() {
                // If the header is JSON, the cause is nearly always its algorithm, such as `none`.
                ErrorKind::Json(problem) if problem.is_data() => self.other_algorithm(),
                _ => Denied::Invalid("it is not a JSON Web Token".to_owned()),
            })?;
        let kind = header.typ.as_deref().unwrap_or("JWT").to_ascii_lowercase();
        let kind = kind.strip_prefix("application/").unwrap_or(&kind);
        let problem = match (kind, &header.crit) {
            (_, Some(_)) => {
                "its header requires extensions (crit) that this server does not support"
            }
            ("at+jwt" | "jwt", None) => return Ok(header),
            _ => "it is not an access token: its type (typ) must be at+jwt or JWT",
        };
        Err(Denied::Invalid(problem.to_owned()))
    }

    fn other_algorithm(&self) -> Denied {
        let names = algorithm::names(&self.algorithms);
        Denied::Invalid(format!("its algorithm (alg) must be one of {names}"))
    }

    fn explain(&self, problem: &Error) -> Denied {
        Denied::Invalid(match problem.kind() {
            ErrorKind::ExpiredSignature => "it has expired".to_owned(),
            ErrorKind::ImmatureSignature => {
                "it is not valid yet (nbf) by the clock of this server".to_owned()
            }
            ErrorKind::InvalidAudience => {
                format!("it is for another audience (aud) than {}", self.audience)
            }
            ErrorKind::InvalidSignature => "its signature is wrong".to_owned(),
            ErrorKind::MissingRequiredClaim(name) => {
                format!("its claim {name} is missing or not valid")
            }
            ErrorKind::InvalidClaimFormat(name) => format!("its claim {name} is not a time"),
            _ => "its claims cannot be read".to_owned(),
        })
    }
}

impl Authorizer for JwtTokens {
    fn authorize<'a>(&'a self, head: &'a request::Parts) -> BoxFuture<'a, Result<Caller, Denied>> {
        Box::pin(self.judge(head))
    }

    fn proofs(&self) -> Option<Proofs> {
        self.dpop.as_ref().map(|dpop| Proofs {
            algorithms: algorithm::names(&self.algorithms),
            is_required: dpop.is_required,
        })
    }
}

impl Claims {
    fn scopes(&self) -> Scopes {
        let texts = [&self.scope, &self.scp].into_iter().flatten().flat_map(|it| match it {
            OneOrMany::One(text) => std::slice::from_ref(text),
            OneOrMany::Many(texts) => texts,
        });
        Scopes::of(texts.flat_map(|text| text.split_ascii_whitespace()))
    }
}
