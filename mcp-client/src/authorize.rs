//! The client's side of authorization (MCP "Authorization"): gets a token that the server accepts after it has refused
//! a request, by OAuth 2.1. Feature `oauth`.
//!
//! [`OAuth`] is the [`Credentials`] of one endpoint. When the server refuses a request, it finds the authorization
//! server (RFC 9728, RFC 8414), identifies the client there, gets a token for only this resource (RFC 8707), and lets
//! the request be sent again. The [guide](crate::guide::authorizing) shows how.

mod browser;
mod challenge;
mod code;
mod discovery;
mod documents;
mod error;
mod flow;
mod grant;
mod identity;
mod key;
mod refresh;
mod session;
mod store;
mod token;
mod web;

use std::fmt;
use std::sync::{Arc, Mutex};

use futures_util::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode, Uri};
use oauth2::url::Url;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::config::NAME;
use super::credentials::{Credentials, MAX_TRIES, Refusal};
use super::pool::{Pool, same_origin};
use super::{Network, Result};
use crate::locked::Locked as _;
use challenge::{Challenge, nonce};
use session::Session;
use web::Web;

pub use browser::{BROWSER_TIMEOUT, Browser, Loopback};
pub use error::OAuthError;
pub use grant::{Assertions, FixedAssertion, Grant, IdentityProvider};
pub use identity::RegisteredClient;
pub use key::SigningKey;
pub use store::{MAX_STORED, MemoryStore, StoreKey, TokenStore};
pub use web::{FETCH_TIMEOUT, MAX_DOCUMENT_BYTES};

/// The media types that an MCP endpoint answers with.
const BOTH: &str = "application/json, text/event-stream";

const DPOP: HeaderName = HeaderName::from_static("dpop");

/// Gets tokens for one MCP endpoint and sends them only there.
///
/// Give it to a client by [`ClientConfig::with_credentials`](super::ClientConfig::with_credentials). Several clients of
/// the same endpoint may share it: then they share the tokens, and a person is asked once. The time
/// limits of requests do not count the time of their authorization.
#[must_use]
pub struct OAuth {
    endpoint: Url,
    /// The endpoint as a [`Uri`], to compare with the URLs of the client's requests.
    uri: Uri,
    web: Web,
    settings: Settings,
    /// One authorization at a time.
    turn: Arc<Semaphore>,
    state: Arc<Mutex<State>>,
}

/// The one authorization that may run. It ends when every holder is done.
type Turn = Arc<OwnedSemaphorePermit>;

/// What the embedder chose.
struct Settings {
    grant: Grant,
    name: String,
    client: Option<RegisteredClient>,
    document: Option<String>,
    issuer: Option<String>,
    store: Arc<dyn TokenStore>,
    needs_proofs: bool,
}

#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    /// The nonce that the MCP server wants in proofs.
    nonce: Option<HeaderValue>,
    /// The one issuer where a client that was registered before may be used.
    issuer_of_client: Option<String>,
    /// How many authorizations failed, and the last error: requests that waited for that attempt fail with it too.
    failures: u64,
    failure: Option<OAuthError>,
}

impl OAuth {
    /// Authorization for the endpoint with this URL, by this grant.
    ///
    /// # Errors
    /// [`OAuthError::Setup`] for a text that is not a URL, [`OAuthError::Fetched`] for a URL that begins neither with
    /// `https://` nor, on this machine, with `http://`.
    pub fn new(url: &str, grant: Grant) -> Result<Self, OAuthError> {
        Self::over(url, grant, &Network::default())
    }

