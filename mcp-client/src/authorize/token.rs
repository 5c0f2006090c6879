//! Requests to a token endpoint, each kind of grant, and the tokens that they bring.
//!
//! The crate `oauth2` writes the requests of RFC 6749, proves the client and reads the answers. It knows no grant by an
//! assertion: such a request is written as one for client credentials, and the name of the grant replaced. Discovery,
//! registration, issuer checks and DPoP are MCP's own choice among RFCs, which no crate makes.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use data_encoding::BASE64;
use futures_util::future::BoxFuture;
use http::header::HeaderValue;
use mcp_proto::Scopes;
use oauth2::basic::{
    BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
    BasicTokenType,
};
use oauth2::{
    AsyncHttpClient, AuthType, AuthorizationCode, Client, ClientId, ClientSecret, EndpointNotSet,
    EndpointSet, ExtraTokenFields, HttpRequest, HttpResponse, PkceCodeVerifier, RedirectUrl,
    RefreshToken, RequestTokenError, Scope, StandardRevocableToken, StandardTokenResponse,
    TokenResponse as _, TokenUrl,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::challenge::{USE_NONCE, nonce};
use super::documents::ServerDocument;
use super::error::{OAuthError, Result};
use super::identity::{Proof, RegisteredClient, Way};
use super::key::{SigningKey, seconds};
use super::web::Web;

/// The grants of assertions (RFC 7523 §2.1) and of exchanges (RFC 8693 §2.1).
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// The types of tokens that an exchange is about (RFC 8693 §3, Identity Assertion Authorization Grant).
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// How long before its expiry a token is no longer used.
const MARGIN: Duration = Duration::from_secs(10);

/// Tokens in the form that the store keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Tokens {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    /// Seconds since 1970; `None` if the server does not say.
    expires: Option<u64>,
    /// What the server granted.
    pub(super) granted: Vec<String>,
    /// What was asked for, this time and before.
    pub(super) asked: Vec<String>,
    /// The key that they are bound to, in PKCS #8 and Base64.
    key: Option<String>,
    /// Whether the access token is bound to it.
    is_bound: bool,
}

/// The grant that a token is requested with.
#[derive(Debug)]
pub(super) enum Grant<'g> {
    Code {
        code: String,
        verifier: PkceCodeVerifier,
        redirect: &'g RedirectUrl,
    },
    Refresh(&'g RefreshToken),
    ClientCredentials,
    Assertion(&'g str),
    /// An ID token for what an authorization server takes as an assertion.
    Exchange {
        id_token: &'g str,
        issuer: &'g str,
    },
}

/// A token endpoint, the client that sends the request, and what it requests.
#[derive(Debug)]
pub(super) struct TokenRequest<'a> {
    pub(super) web: &'a Web,
    pub(super) server: &'a ServerDocument,
    pub(super) client: &'a RegisteredClient,
    /// The key that tokens are bound to.
    pub(super) key: Option<&'a SigningKey>,
    pub(super) resource: &'a str,
    pub(super) scopes: &'a Scopes,
}

type Response = StandardTokenResponse<Extra, BasicTokenType>;

type Endpoint = Client<
    BasicErrorResponse,
    Response,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// The additional members of an exchange's answer (RFC 8693 §2.2.1).
#[derive(Debug, Serialize, Deserialize)]
struct Extra {
    issued_token_type: Option<String>,
}

impl ExtraTokenFields for Extra {}

/// Sends what `oauth2` wrote, with a proof if there is a key, and once more with the nonce that the server asks for.
struct Sending<'s> {
    web: &'s Web,
    key: Option<&'s SigningKey>,
    /// The grant that is meant, where `oauth2` does not know it and wrote the one for client credentials.
    grant: Option<&'static str>,
}

