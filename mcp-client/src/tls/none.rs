//! Stands in for TLS where it is not compiled in: plain HTTP alone.

use super::proxy::ProxyConnector;
use super::{Result, Trust};

/// Connects to `http` URLs; refuses others.
pub(super) type Connector = ProxyConnector;

/// The plain connector.
pub(super) fn connector(http: ProxyConnector, _trust: &Trust, _http2: bool) -> Result<Connector> {
    Ok(http)
}
