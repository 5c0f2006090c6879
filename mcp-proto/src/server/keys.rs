//! The keys of a running server.

use super::Server;
use crate::seal::Keys;

impl Server {
    /// The keys that seal its request states and cursors. A clone shares the ring, so that [`Keys::replace`] and
    /// [`Keys::rotate`] on it take effect in the server.
    pub fn keys(&self) -> Keys {
        self.0.rounds.keys.clone()
    }
}