    /// As [`OAuth::new`], and fetches everything over this network, such as through a proxy.
    ///
    /// # Errors
    /// As [`OAuth::new`], and certificates that cannot be read.
    pub fn over(url: &str, grant: Grant, network: &Network) -> Result<Self, OAuthError> {
        let setup = |problem: String| OAuthError::Setup(format!("{url:?} {problem}"));
        let endpoint =
            Url::parse(url).map_err(|problem| setup(format!("is not a URL: {problem}")))?;
        let uri = url.parse().map_err(|problem| setup(format!("is not a URL: {problem}")))?;
        let pool = Pool::new(network, true).map_err(|problem| setup(problem.to_string()))?;
        let web = Web::new(pool, &endpoint);
        web.url(url)?;
        Ok(Self {
            endpoint,
            uri,
            web,
            settings: Settings {
                grant,
                name: NAME.to_owned(),
                client: None,
                document: None,
                issuer: None,
                store: Arc::new(MemoryStore::default()),
                needs_proofs: false,
            },
            turn: Arc::new(Semaphore::new(1)),
            state: Arc::default(),
        })
    }

    /// A client that is already registered at an authorization server. It is used at the first authorization server
    /// that the MCP server names, or at the one of [`OAuth::with_issuer`], and never at another.
    pub fn with_client(mut self, client: RegisteredClient) -> Self {
        self.settings.client = Some(client);
        self
    }

    /// The URL of the client's metadata document, which is its id at servers that accept such ids (client id metadata
    /// documents): an https URL of the embedder's own, with a path.
    pub fn with_metadata_document(mut self, url: impl Into<String>) -> Self {
        self.settings.document = Some(url.into());
        self
    }

