//! The certificate authorities that the client trusts over HTTPS.

use std::fmt;
use std::sync::Arc;

/// The certificate authorities that the client trusts over HTTPS: those of the system by default.
///
/// Certificates are read when a client connects. A certificate that cannot be read is an error then. Needs the feature
/// `tls`; without it, only plain HTTP is available.
#[derive(Clone)]
#[must_use]
pub struct Trust {
    pub(super) system: bool,
    pub(super) pem: Vec<Arc<[u8]>>,
}

impl Trust {
    /// The authorities that the system trusts.
    pub fn system() -> Self {
        Self { system: true, pem: Vec::new() }
    }

    /// Only the authorities that [`Trust::with_pem`] adds.
    pub fn only() -> Self {
        Self { system: false, pem: Vec::new() }
    }

    /// Adds the certificates of this PEM text, one or several.
    pub fn with_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.pem.push(pem.into().into());
        self
    }
}

impl Default for Trust {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Trust");
        shown.field("system", &self.system).field("pem", &self.pem.len()).finish()
    }
}
