//! Connections over TLS, by rustls.

use std::sync::Arc;

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use super::proxy::ProxyConnector;
use super::{ClientError, Result, Trust};

/// Connects to `http` and `https` URLs.
pub(super) type Connector = HttpsConnector<ProxyConnector>;

/// A connector that trusts these authorities. The protocol is agreed on by TLS, or HTTP/2 alone.
pub(super) fn connector(http: ProxyConnector, trust: &Trust, http2: bool) -> Result<Connector> {
    let tls = HttpsConnectorBuilder::new().with_tls_config(configuration(trust)?);
    let connector = tls.https_or_http();
    Ok(if http2 {
        connector.enable_http2().wrap_connector(http)
    } else {
        connector.enable_all_versions().wrap_connector(http)
    })
}

fn configuration(trust: &Trust) -> Result<ClientConfig> {
    let failed = |problem: String| ClientError::Connection(problem);
    let mut roots = RootCertStore::empty();
    if trust.system {
        let found = rustls_native_certs::load_native_certs();
        let (taken, _passed_over) = roots.add_parsable_certificates(found.certs);
        if taken == 0 {
            // The later error of the connection says only that an authority is unknown.
            tracing::warn!(problems = ?found.errors, "the system has no certificates of authorities");
        }
    }
    for pem in &trust.pem {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|problem| {
                failed(format!("a certificate to trust is not PEM: {problem}"))
            })?;
            roots
                .add(certificate)
                .map_err(|problem| failed(format!("a certificate cannot be trusted: {problem}")))?;
        }
        if roots.len() == before {
            return Err(failed(
                "a PEM text to trust has no section that begins with -----BEGIN CERTIFICATE-----"
                    .to_owned(),
            ));
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|problem| failed(format!("TLS cannot be spoken: {problem}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
