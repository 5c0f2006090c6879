//! The challenge for a refused request: it describes how a client can get a suitable token.

use std::fmt::Write as _;

use http::StatusCode;
use http::header::HeaderValue;

use super::Proofs;
use crate::scopes::Scopes;

/// Why a request is not authorized. The texts are for people and never contain parts of the token.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Denied {
    /// It has no token: 401.
    Missing,
    /// It does not present its token as RFC 6750 requires: 400 `invalid_request`.
    Malformed(String),
    /// The token is unknown, expired, or not for this server: 401 `invalid_token`.
    Invalid(String),
    /// The proof that goes with the token is missing or wrong (DPoP): 401 `invalid_dpop_proof`.
    Proof(String),
    /// The token is valid, but these scopes are missing: 403 `insufficient_scope`.
    Insufficient(Scopes),
    /// The decision cannot be made now: 503.
    Unavailable(String),
}

/// A refusal, and the additional parameters of its challenge. [`Authorization`](super::Authorization) makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) denied: Denied,
    /// The URL of the resource's metadata.
    pub(crate) metadata: Option<String>,
    /// The proofs that would be accepted.
    pub(crate) proofs: Option<Proofs>,
    /// The scopes to request from an authorization server.
    pub(crate) scopes: Scopes,
}

impl Refusal {
    /// The status of the response: 400, 401, 403 or 503.
    pub fn status(&self) -> StatusCode {
        self.denied.status()
    }

    /// What is wrong and what would be right, for people.
    pub fn text(&self) -> String {
        self.denied.text()
    }

    /// The value of `WWW-Authenticate`, with a challenge for each accepted scheme; `None` if another token would not
    /// help.
    pub fn challenge(&self) -> Option<HeaderValue> {
        let proofs = self.proofs.as_ref();
        if let Denied::Unavailable(_) = self.denied {
            return None;
        }
        let is_proof = matches!(self.denied, Denied::Proof(_));
        let needs_proof = proofs.is_some_and(|it| it.is_required || is_proof);
        let bearer = (!needs_proof).then(|| of_scheme("Bearer", self, None));
        let dpop = proofs.map(|proofs| of_scheme("DPoP", self, Some(&proofs.algorithms)));
        let challenges: Vec<_> = bearer.into_iter().chain(dpop).collect();
        HeaderValue::from_str(&challenges.join(", ")).ok()
    }
}

impl Denied {
    /// The status of the refusal.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Missing | Self::Invalid(_) | Self::Proof(_) => StatusCode::UNAUTHORIZED,
            Self::Malformed(_) => StatusCode::BAD_REQUEST,
            Self::Insufficient(_) => StatusCode::FORBIDDEN,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// What is wrong and what would be right, for people.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Missing => {
                "Authentication required: send the header Authorization: Bearer TOKEN with a token of this server"
                    .to_owned()
            }
            Self::Malformed(problem) | Self::Unavailable(problem) => problem.clone(),
            Self::Invalid(problem) => format!("the token is not accepted: {problem}"),
            Self::Proof(problem) => format!("the DPoP proof is not accepted: {problem}"),
            Self::Insufficient(scopes) => {
                let scope = if scopes.iter().count() == 1 { "scope" } else { "scopes" };
                format!("the token does not allow this: it needs the {scope} {scopes}")
            }
        }
    }

    /// The error code of RFC 6750 §3.1 or RFC 9449 §7.1; a request without a token gets no code.
    fn code(&self) -> Option<&'static str> {
        match self {
            Self::Missing | Self::Unavailable(_) => None,
            Self::Malformed(_) => Some("invalid_request"),
            Self::Invalid(_) => Some("invalid_token"),
            Self::Proof(_) => Some("invalid_dpop_proof"),
            Self::Insufficient(_) => Some("insufficient_scope"),
        }
    }
}

fn of_scheme(scheme: &str, refusal: &Refusal, algorithms: Option<&str>) -> String {
    let mut text = scheme.to_owned();
    let mut separator = ' ';
    let mut add = |name: &str, value: &str| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{separator}{name}=\"{}\"", quoted(value));
        separator = ',';
    };
    if let Some(code) = refusal.denied.code() {
        add("error", code);
        add("error_description", &refusal.denied.text());
    }
    if let Some(algorithms) = algorithms {
        add("algs", algorithms);
    }
    if !refusal.scopes.is_empty() {
        add("scope", &refusal.scopes.to_string());
    }
    if let Some(metadata) = &refusal.metadata {
        add("resource_metadata", metadata);
    }
    text
}

/// A text for a quoted string: RFC 6750 §3 does not allow quotes, backslashes or other characters.
fn quoted(text: &str) -> String {
    let is_good = |c: char| (' '..='~').contains(&c) && c != '"' && c != '\\';
    text.chars().map(|c| if is_good(c) { c } else { '\'' }).collect()
}
