//! Who may call a server that others can reach: somebody has to decide it.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;

/// Who may call what [`serve`](super::serve) serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Callers {
    /// The programs of this machine: it listens on loopback addresses alone.
    #[default]
    Local,
    /// Those whom the service knows: it asks them who they are, as by
    /// [`HttpConfig::authorization`](crate::http::HttpConfig::authorization).
    Authorized,
    /// Whoever reaches it. A decision to be taken where something in front asks, or where nothing is worth asking for.
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
    /// Whether a listener is as this says.
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
