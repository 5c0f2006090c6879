//! Hosts, origins and tokens that were refused: an operator should see each host, origin and reason once, a log should
//! not fill with them.

use std::collections::BTreeSet;
use std::sync::Mutex;

use super::rejection::Rejection;
use crate::locked::Locked as _;

/// How many are remembered; later ones are logged as if known.
const MAX_REMEMBERED: usize = 64;

/// The names that were logged.
#[derive(Debug, Default)]
pub(super) struct LoggedRejections(Mutex<BTreeSet<String>>);

impl LoggedRejections {
    /// Whether this refuses a host or an origin that was not refused before.
    pub(super) fn is_new(&self, rejection: &Rejection) -> bool {
        let (Rejection::ForeignHost(name) | Rejection::ForeignOrigin(name)) = rejection else {
            return false;
        };
        self.is_first(name)
    }

    /// Whether this name, or this reason, was not logged before.
    pub(super) fn is_first(&self, name: &str) -> bool {
        let mut known = self.0.locked();
        known.len() < MAX_REMEMBERED && !known.contains(name) && known.insert(name.to_owned())
    }
}