impl TokenRequest<'_> {
    /// Asks for tokens.
    pub(super) async fn ask(&self, grant: Grant<'_>) -> Result<Tokens> {
        let response = self.send(grant).await?;
        let proofs = match response.token_type() {
            BasicTokenType::Bearer => false,
            BasicTokenType::Extension(name) if name.eq_ignore_ascii_case("dpop") => true,
            other => {
                return Err(
                    self.broken(&format!("tokens of the type {other:?} are not known here"))
                );
            }
        };
        if proofs && self.key.is_none() {
            return Err(self.broken("the token is bound to a key, and none was shown"));
        }
        let access = response.access_token().secret().clone();
        if access.is_empty() || !access.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(self.broken("the access token has characters that no header can carry"));
        }
        let expires = response.expires_in().map(|it| it.as_secs());
        let asked: Vec<_> = self.scopes.iter().map(ToOwned::to_owned).collect();
        let granted = response.scopes().map_or_else(
            || asked.clone(),
            |scopes| scopes.iter().map(|it| it.to_string()).collect(),
        );
        Ok(Tokens {
            access,
            refresh: response.refresh_token().map(|it| it.secret().clone()),
            expires: expires.map(|it| seconds().saturating_add(it)),
            granted,
            asked,
            key: self.key.map(|it| BASE64.encode(it.pkcs8())),
            is_bound: proofs,
        })
    }

    /// Exchanges an ID token at an identity provider for an assertion that `issuer` takes (enterprise-managed
    /// authorization).
    pub(super) async fn exchange(&self, id_token: &str, issuer: &str) -> Result<String> {
        let response = self.send(Grant::Exchange { id_token, issuer }).await?;
        match response.extra_fields().issued_token_type.as_deref() {
            Some(ID_JAG) => Ok(response.access_token().secret().clone()),
            other => {
                let problem = format!(
                    "the exchange brought {other:?}: it must be {ID_JAG:?} (issued_token_type)"
                );
                Err(self.broken(&problem))
            }
        }
    }

    async fn send(&self, grant: Grant<'_>) -> Result<Response> {
        let url = self.url()?;
        let token_url =
            TokenUrl::new(url.to_string()).map_err(|_| self.broken("this is not a URL"))?;
        let way = Way::of(self.client, self.server)?;
        let mut client: Endpoint = Client::new(ClientId::new(self.client.id.clone()))
            .set_token_uri(token_url)
            .set_auth_type(match way {
                Way::Basic => AuthType::BasicAuth,
                Way::Post | Way::None | Way::Jwt => AuthType::RequestBody,
            });
        let mut extra: Vec<(&str, Cow<'_, str>)> = vec![("resource", self.resource.into())];
        match (&self.client.proof, way) {
            (Proof::Secret(secret), Way::Basic | Way::Post) => {
                client = client.set_client_secret(ClientSecret::new(secret.clone()));
            }
            (Proof::Key(key), _) => {
                let assertion = key.client_assertion(&self.client.id, &self.server.issuer)?;
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                extra.push(("client_assertion_type", kind.into()));
                extra.push(("client_assertion", assertion.into()));
            }
            _ => {}
        }
        let mut sending = Sending { web: self.web, key: self.key, grant: None };
        match &grant {
            Grant::Assertion(assertion) => {
                sending.grant = Some(JWT_BEARER);
                extra.push(("assertion", (*assertion).into()));
            }
            Grant::Exchange { id_token, issuer } => {
                sending.grant = Some(TOKEN_EXCHANGE);
                extra.extend([
                    ("subject_token", (*id_token).into()),
                    ("subject_token_type", ID_TOKEN.into()),
                    ("requested_token_type", ID_JAG.into()),
                    ("audience", (*issuer).into()),
                ]);
            }
            _ => {}
        }
        let scopes = self.scopes.iter().map(|it| Scope::new(it.to_owned()));
        let answer = match grant {
            Grant::Code { code, verifier, redirect } => {
                let code = client.exchange_code(AuthorizationCode::new(code));
                let code =
                    code.set_pkce_verifier(verifier).set_redirect_uri(Cow::Borrowed(redirect));
                let code = extra
                    .into_iter()
                    .fold(code, |it, (name, value)| it.add_extra_param(name, value));
                code.request_async(&sending).await
            }
            Grant::Refresh(token) => {
                let refresh = client.exchange_refresh_token(token);
                let refresh = extra
                    .into_iter()
                    .fold(refresh, |it, (name, value)| it.add_extra_param(name, value));
                refresh.request_async(&sending).await
            }
            Grant::ClientCredentials | Grant::Assertion(_) | Grant::Exchange { .. } => {
                let asked = client.exchange_client_credentials().add_scopes(scopes);
                let asked = extra
                    .into_iter()
                    .fold(asked, |it, (name, value)| it.add_extra_param(name, value));
                asked.request_async(&sending).await
            }
        };
        answer.map_err(|error| match error {
            RequestTokenError::Request(error) => error,
            RequestTokenError::ServerResponse(error) => {
                let description = error.error_description().map(String::as_str);
                OAuthError::refused(&url, error.error().as_ref(), description)
            }
            RequestTokenError::Parse(problem, _) => self.broken(&format!(
                "the answer does not fit a token request (RFC 6749 §5.1): {problem}"
            )),
            RequestTokenError::Other(problem) => self.broken(&problem),
        })
    }

    fn url(&self) -> Result<oauth2::url::Url> {
        let endpoint = self.server.token_endpoint.as_deref();
        let missing = "the metadata must name a token endpoint (token_endpoint)";
        self.web.url(endpoint.ok_or_else(|| OAuthError::fetched(&self.server.issuer, missing))?)
    }

    fn broken(&self, problem: &str) -> OAuthError {
        let endpoint = self.server.token_endpoint.as_deref();
        OAuthError::fetched(endpoint.unwrap_or(&self.server.issuer), problem)
    }
}

