//! Why a client could not be authorized.

use crate::ClientError;

pub(super) type Result<T, E = OAuthError> = std::result::Result<T, E>;

/// Why no token was issued: the place of the error, its cause and the remedy. The texts hold no token, code or secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OAuthError {
    /// What was fetched from this URL cannot be used, or the URL may not be fetched from.
    #[error("{url}: {problem}")]
    Fetched {
        /// Where from.
        url: String,
        /// What is wrong.
        problem: String,
    },
    /// The authorization server refused: an error code of RFC 6749 §4.1.2.1, §5.2 or RFC 7591 §3.2.2.
    #[error("{url} answered {code}: {description}")]
    Refused {
        /// The endpoint that refused.
        url: String,
        /// The error code, such as `invalid_grant` or `access_denied`.
        code: String,
        /// What the server says about it, in characters that may be shown; empty if it says nothing.
        description: String,
    },
    /// The answer that the browser returned does not belong to the request.
    #[error("the answer of the authorization server is not believed: {0}")]
    Answer(String),
    /// The browser step failed: the reason of the [`Browser`](super::Browser).
    #[error("the authorization in a browser failed: {0}")]
    Browser(String),
    /// The embedder's settings do not work here.
    #[error("{0}")]
    Setup(String),
    /// The token store failed: its own reason.
    #[error("the token store failed: {0}")]
    Store(String),
    /// The MCP server refuses this caller, and another token would not help.
    #[error("{0}")]
    Server(String),
}

impl OAuthError {
    pub(super) fn fetched(url: &(impl ToString + ?Sized), problem: impl Into<String>) -> Self {
        Self::Fetched { url: url.to_string(), problem: problem.into() }
    }

    /// A refusal in the server's words, cut to what RFC 6749 §5.2 allows in them and to 300 characters.
    pub(super) fn refused(
        url: &(impl ToString + ?Sized),
        code: &str,
        description: Option<&str>,
    ) -> Self {
        let shown =
            |text: &str| text.chars().filter(|c| (' '..='~').contains(c)).take(300).collect();
        Self::Refused {
            url: url.to_string(),
            code: shown(code),
            description: shown(description.unwrap_or_default()),
        }
    }

    /// The error that a client's call returns for it.
    pub(super) fn for_call(self) -> ClientError {
        ClientError::Unauthorized(self.to_string())
    }
}
