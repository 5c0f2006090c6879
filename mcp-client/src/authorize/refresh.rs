//! A refresh of tokens, in a separate task. Many servers take a refresh token once and answer with the next one, so the
//! answer is kept even when its call is dropped meanwhile.

use std::sync::{Arc, Mutex};

use oauth2::RefreshToken;

use super::error::{OAuthError, Result};
use super::session::{Origin, Session};
use super::store::{self, TokenStore};
use super::token::{Grant, TokenRequest};
use super::web::Web;
use super::{OAuth, State, Turn};
use crate::locked::Locked as _;

/// A refresh, with all that it needs. It ends by itself: the request within
/// [`FETCH_TIMEOUT`](super::FETCH_TIMEOUT), twice if the server asks for a nonce, and then when the store has saved.
struct Refresh {
    old: Arc<Session>,
    token: RefreshToken,
    web: Web,
    store: Arc<dyn TokenStore>,
    state: Arc<Mutex<State>>,
    /// No other authorization begins before this is done: it would use the same refresh token.
    _turn: Turn,
}

impl OAuth {
    /// Refreshes tokens, then uses and saves the new ones; `false` without a refresh token. The caller has the turn.
    /// A started refresh is completed even if the caller drops the future.
    pub(super) async fn refreshed(&self, old: Arc<Session>, turn: &Turn) -> Result<bool> {
        let Some(token) = old.tokens.refresh.clone().map(RefreshToken::new) else {
            return Ok(false);
        };
        let issuer = old.server.issuer.clone();
        let refresh = Refresh {
            old,
            token,
            web: self.web.clone(),
            store: Arc::clone(&self.settings.store),
            state: Arc::clone(&self.state),
            _turn: Arc::clone(turn),
        };
        let ended = tokio::spawn(refresh.run()).await;
        ended.map_err(|broken| {
            OAuthError::fetched(&issuer, format!("the refresh did not end: {broken}"))
        })??;
        Ok(true)
    }
}

impl Refresh {
    async fn run(self) -> Result<()> {
        let old = &self.old;
        let (key, granted) = (old.tokens.key(), old.tokens.granted());
        let asking = TokenRequest {
            web: &self.web,
            server: &old.server,
            client: &old.client,
            key: key.as_ref(),
            resource: &old.resource,
            scopes: &granted,
        };
        let mut tokens = asking.ask(Grant::Refresh(&self.token)).await?;
        tokens.suit(&old.server, old.needs_proofs)?;
        tokens.refresh = tokens.refresh.or_else(|| old.tokens.refresh.clone());
        tokens.asked.clone_from(&old.tokens.asked);
        let session = Arc::new(Session::new(
            old.server.clone(),
            old.client.clone(),
            old.resource.clone(),
            tokens,
            old.needs_proofs,
            Origin::Refreshed,
        ));
        // It is used before it is saved: a failing store must not lose the only valid refresh token.
        self.uses(Arc::clone(&session));
        store::save(&*self.store, &session.key(), Some(&session.tokens)).await
    }

    fn uses(&self, session: Arc<Session>) {
        let mut state = self.state.locked();
        state.session = Some(session);
    }
}