impl Tokens {
    /// Whether the access token has not expired.
    pub(super) fn is_fresh(&self) -> bool {
        self.expires.is_none_or(|at| seconds() + MARGIN.as_secs() < at)
    }

    pub(super) fn granted(&self) -> Scopes {
        Scopes::of(self.granted.iter().cloned())
    }

    pub(super) fn asked(&self) -> Scopes {
        Scopes::of(self.asked.iter().chain(&self.granted).cloned())
    }

    /// The key that they are bound to, or were asked for with.
    pub(super) fn key(&self) -> Option<SigningKey> {
        let pkcs8 = BASE64.decode(self.key.as_ref()?.as_bytes()).ok()?;
        SigningKey::from_pkcs8(&pkcs8).ok()
    }

    pub(super) fn is_bound(&self) -> bool {
        self.is_bound
    }

    /// Refuses tokens that are not bound to a key, if they must be.
    pub(super) fn suit(&self, server: &ServerDocument, needs_proofs: bool) -> Result<()> {
        if self.is_bound || !needs_proofs {
            return Ok(());
        }
        let problem =
            "it gave a token that is not bound to a key, and a bound one is needed (DPoP)";
        Err(OAuthError::fetched(&server.issuer, problem))
    }

    /// The value of `Authorization`.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        let scheme = if self.is_bound { "DPoP" } else { "Bearer" };
        let mut value = HeaderValue::from_str(&format!("{scheme} {}", self.access)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tokens({})", self.granted.join(" "))
    }
}

impl<'c> AsyncHttpClient<'c> for Sending<'_> {
    type Error = OAuthError;
    type Future = BoxFuture<'c, Result<HttpResponse>>;

    fn call(&'c self, request: HttpRequest) -> Self::Future {
        Box::pin(self.deliver(request))
    }
}

impl Sending<'_> {
    async fn deliver(&self, mut request: HttpRequest) -> Result<HttpResponse> {
        const WRITTEN: &[u8] = b"grant_type=client_credentials";
        if let Some(grant) = self.grant
            && let Some(rest) = request.body().strip_prefix(WRITTEN)
        {
            let grant = form_urlencoded(grant);
            *request.body_mut() = [b"grant_type=", grant.as_bytes(), rest].concat();
        }
        let url = self.web.url(&request.uri().to_string())?;
        let request = request.map(Bytes::from);
        let mut asked = None;
        // RFC 9449 §8: a nonce that was used is answered by a newer one, if at all. Twice is enough.
        for _ in 0..2 {
            let mut request = request.clone();
            if let Some(key) = self.key {
                let proof = key.proof("POST", url.as_str(), asked.as_deref(), None)?;
                let proof = HeaderValue::from_str(&proof);
                let proof =
                    proof.map_err(|_| OAuthError::fetched(&url, "the nonce cannot be used"))?;
                request.headers_mut().insert("dpop", proof);
            }
            let response = self.web.send(&url, request).await?;
            let nonce = nonce(response.headers()).and_then(|it| it.to_str().ok());
            let nonce = nonce.filter(|_| self.key.is_some() && wants_nonce(&response));
            match nonce {
                Some(nonce) if asked.is_none() => asked = Some(nonce.to_owned()),
                _ => return Ok(response.map(|body| as_defined(&body))),
            }
        }
        Err(OAuthError::refused(&url, USE_NONCE, Some("the server asks for nonce after nonce")))
    }
}

/// An answer as RFC 6749 §5.1 has it: some servers write `expires_in` as a text and `scope` as a list.
fn as_defined(body: &Bytes) -> Vec<u8> {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(body) else {
        return body.to_vec();
    };
    if let Some(Value::String(text)) = members.get("expires_in")
        && let Ok(lifetime) = text.parse::<u64>()
    {
        members.insert("expires_in".to_owned(), lifetime.into());
    }
    if let Some(Value::Array(scopes)) = members.get("scope") {
        let scopes: Vec<_> = scopes.iter().filter_map(Value::as_str).collect();
        members.insert("scope".to_owned(), scopes.join(" ").into());
    }
    Value::Object(members).to_string().into_bytes()
}

fn wants_nonce(response: &http::Response<Bytes>) -> bool {
    let said: Result<BasicErrorResponse, _> = serde_json::from_slice(response.body());
    !response.status().is_success() && said.is_ok_and(|it| it.error().as_ref() == USE_NONCE)
}

fn form_urlencoded(text: &str) -> String {
    oauth2::url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
