//! The challenges in a refusal of the MCP server (RFC 6750 §3, RFC 9728 §5.1, RFC 9449 §7.1).

use http::HeaderMap;
use http::header::{HeaderValue, WWW_AUTHENTICATE};
use http_auth::parser::ChallengeParser;
use mcp_proto::Scopes;

/// The most bytes of challenges that are read, of all headers of one response.
const MAX_CHALLENGE_BYTES: usize = 8 * 1024;

/// The error by which a server asks for a nonce in proofs (RFC 9449 §8, §9).
pub(super) const USE_NONCE: &str = "use_dpop_nonce";

/// The combined challenges of a response. If several contain the same parameter, the first counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// The URL of the resource's metadata.
    pub(super) metadata: Option<String>,
    /// What a token needs.
    pub(super) scopes: Scopes,
    pub(super) error: Option<String>,
    description: Option<String>,
    /// Tokens bound to a key are accepted.
    pub(super) takes_proofs: bool,
    /// Tokens that are not bound to a key are refused.
    pub(super) wants_proofs: bool,
}

impl Challenge {
    /// Reads the challenges of a response. Unreadable parts are skipped.
    pub(super) fn read(headers: &HeaderMap) -> Self {
        let mut challenge = Self::default();
        let mut left = MAX_CHALLENGE_BYTES;
        let (mut bearer, mut dpop) = (false, false);
        for value in headers.get_all(WWW_AUTHENTICATE) {
            let Some(rest) = left.checked_sub(value.len()) else {
                break;
            };
            left = rest;
            let text = value.to_str().unwrap_or_default();
            for given in ChallengeParser::new(text).map_while(Result::ok) {
                match given.scheme {
                    it if it.eq_ignore_ascii_case("bearer") => bearer = true,
                    it if it.eq_ignore_ascii_case("dpop") => dpop = true,
                    _ => continue,
                }
                for (name, value) in given.params {
                    challenge.take(name, value.to_unescaped());
                }
            }
        }
        challenge.takes_proofs = dpop;
        challenge.wants_proofs = dpop && !bearer;
        challenge
    }

    /// Whether the server wants a nonce in the proof, and the nonce.
    pub(super) fn nonce<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let asks = self.error.as_deref() == Some(USE_NONCE);
        nonce(headers).filter(|_| asks)
    }

    /// The server's explanation, to be appended to a sentence: at most 300 characters.
    pub(super) fn reason(&self) -> String {
        let said = self.description.as_ref().or(self.error.as_ref());
        let shown = |text: &String| -> String {
            text.chars().filter(|it| !it.is_control()).take(300).collect()
        };
        said.map_or_else(String::new, |text| format!(": {}", shown(text)))
    }

    fn take(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" if self.metadata.is_none() => self.metadata = Some(value),
            "scope" if self.scopes.is_empty() => {
                self.scopes = Scopes::of(value.split_ascii_whitespace());
            }
            "error" if self.error.is_none() => self.error = Some(value),
            "error_description" if self.description.is_none() => self.description = Some(value),
            _ => {}
        }
    }
}

/// The nonce that a response carries (RFC 9449 §8), of at most 256 bytes.
pub(super) fn nonce(headers: &HeaderMap) -> Option<&HeaderValue> {
    headers.get("dpop-nonce").filter(|it| (1..=256).contains(&it.len()))
}
