//! The state that all requests of one service share: the server, the bounds, and the amounts that clients hold.

use http::{Extensions, request};

use super::authorize::Denied;
use super::config::HttpConfig;
use super::peer::Peer;
use super::rejection::Result;
use crate::budget::{Budget, Client, ClientName, Usage};
use crate::call::Called;
use crate::context::Principal;
use crate::jsonrpc::Request;
use crate::scopes::Scopes;
use crate::server::Server;

/// The server behind a service, and the shared state of its requests.
#[derive(Debug)]
pub(crate) struct Endpoint {
    pub(crate) server: Server,
    pub(crate) config: HttpConfig,
    budget: Budget,
    /// The account of requests without a [`Peer`].
    unknown: Client,
}

impl Endpoint {
    pub(super) fn new(server: Server, config: HttpConfig) -> Self {
        let budget = Budget::new(&[&config.budget.bounds()[..], &config.legacy.bounds()].concat());
        Self { server, config, unknown: budget.client(ClientName::Unknown), budget }
    }

    pub(super) fn usage(&self) -> Vec<Usage> {
        self.budget.usage()
    }

    /// Refuses what the scopes of its caller do not allow.
    pub(crate) fn may(&self, request: &Request, caller: &mut Extensions) -> Result<()> {
        let Some(needed) = self.server.missing_scopes(request, caller) else {
            return Ok(());
        };
        let denied = Denied::Insufficient(needed);
        Err(match &self.config.authorization {
            Some(authorization) => authorization.refuse(denied).into(),
            // The embedding service authorized the request itself.
            None => denied.into(),
        })
    }

    /// The same for a request that was read at once. It is given back, in its general form if its caller has scopes.
    pub(crate) fn may_call(&self, called: Called, caller: &mut Extensions) -> Result<Called> {
        if caller.get::<Scopes>().is_none() {
            return Ok(called);
        }
        let request = Request::from(called);
        self.may(&request, caller)?;
        Ok(request.into())
    }

    /// The client that a request comes from.
    pub(super) fn client(&self, head: &request::Parts) -> Client {
        let extensions = &head.extensions;
        if let Some(principal) = extensions.get::<Principal>() {
            let name = ClientName::Principal(principal.0.as_str().into());
            return self.budget.client(name);
        }
        let Some(peer) = extensions.get::<Peer>() else {
            return self.unknown.clone();
        };
        match self.config.proxies.client(peer.address(), &head.headers) {
            Some(address) => self.budget.client(ClientName::of_address(address)),
            None => peer.account(&self.budget),
        }
    }
}
