//! The authorization request and its answer (OAuth 2.1 §4.1, RFC 7636, RFC 8707, RFC 9207).

use std::borrow::Cow;
use std::collections::BTreeMap;

use mcp_proto::Scopes;
use oauth2::basic::BasicClient;
use oauth2::url::Url;
use oauth2::{
    AuthUrl, ClientId, CsrfToken, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
};

use super::documents::ServerDocument;
use super::error::{OAuthError, Result};
use super::web::Web;

/// The longest URL that an answer may be, in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// A request that a person has to approve.
#[derive(Debug)]
pub(super) struct Request {
    /// The URL to open.
    pub(super) url: Url,
    pub(super) verifier: PkceCodeVerifier,
    pub(super) redirect: RedirectUrl,
    state: CsrfToken,
}

impl Request {
    pub(super) fn new(
        web: &Web,
        server: &ServerDocument,
        client: &str,
        redirect: &str,
        resource: &str,
        scopes: &Scopes,
    ) -> Result<Self> {
        let issuer = &server.issuer;
        if !server.has_s256() {
            let problem = "the metadata must list S256 in code_challenge_methods_supported: without PKCE there is no authorization";
            return Err(OAuthError::fetched(issuer, problem));
        }
        let missing = "the metadata must name an authorization endpoint (authorization_endpoint)";
        let endpoint = server.authorization_endpoint.as_deref();
        let endpoint = web.url(endpoint.ok_or_else(|| OAuthError::fetched(issuer, missing))?)?;
        let redirect = RedirectUrl::new(redirect.to_owned()).map_err(|_| {
            OAuthError::Setup(format!("{redirect:?}, where answers are to go, is not a URL"))
        })?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let client = BasicClient::new(ClientId::new(client.to_owned()))
            .set_auth_uri(AuthUrl::from_url(endpoint));
        let (url, state) = client
            .authorize_url(CsrfToken::new_random)
            .add_scopes(scopes.iter().map(|it| Scope::new(it.to_owned())))
            .set_pkce_challenge(challenge)
            .set_redirect_uri(Cow::Borrowed(&redirect))
            .add_extra_param("resource", resource)
            .url();
        Ok(Self { url, verifier, redirect, state })
    }

    /// The code in the answer, which is the URL that the browser was redirected to. `server` received the request.
    pub(super) fn code(&self, answer: &str, server: &ServerDocument) -> Result<String> {
        let wrong = |problem: &str| OAuthError::Answer(problem.to_owned());
        if answer.len() > MAX_ANSWER_BYTES {
            return Err(wrong("its URL is longer than 16384 bytes"));
        }
        let answer = Url::parse(answer).map_err(|_| wrong("it is not a URL"))?;
        let redirect = self.redirect.url();
        if answer.origin() != redirect.origin()
            || answer.scheme() != redirect.scheme()
            || answer.path() != redirect.path()
        {
            return Err(wrong("it came to another place than it was asked to come to"));
        }
        let mut given: BTreeMap<Cow<'_, str>, Cow<'_, str>> = BTreeMap::new();
        for (name, value) in answer.query_pairs() {
            if given.insert(name, value).is_some() {
                return Err(wrong("a parameter is there twice (RFC 6749 §3.1)"));
            }
        }
        let text = |name: &str| given.get(name).map(AsRef::as_ref);
        if text("state") != Some(self.state.secret().as_str()) {
            return Err(wrong(
                "its state is not the one that was sent: it belongs to another request",
            ));
        }
        let announced = server.authorization_response_iss_parameter_supported == Some(true);
        match text("iss") {
            Some(iss) if iss != server.issuer => {
                let issuer = &server.issuer;
                return Err(OAuthError::Answer(format!(
                    "it is of the issuer {iss:?}: it must be {issuer:?} to the letter (RFC 9207)"
                )));
            }
            None if announced => {
                return Err(wrong(
                    "it names no issuer (iss), though the server's metadata says it would (RFC 9207)",
                ));
            }
            _ => {}
        }
        if let Some(code) = text("error") {
            let endpoint = server.authorization_endpoint.as_deref().unwrap_or_default();
            return Err(OAuthError::refused(endpoint, code, text("error_description")));
        }
        let code = text("code").filter(|it| !it.is_empty());
        let code = code.ok_or_else(|| wrong("it has no code and no error"))?;
        Ok(code.to_owned())
    }
}