    /// The client's name when it registers itself. The name of this library by default.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.settings.name = name.into();
        self
    }

    /// The one authorization server that may be used. By default it is the first that the MCP server names.
    pub fn with_issuer(mut self, issuer: impl Into<String>) -> Self {
        self.settings.issuer = Some(issuer.into());
        self
    }

    /// Where tokens and registrations are kept. In memory by default.
    pub fn with_store(mut self, store: Arc<dyn TokenStore>) -> Self {
        self.settings.store = store;
        self
    }

    /// Accepts only tokens that are bound to a key of this client (DPoP, RFC 9449). By default tokens are bound if both
    /// servers support it.
    pub fn with_proofs_required(mut self) -> Self {
        self.settings.needs_proofs = true;
        self
    }

    /// Gets a token now, unless a valid one is in use. It sends the server a request without a token to learn what the
    /// server requires, then continues as after a refused request. The [`Browser`] sets the time limit for the person.
    ///
    /// # Errors
    /// Why no token was obtained. After [`OAuthError::Store`] from saving, the token is still used, but not kept for
    /// later.
    pub async fn sign_in(&self) -> Result<(), OAuthError> {
        let turn = self.turn().await?;
        if self.session().is_some_and(|it| it.tokens.is_fresh()) {
            return Ok(());
        }
        let challenge = self.challenge().await;
        self.authorize(&challenge, &turn).await
    }

    /// Forgets the token and the registration that it was issued to, in the store too. If no token is in use, as in a
    /// process that has just started, it first asks the server for its authorization server to find the stored entries.
    ///
    /// # Errors
    /// [`OAuthError::Store`], or the error of finding the authorization server: then the store is unchanged.
    pub async fn sign_out(&self) -> Result<(), OAuthError> {
        let _turn = self.turn().await?;
        let session = self.state.locked().session.take();
        let key = match session {
            Some(session) => session.key(),
            None => self.find(&self.challenge().await).await?.key(),
        };
        self.forget(&key).await
    }

    /// The server's challenge to a request without a token.
    async fn challenge(&self) -> Challenge {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        match self.web.post(&self.endpoint, ping.into(), BOTH).await {
            Ok(refused) if refused.status() == StatusCode::UNAUTHORIZED => {
                Challenge::read(refused.headers())
            }
            // A server without a challenge here may still have metadata at its well-known paths.
            _ => Challenge::default(),
        }
    }

    /// Renews an expired token if that needs no person.
    async fn renew(&self, old: &Arc<Session>) {
        let Ok(turn) = self.turn().await else {
            return;
        };
        let is_old = self.session().is_some_and(|it| Arc::ptr_eq(&it, old));
        if is_old && let Err(problem) = self.refreshed(Arc::clone(old), &turn).await {
            tracing::debug!(%problem, "a token was not renewed, or not kept, before it ran out");
        }
    }

    async fn judge(&self, refusal: &Refusal) -> Result<(), OAuthError> {
        let server = |problem: String| OAuthError::Server(problem);
        let challenge = Challenge::read(&refusal.headers);
        let status = refusal.status;
        if refusal.tries >= MAX_TRIES {
            return Err(server(format!(
                "{} still answers {status} after {MAX_TRIES} tries{}",
                refusal.url,
                challenge.reason()
            )));
        }
        if let Some(nonce) = challenge.nonce(&refusal.headers) {
            self.state.locked().nonce = Some(nonce.clone());
            return Ok(());
        }
        let failures = self.state.locked().failures;
        let turn = self.turn().await?;
        {
            let state = self.state.locked();
            let shown = state.session.as_ref().and_then(|it| it.shown());
            if shown.is_some() && shown.as_ref() != refusal.sent.get(AUTHORIZATION) {
                // Another request has obtained a newer token in the meantime.
                return Ok(());
            }
            if state.failures != failures
                && let Some(failure) = &state.failure
            {
                return Err(failure.clone());
            }
        }
        let shown = self.session().filter(|it| it.tokens.is_fresh());
        if let Some(session) = shown {
            session.may_go_on(status, &challenge)?;
        } else if status == StatusCode::FORBIDDEN && challenge.error.is_none() {
            return Err(server(format!("{} answers {status}, and asks for no token", refusal.url)));
        }
        self.authorize(&challenge, &turn).await
    }

    async fn shown(&self, method: &Method, url: &Uri) -> Result<HeaderMap, OAuthError> {
        let mut headers = HeaderMap::new();
        if !same_origin(url, &self.uri) {
            return Ok(headers);
        }
        if let Some(old) = self.session().filter(|it| !it.tokens.is_fresh()) {
            self.renew(&old).await;
        }
        let session = self.session();
        let Some((session, shown)) = session.and_then(|it| it.shown().map(|shown| (it, shown)))
        else {
            return Ok(headers);
        };
        let nonce = self.state.locked().nonce.clone();
        if let Some(key) = session.proving() {
            let nonce = nonce.as_ref().and_then(|it| it.to_str().ok());
            let proof =
                key.proof(method.as_str(), &url.to_string(), nonce, Some(&session.tokens.access))?;
            headers.extend(HeaderValue::from_str(&proof).ok().map(|it| (DPOP, it)));
        }
        headers.insert(AUTHORIZATION, shown);
        Ok(headers)
    }

    async fn turn(&self) -> Result<Turn, OAuthError> {
        let turn = Arc::clone(&self.turn).acquire_owned().await;
        let turn = turn.map_err(|closed| OAuthError::Server(closed.to_string()))?;
        Ok(Arc::new(turn))
    }

    fn session(&self) -> Option<Arc<Session>> {
        self.state.locked().session.clone()
    }
}

impl Credentials for OAuth {
    fn headers<'a>(&'a self, method: &'a Method, url: &'a Uri) -> BoxFuture<'a, Result<HeaderMap>> {
        Box::pin(async { self.shown(method, url).await.map_err(OAuthError::for_call) })
    }

    fn refused<'a>(&'a self, refusal: &'a Refusal) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { self.judge(refusal).await.map_err(OAuthError::for_call) })
    }

    fn answered(&self, url: &Uri, headers: &HeaderMap) {
        if !same_origin(url, &self.uri) {
            return;
        }
        let mut state = self.state.locked();
        if let Some(nonce) = nonce(headers) {
            state.nonce = Some(nonce.clone());
        }
        if let Some(session) = &state.session {
            session.worked();
        }
    }
}

impl fmt::Debug for OAuth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "OAuth({})", self.endpoint)
    }
}
