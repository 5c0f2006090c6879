//! The peer of a connection.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use crate::budget::{Budget, Client, ClientName};

/// The other end of a connection, in the extensions of its requests: [`serve`](super::serve) puts it there, and so does
/// an accept loop of your own. Without it, all clients of a service share one budget.
#[derive(Debug, Clone)]
pub struct Peer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    address: IpAddr,
    /// It connected to a listener of [`serve`](super::serve).
    is_accepted: bool,
    /// Its budget account at the first service that asked, looked up once per connection.
    account: OnceLock<Client>,
}

impl Peer {
    /// A connection from this address; one for all requests of the connection.
    pub fn new(address: IpAddr) -> Self {
        Self(Arc::new(Inner { address, is_accepted: false, account: OnceLock::new() }))
    }

    /// The same for a connection of the accept loop here.
    pub(super) fn accepted(address: IpAddr) -> Self {
        Self(Arc::new(Inner { address, is_accepted: true, account: OnceLock::new() }))
    }

    /// Whether [`serve`](super::serve) accepted the connection. A request on it needs a `Host` header.
    pub fn is_accepted(&self) -> bool {
        self.0.is_accepted
    }

    /// The address that the connection comes from, which may be a proxy's.
    pub fn address(&self) -> IpAddr {
        self.0.address
    }

    /// The account of the address at the first service that it sent a request to; `None` before.
    pub(super) fn client(&self) -> Option<&Client> {
        self.0.account.get()
    }

    /// The account of the address with a budget.
    pub(super) fn account(&self, budget: &Budget) -> Client {
        let name = || ClientName::of_address(self.0.address);
        let account = self.0.account.get_or_init(|| budget.client(name()));
        if account.is_of(budget) {
            account.clone()
        } else {
            // Another service behind the same listener.
            budget.client(name())
        }
    }
}
