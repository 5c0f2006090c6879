//! The client's end of HTTPS: which servers a client trusts, and its handshake with one.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt as _;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{CertificateError, ClientConfig, Error, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::certificates;

/// The authorities whose servers are trusted. Cheap to clone.
#[derive(Clone)]
pub struct Trust(TlsConnector);

/// Why no authorities can be trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The system has no certificates, or they cannot be read.
    #[error("the system has no certificates of authorities ({0}): name a file of them with --ca")]
    System(String),
    /// The file has no certificates.
    #[error("--ca {file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The parts of TLS do not fit together: a mistake of this program.
    #[error("TLS cannot be spoken: {0}")]
    Tls(#[from] Error),
}

impl Trust {
    /// Trusts the authorities in a file (PEM), or without a file those that the system trusts. Connections use
    /// HTTP/1.1.
    ///
    /// # Errors
    /// [`TrustError`], in a sentence for the person who named the file.
    pub fn new(file: Option<&Path>) -> Result<Self, TrustError> {
        let provider = Arc::new(ring::default_provider());
        let builder =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let builder = match file {
            Some(file) => builder.with_root_certificates(authorities(file)?),
            None => {
                let trusting = builder.with_native_roots();
                trusting.map_err(|error| TrustError::System(error.to_string()))?
            }
        };
        let mut config = builder.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    /// Performs the TLS handshake with the server of a name or address, over a connection to it. The handshake has no
    /// time limit here.
    ///
    /// # Errors
    /// The server is not trusted or does not use TLS, in a sentence that names a remedy.
    pub async fn shake<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        host: &str,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        let name = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(name).map_err(io::Error::other)?;
        let shaken = self.0.connect(name, stream).await;
        shaken.map_err(|error| explained(host, error))
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trust")
    }
}

fn authorities(file: &Path) -> Result<RootCertStore, TrustError> {
    let wrong = |problem: String| TrustError::File { file: file.display().to_string(), problem };
    let mut store = RootCertStore::empty();
    for certificate in certificates(file).map_err(wrong)? {
        store.add(certificate).map_err(|problem| wrong(problem.to_string()))?;
    }
    Ok(store)
}

fn explained(host: &str, error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|it| it.downcast_ref::<Error>());
    let problem = match cause {
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "its certificate is from an authority that is not trusted: name that authority's certificate with --ca"
                .to_owned()
        }
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => format!("its certificate is for other names than {host}"),
        Some(Error::InvalidCertificate(
            CertificateError::Expired | CertificateError::ExpiredContext { .. },
        )) => "its certificate has expired".to_owned(),
        Some(Error::InvalidCertificate(CertificateError::Other(other)))
            if other.to_string().contains("CaUsedAsEndEntity") =>
        {
            "its certificate is that of an authority, which no server may show: make one with CA:FALSE, or one that the \
             authority signs"
                .to_owned()
        }
        Some(Error::InvalidMessage(_)) => "it does not speak TLS: is it http://?".to_owned(),
        _ => return error,
    };
    io::Error::new(error.kind(), problem)
}
