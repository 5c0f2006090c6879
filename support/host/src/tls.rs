//! HTTPS: a certificate and its key, read again when they change, and the handshake of each connection.

mod trust;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use clap::Args;
use mcp_proto::http::{Handshake, Socket};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection};

use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::files::{Stamp, bytes};
pub use trust::{Trust, TrustError};

/// The most bytes of either file.
const MAX_BYTES: u64 = 1024 * 1024;

/// How many bytes of an answer wait for a blocked socket: one record of TLS. The connection has buffers too.
const MAX_WAITING: usize = 16 * 1024;

/// How often the files are checked for changes.
const LOOK: Duration = Duration::from_secs(1);

/// The options of HTTPS.
#[derive(Debug, Clone, Default, Args)]
pub struct Tls {
    /// Uses HTTPS with the certificate in this file (PEM), followed by those between it and its authority. It is read
    /// again when it changes.
    #[arg(long, value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,

    /// The private key of the certificate (PEM). It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
}

/// A certificate that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// One of the two is missing.
    #[error("--tls-cert and --tls-key go together: give both")]
    Incomplete,
    /// The certificate cannot be read.
    #[error("--tls-cert {file}: {problem}")]
    Certificate {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The key cannot be read.
    #[error("--tls-key {file}: {problem}")]
    Key {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The two cannot be used together.
    #[error("--tls-cert and --tls-key: {0}")]
    Pair(rustls::Error),
}

/// The configuration of HTTPS.
#[derive(Debug)]
pub struct Https {
    config: Arc<ServerConfig>,
    current: Arc<Current>,
    files: Files,
}

impl Tls {
    /// The configuration from the arguments; `None` for plain HTTP.
    ///
    /// # Errors
    /// [`TlsError`], in a sentence for the person who gave them.
    pub fn https(&self) -> Result<Option<Https>, TlsError> {
        let (certificate, key) = match (&self.tls_cert, &self.tls_key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            _ => return Err(TlsError::Incomplete),
        };
        let files = Files { certificate, key, provider: Arc::new(ring::default_provider()) };
        let current = Arc::new(Current(RwLock::new(files.read()?)));
        let builder = ServerConfig::builder_with_provider(Arc::clone(&files.provider));
        let mut config = builder
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Pair)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as Arc<_>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Some(Https { config: Arc::new(config), current, files }))
    }
}

impl Https {
    /// The handshake for a listener's connections.
    pub fn handshake(&self) -> impl Handshake + use<> {
        Shaking(TlsAcceptor::from(Arc::clone(&self.config)))
    }

    /// Reads the files again when they change, forever. Files that cannot be used change nothing, and are reported in
    /// the log. Open connections keep their certificate.
    pub async fn follow(self) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut read = None;
        loop {
            looks.tick().await;
            let now = self.files.stamps();
            if read.as_ref() == Some(&now) {
                continue;
            }
            let is_first = read.replace(now).is_none();
            match self.files.read() {
                // The files at the first check may be newer than those that were read at the start.
                Ok(new) => {
                    if self.current.set(new) && !is_first {
                        tracing::info!("the certificate was read again, as it has changed");
                    }
                }
                Err(problem) => {
                    tracing::warn!(%problem, "the certificate has changed and cannot be used: the one before counts");
                }
            }
        }
    }
}

/// Where a certificate and its key are.
#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
}

impl Files {
    fn stamps(&self) -> [Option<Stamp>; 2] {
        [&self.certificate, &self.key].map(|path| Stamp::of(path).unwrap_or_default())
    }

    fn read(&self) -> Result<Arc<CertifiedKey>, TlsError> {
        let of_certificate = |problem: String| TlsError::Certificate {
            file: self.certificate.display().to_string(),
            problem,
        };
        let of_key =
            |problem: String| TlsError::Key { file: self.key.display().to_string(), problem };
        let chain = certificates(&self.certificate).map_err(of_certificate)?;
        let key = bytes(&self.key, MAX_BYTES).map_err(of_key)?;
        let key = PrivateKeyDer::from_pem_slice(&key);
        let key = key.map_err(|problem| of_key(format!("it has no private key: {problem}")))?;
        let pair = CertifiedKey::from_der(chain, key, &self.provider);
        pair.map(Arc::new).map_err(TlsError::Pair)
    }
}

/// The certificates in a file: one at least.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let text = bytes(file, MAX_BYTES)?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found = found.map_err(|problem| problem.to_string())?;
    if found.is_empty() {
        Err("it has no certificate: it must begin with -----BEGIN CERTIFICATE-----".to_owned())
    } else {
        Ok(found)
    }
}

/// The certificate in use.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    /// Replaces it. Returns whether the new one differs.
    fn set(&self, new: Arc<CertifiedKey>) -> bool {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let is_other = current.cert != new.cert;
        *current = new;
        is_other
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}

/// The handshake of HTTPS.
struct Shaking(TlsAcceptor);

impl Handshake for Shaking {
    type Stream = Box<TlsStream<Socket>>;

    async fn shake(&self, socket: Socket) -> io::Result<Self::Stream> {
        let bounded = |connection: &mut ServerConnection| {
            connection.set_buffer_limit(Some(MAX_WAITING));
        };
        self.0.accept_with(socket, bounded).await.map(Box::new)
    }
}
