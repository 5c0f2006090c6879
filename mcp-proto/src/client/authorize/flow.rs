//! One authorization from beginning to end.

use std::sync::Arc;

use oauth2::RefreshToken;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::challenge::Challenge;
use super::code::Request;
use super::discovery::{self, Found};
use super::documents::{ServerDocument, lists};
use super::error::OAuthError;
use super::grant::{Grant, IdentityProvider};
use super::identity::{RegisteredClient, Registration, register};
use super::key::SigningKey;
use super::session::{Origin, Session};
use super::store::StoreKey;
use super::token::{self, Asking, Tokens};
use super::{OAuth, Settings};
use crate::scopes::Scopes;

/// The most bytes of scopes that are asked for, with the spaces between them.
const MAX_SCOPE_BYTES: usize = 4 * 1024;

/// What an authorization server answers that does not know a client (any more).
const UNKNOWN_CLIENT: &str = "invalid_client";

/// What an authorization server answers that may answer otherwise soon (RFC 6749 §4.1.2.1).
const FOR_NOW: [&str; 2] = ["server_error", "temporarily_unavailable"];

impl OAuth {
    /// Gets a token that answers the challenge. The caller has the turn.
    pub(super) async fn authorize(&self, challenge: &Challenge) -> Result<(), OAuthError> {
        let outcome = self.obtain(challenge).await;
        let mut state = self.state();
        match outcome {
            Ok(session) => {
                state.session = Some(Arc::new(session));
                Ok(())
            }
            Err(error) => {
                state.failures += 1;
                state.failure = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Refreshes a token. The caller has the turn.
    pub(super) async fn refresh(&self, old: &Session) -> Result<(), OAuthError> {
        let tokens = self
            .refreshed(&old.server, &old.client, &old.resource, &old.tokens)
            .await?;
        let Some(tokens) = tokens else { return Ok(()) };
        let (server, client) = (old.server.clone(), old.client.clone());
        let session = Session::new(
            server,
            client,
            old.resource.clone(),
            tokens,
            Origin::Refreshed,
        );
        self.save(&session.key(), Some(&session.tokens)).await?;
        self.state().session = Some(Arc::new(session));
        Ok(())
    }

    /// Forgets tokens and the registration that they were made for.
    pub(super) async fn forget(&self, session: &Session) -> Result<(), OAuthError> {
        self.save::<Tokens>(&session.key(), None).await?;
        self.unregister(&session.key()).await
    }

    /// Forgets the registration at the issuer of this key.
    async fn unregister(&self, key: &StoreKey) -> Result<(), OAuthError> {
        let of_client = StoreKey {
            resource: None,
            ..key.clone()
        };
        self.save::<Registration>(&of_client, None).await
    }

    async fn obtain(&self, challenge: &Challenge) -> Result<Session, OAuthError> {
        let settings = &self.settings;
        let only = settings.issuer.as_deref();
        let found = discovery::find(&self.web, &self.endpoint, challenge, only).await?;
        let tokens_key = StoreKey {
            issuer: found.server.issuer.clone(),
            resource: Some(found.resource.clone()),
        };
        // Tokens of another authorization server, or for another resource, are of no use here.
        let session = self.session().filter(|it| it.key() == tokens_key);
        let kept: Option<Tokens> = match &session {
            Some(session) => Some(session.tokens.clone()),
            None => self.load(&tokens_key).await?,
        };
        let mut client = self.client(&found.server).await?;
        let made = |client: &RegisteredClient, tokens, origin| {
            let (server, resource) = (found.server.clone(), found.resource.clone());
            Session::new(server, client.clone(), resource, tokens, origin)
        };
        let does = |it: &&Tokens| it.granted().contain(&challenge.scopes);
        if let Some(kept) = kept.as_ref().filter(does) {
            let fits = kept.is_bound() || !self.needs_key(&found);
            if session.is_none() && kept.is_fresh() && fits {
                return Ok(made(&client, kept.clone(), Origin::Kept));
            }
            let (server, resource) = (&found.server, &found.resource);
            let refreshed = match session.is_none_or(|it| it.may_refresh()) {
                true => self.refreshed(server, &client, resource, kept).await,
                false => Ok(None),
            };
            match refreshed {
                Ok(Some(tokens)) => {
                    self.save(&tokens_key, Some(&tokens)).await?;
                    return Ok(made(&client, tokens, Origin::Refreshed));
                }
                // It was withdrawn, or has run out: a new grant takes its place.
                Ok(None) => {}
                Err(OAuthError::Refused { code, .. }) if !FOR_NOW.contains(&code.as_str()) => {
                    self.save::<Tokens>(&tokens_key, None).await?;
                    if code == UNKNOWN_CLIENT {
                        self.unregister(&tokens_key).await?;
                        client = self.client(server).await?;
                    }
                }
                Err(other) => return Err(other),
            }
        }
        let scopes = settings.scopes(&found, challenge, kept.as_ref())?;
        let granted = self.granted(&found, &client, &scopes).await;
        if let Err(OAuthError::Refused { code, .. }) = &granted
            && code == UNKNOWN_CLIENT
        {
            // The next try registers again.
            self.unregister(&tokens_key).await?;
        }
        let tokens = granted?;
        self.save(&tokens_key, Some(&tokens)).await?;
        Ok(made(&client, tokens, Origin::Granted))
    }

    /// Tokens by the refresh token; `None` without one.
    async fn refreshed(
        &self,
        server: &ServerDocument,
        client: &RegisteredClient,
        resource: &str,
        old: &Tokens,
    ) -> Result<Option<Tokens>, OAuthError> {
        let Some(refresh) = old.refresh.clone().map(RefreshToken::new) else {
            return Ok(None);
        };
        let (key, granted) = (old.key(), old.granted());
        let asking = Asking {
            web: &self.web,
            server,
            client,
            key: key.as_ref(),
            resource,
            scopes: &granted,
        };
        let mut tokens = asking.ask(token::Grant::Refresh(&refresh)).await?;
        tokens.refresh = tokens.refresh.or_else(|| old.refresh.clone());
        tokens.asked.clone_from(&old.asked);
        Ok(Some(tokens))
    }

    /// Tokens by the grant of the settings.
    async fn granted(
        &self,
        found: &Found,
        client: &RegisteredClient,
        scopes: &Scopes,
    ) -> Result<Tokens, OAuthError> {
        let server = &found.server;
        let key = self.key(found)?;
        let asking = Asking {
            web: &self.web,
            server,
            client,
            key: key.as_ref(),
            resource: &found.resource,
            scopes,
        };
        let tokens = match &self.settings.grant {
            Grant::Browser(browser) => {
                let redirect = browser.redirect_uri();
                let resource = &found.resource;
                let request =
                    Request::new(&self.web, server, &client.id, &redirect, resource, scopes)?;
                let answer = browser.authorize(request.url.as_str()).await;
                let answer = answer.map_err(OAuthError::Browser)?;
                let code = request.code(&answer, server)?;
                let (verifier, redirect) = (request.verifier, &request.redirect);
                asking
                    .ask(token::Grant::Code {
                        code,
                        verifier,
                        redirect,
                    })
                    .await?
            }
            Grant::ClientCredentials => asking.ask(token::Grant::ClientCredentials).await?,
            Grant::Workload(assertions) => {
                let assertion = assertions.assertion(&server.issuer).await;
                let assertion = assertion.map_err(OAuthError::Setup)?;
                asking.ask(token::Grant::Assertion(&assertion)).await?
            }
            Grant::Enterprise(provider) => {
                let assertion = self.exchanged(provider, found, scopes).await?;
                asking.ask(token::Grant::Assertion(&assertion)).await?
            }
        };
        if !tokens.is_fresh() && tokens.refresh.is_none() {
            let problem = "it gave a token that has run out already (expires_in)";
            return Err(OAuthError::fetched(&server.issuer, problem));
        }
        if !tokens.is_bound() && (self.settings.needs_proofs || found.wants_proofs) {
            let problem =
                "it gave a token that is bound to no key, and one that is bound is needed (DPoP)";
            return Err(OAuthError::fetched(&server.issuer, problem));
        }
        Ok(tokens)
    }

    /// The assertion that an identity provider gives for the authorization server.
    async fn exchanged(
        &self,
        provider: &IdentityProvider,
        found: &Found,
        scopes: &Scopes,
    ) -> Result<String, OAuthError> {
        let server = match &provider.token_endpoint {
            Some(endpoint) => ServerDocument {
                issuer: provider.issuer.clone(),
                token_endpoint: Some(endpoint.clone()),
                ..ServerDocument::default()
            },
            None => discovery::server(&self.web, &provider.issuer).await?.ok_or_else(|| {
                let problem = "there is no metadata of this identity provider: use IdentityProvider::with_token_endpoint";
                OAuthError::fetched(&provider.issuer, problem)
            })?,
        };
        let id_token = provider.id_tokens.assertion(&provider.issuer).await;
        let id_token = id_token.map_err(OAuthError::Setup)?;
        let asking = Asking {
            web: &self.web,
            server: &server,
            client: &provider.client,
            key: None,
            resource: &found.resource,
            scopes,
        };
        asking.exchange(&id_token, &found.server.issuer).await
    }

    /// Who the client is at this server.
    async fn client(&self, server: &ServerDocument) -> Result<RegisteredClient, OAuthError> {
        let (issuer, settings) = (&server.issuer, &self.settings);
        if let Some(client) = &settings.client {
            let mut state = self.state();
            let first = state.issuer_of_client.get_or_insert_with(|| issuer.clone());
            if first == issuer {
                return Ok(client.clone());
            }
            return Err(OAuthError::Setup(format!(
                "the MCP server names the authorization server {issuer} now, and the client is registered at {first}: register it there too"
            )));
        }
        let Grant::Browser(browser) = &settings.grant else {
            return Err(OAuthError::Setup(format!(
                "without a person a client must be registered at {issuer} before: use OAuth::with_client"
            )));
        };
        if let Some(url) = &settings.document
            && server.client_id_metadata_document_supported == Some(true)
        {
            return Ok(RegisteredClient::new(url));
        }
        let key = StoreKey {
            issuer: issuer.clone(),
            resource: None,
        };
        let redirect = browser.redirect_uri();
        let kept: Option<Registration> = self.load(&key).await?;
        let registration = match kept.filter(|it| it.is_good_for(&redirect)) {
            Some(kept) => kept,
            None => {
                let new = register(&self.web, server, &settings.name, &redirect).await?;
                self.save(&key, Some(&new)).await?;
                new
            }
        };
        Ok(registration.client())
    }

    /// The key to have a token bound to, if it is to be bound.
    fn key(&self, found: &Found) -> Result<Option<SigningKey>, OAuthError> {
        let issuer = &found.server.issuer;
        let is_wanted = self.settings.needs_proofs || found.wants_proofs;
        if is_wanted && !found.server.takes_proofs() {
            let problem = "it must bind tokens to a key by ES256 (dpop_signing_alg_values_supported): the MCP server or the settings want that";
            return Err(OAuthError::fetched(issuer, problem));
        }
        self.needs_key(found).then(SigningKey::generate).transpose()
    }

    fn needs_key(&self, found: &Found) -> bool {
        let resource = self.settings.needs_proofs || found.takes_proofs || found.wants_proofs;
        resource && found.server.takes_proofs()
    }

    /// What the store has; what it has and cannot be read counts as nothing.
    async fn load<T: DeserializeOwned>(&self, key: &StoreKey) -> Result<Option<T>, OAuthError> {
        let text = self.settings.store.load(key).await;
        let text = text.map_err(OAuthError::Store)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    async fn save<T: Serialize>(
        &self,
        key: &StoreKey,
        value: Option<&T>,
    ) -> Result<(), OAuthError> {
        let text = value.map(serde_json::to_string).transpose();
        let text = text.map_err(|problem| OAuthError::Store(problem.to_string()))?;
        let saved = self.settings.store.save(key, text).await;
        saved.map_err(OAuthError::Store)
    }
}

impl Settings {
    /// The scopes to ask for: those of the challenge, else all that the server lists, and those of before (step-up).
    fn scopes(
        &self,
        found: &Found,
        challenge: &Challenge,
        before: Option<&Tokens>,
    ) -> Result<Scopes, OAuthError> {
        let mut scopes = match challenge.scopes.is_empty() {
            true => found.scopes.clone(),
            false => challenge.scopes.clone(),
        };
        if let Some(before) = before {
            scopes.add(&before.asked());
        }
        let offline = lists(found.server.scopes_supported.as_ref(), "offline_access");
        if offline && matches!(self.grant, Grant::Browser(_)) && !scopes.is_empty() {
            scopes.add(&Scopes::of(["offline_access"]));
        }
        match scopes.to_string().len() {
            ..=MAX_SCOPE_BYTES => Ok(scopes),
            bytes => Err(OAuthError::Server(format!(
                "{} wants {bytes} bytes of scopes: it must name at most {MAX_SCOPE_BYTES}",
                found.resource
            ))),
        }
    }
}
