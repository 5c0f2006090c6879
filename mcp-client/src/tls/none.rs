//! Stands in for TLS where it is not compiled in: plain HTTP alone.

use hyper_util::client::legacy::connect::HttpConnector;

use super::{ClientError, Trust};

/// Connects to `http` URLs; refuses others.
pub(super) type Connector = HttpConnector;

/// The plain connector.
pub(super) fn connector(
    http: HttpConnector,
    _trust: &Trust,
    _http2: bool,
) -> Result<Connector, ClientError> {
    Ok(http)
}
