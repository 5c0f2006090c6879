//! One authorization from beginning to end.

use std::sync::Arc;

use mcp_proto::Scopes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::challenge::Challenge;
use super::code::Request;
use super::discovery::{self, Discovery};
use super::documents::{ServerDocument, lists};
use super::error::{OAuthError, Result};
use super::grant::{Grant, IdentityProvider};
use super::identity::{RegisteredClient, Registration, register};
use super::key::SigningKey;
use super::session::{Origin, Session};
use super::store::{self, StoreKey};
use super::token::{self, TokenRequest, Tokens};
use super::{OAuth, Settings, Turn};
use crate::locked::Locked as _;

/// The most bytes of scopes that are asked for, with the spaces between them.
const MAX_SCOPE_BYTES: usize = 4 * 1024;

/// The error code of an authorization server that does not know the client, or has forgotten it.
const UNKNOWN_CLIENT: &str = "invalid_client";

/// The error codes of an authorization server for temporary failures (RFC 6749 §4.1.2.1).
const FOR_NOW: [&str; 2] = ["server_error", "temporarily_unavailable"];

impl OAuth {
    /// Gets a token that answers the challenge. The caller has the turn.
    pub(super) async fn authorize(&self, challenge: &Challenge, turn: &Turn) -> Result<()> {
        let outcome = self.obtain(challenge, turn).await;
        if let Err(error) = &outcome {
            let mut state = self.state.locked();
            state.failures += 1;
            state.failure = Some(error.clone());
        }
        outcome
    }

    /// Finds the metadata of the MCP server and its authorization server.
    pub(super) async fn find(&self, challenge: &Challenge) -> Result<Discovery> {
        let only = self.settings.issuer.as_deref();
        discovery::find(&self.web, &self.endpoint, challenge, only).await
    }

    /// Forgets the tokens of this key and the registration that they were made for.
    pub(super) async fn forget(&self, key: &StoreKey) -> Result<()> {
        self.save::<Tokens>(key, None).await?;
        self.unregister(key).await
    }

    /// Forgets the registration at the issuer of this key.
    async fn unregister(&self, key: &StoreKey) -> Result<()> {
        let of_client = StoreKey { resource: None, ..key.clone() };
        self.save::<Registration>(&of_client, None).await
    }

    async fn obtain(&self, challenge: &Challenge, turn: &Turn) -> Result<()> {
        let found = self.find(challenge).await?;
        let tokens_key = found.key();
        // Tokens of another authorization server, or for another resource, are of no use here.
        let session = self.session().filter(|it| it.key() == tokens_key);
        let kept: Option<Tokens> = match &session {
            Some(session) => Some(session.tokens.clone()),
            None => self.load(&tokens_key).await?,
        };
        let mut client = self.client(&found.server).await?;
        let made = |client: &RegisteredClient, tokens, origin| {
            let needs_proofs = self.needs_proofs(&found);
            let (server, resource) = (found.server.clone(), found.resource.clone());
            let client = client.clone();
            Arc::new(Session::new(server, client, resource, tokens, needs_proofs, origin))
        };
        // Those that are bound to no key stay so when they are refreshed.
        let does = |it: &&Tokens| {
            it.granted().contain(&challenge.scopes) && (it.is_bound() || !self.needs_proofs(&found))
        };
        if let Some(kept) = kept.as_ref().filter(does) {
            let fits = kept.is_bound() || !self.needs_key(&found);
            if session.is_none() && kept.is_fresh() && fits {
                self.state.locked().session = Some(made(&client, kept.clone(), Origin::Kept));
                return Ok(());
            }
            let old = made(&client, kept.clone(), Origin::Kept);
            let refreshed = if session.is_none_or(|it| it.may_refresh()) {
                self.refreshed(old, turn).await
            } else {
                Ok(false)
            };
            match refreshed {
                Ok(true) => return Ok(()),
                // It was withdrawn, or has run out: a new grant takes its place.
                Ok(false) => {}
                Err(OAuthError::Refused { code, .. }) if !FOR_NOW.contains(&code.as_str()) => {
                    self.save::<Tokens>(&tokens_key, None).await?;
                    if code == UNKNOWN_CLIENT {
                        self.unregister(&tokens_key).await?;
                        client = self.client(&found.server).await?;
                    }
                }
                Err(other) => return Err(other),
            }
        }
        let scopes = self.settings.scopes(&found, challenge, kept.as_ref())?;
        let granted = self.granted(&found, &client, &scopes).await;
        if let Err(OAuthError::Refused { code, .. }) = &granted
            && code == UNKNOWN_CLIENT
        {
            // The next try registers again.
            self.unregister(&tokens_key).await?;
        }
        let session = made(&client, granted?, Origin::Granted);
        // It is used before it is saved, so that a failing store does not lose a person's consent.
        self.state.locked().session = Some(Arc::clone(&session));
        self.save(&tokens_key, Some(&session.tokens)).await
    }

    /// Tokens by the grant of the settings.
    async fn granted(
        &self,
        found: &Discovery,
        client: &RegisteredClient,
        scopes: &Scopes,
    ) -> Result<Tokens> {
        let server = &found.server;
        let key = self.key(found)?;
        let asking = TokenRequest {
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
                asking.ask(token::Grant::Code { code, verifier, redirect }).await?
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
        tokens.suit(server, self.needs_proofs(found))?;
        Ok(tokens)
    }

    /// The assertion that an identity provider gives for the authorization server.
    async fn exchanged(
        &self,
        provider: &IdentityProvider,
        found: &Discovery,
        scopes: &Scopes,
    ) -> Result<String> {
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
        let asking = TokenRequest {
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
    async fn client(&self, server: &ServerDocument) -> Result<RegisteredClient> {
        let (issuer, settings) = (&server.issuer, &self.settings);
        if let Some(client) = &settings.client {
            let mut state = self.state.locked();
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
        let key = StoreKey { issuer: issuer.clone(), resource: None };
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

    /// The key to bind the token to, if it should be bound.
    fn key(&self, found: &Discovery) -> Result<Option<SigningKey>> {
        let issuer = &found.server.issuer;
        if self.needs_proofs(found) && !found.server.takes_proofs() {
            let problem = "it must bind tokens to a key by ES256 (dpop_signing_alg_values_supported): the MCP server or the settings want that";
            return Err(OAuthError::fetched(issuer, problem));
        }
        self.needs_key(found).then(SigningKey::generate).transpose()
    }

    /// Whether tokens must be bound to a key.
    fn needs_proofs(&self, found: &Discovery) -> bool {
        self.settings.needs_proofs || found.wants_proofs
    }

    fn needs_key(&self, found: &Discovery) -> bool {
        (self.needs_proofs(found) || found.takes_proofs) && found.server.takes_proofs()
    }

    /// The stored value; an unreadable one counts as missing.
    async fn load<T: DeserializeOwned>(&self, key: &StoreKey) -> Result<Option<T>> {
        let text = self.settings.store.load(key).await;
        let text = text.map_err(OAuthError::Store)?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }

    async fn save<T: Serialize>(&self, key: &StoreKey, value: Option<&T>) -> Result<()> {
        store::save(&*self.settings.store, key, value).await
    }
}

impl Settings {
    /// The scopes to ask for: those of the challenge, else all that the server lists, and those of before (step-up).
    fn scopes(
        &self,
        found: &Discovery,
        challenge: &Challenge,
        before: Option<&Tokens>,
    ) -> Result<Scopes> {
        let asked = if challenge.scopes.is_empty() { &found.scopes } else { &challenge.scopes };
        let mut scopes = asked.clone();
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
