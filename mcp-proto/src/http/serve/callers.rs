//! Who may call a server that other machines can reach: the operator has to decide.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;

/// The clients that may call a service of [`serve`](super::serve).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Callers {
    /// Programs on this machine: it listens only on loopback addresses.
    #[default]
    Local,
    /// Callers that the service authenticates, for example by
    /// [`HttpConfig::authorization`](crate::http::HttpConfig::authorization).
    Authorized,
    /// Any client that reaches it. For servers behind a proxy that authorizes callers, or with nothing to protect.
    Anyone,
}

/// A listener that other machines reach, without a decision on who may call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{address} is reachable from other machines, and it is not decided who may call: set HttpConfig::authorization and \
     serve with HttpConfig::serving, set ServeConfig::callers to Callers::Anyone if everybody may call, or listen on a \
     loopback address"
)]
pub struct Undecided {
    /// The address of the listener.
    pub address: SocketAddr,
}

impl Callers {
    /// Whether a listener is allowed by this decision.
    pub(super) fn judge(self, listener: &TcpListener) -> Result<(), Undecided> {
        match listener.local_addr() {
            Ok(address) if self == Self::Local && !address.ip().to_canonical().is_loopback() => {
                Err(Undecided { address })
            }
            _ => Ok(()),
        }
    }
}

impl From<Undecided> for io::Error {
    fn from(undecided: Undecided) -> Self {
        Self::new(io::ErrorKind::InvalidInput, undecided)
    }
}
