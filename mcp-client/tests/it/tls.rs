//! The client over HTTPS: whom it believes, and which HTTP it speaks then.

use std::io;
use std::sync::Arc;

use mcp_proto::http::{Handshake, HttpConfig, ServeConfig, Socket, listen, serve_with};
use mcp_proto::{Era, StreamableHttpService};
use mcp_proto_client::{Client, ClientConfig, ClientError, Trust};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::common::server;

struct Tls(TlsAcceptor);

impl Handshake for Tls {
    type Stream = TlsStream<Socket>;

    async fn shake(&self, socket: Socket) -> io::Result<Self::Stream> {
        self.0.accept(socket).await
    }
}

/// A server with a certificate that no authority has signed.
struct Secure {
    url: String,
    pem: String,
    task: JoinHandle<()>,
}

impl Secure {
    fn new(protocols: &[&[u8]]) -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap();
        let config = config.with_no_client_auth();
        let mut config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("https://localhost:{}/mcp", listener.local_addr().unwrap().port());
        let service = StreamableHttpService::with_config(server(), HttpConfig::default());
        let tls = Tls(TlsAcceptor::from(Arc::new(config)));
        let serving =
            serve_with(listener, tls, service, ServeConfig::default(), std::future::pending());
        Self {
            url,
            pem: made.cert.pem(),
            task: tokio::spawn(async move { serving.await.unwrap() }),
        }
    }
}

impl Drop for Secure {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[tokio::test]
async fn a_server_whose_authority_is_named_is_believed_and_no_other() {
    for protocols in [&[b"h2".as_slice(), b"http/1.1"][..], &[b"http/1.1"], &[]] {
        let secure = Secure::new(protocols);
        for trust in [
            Trust::only().with_pem(secure.pem.as_bytes()),
            Trust::system().with_pem(secure.pem.as_bytes()),
        ] {
            for era in [Era::Legacy, Era::Modern] {
                let mut config = ClientConfig::new(era);
                config.network.trust = trust.clone();
                let client = Client::http(&secure.url, config).await.unwrap();
                assert_eq!(client.list_tools().await.unwrap().len(), 5);
            }
        }
        let other = Secure::new(&[]);
        for trust in [Trust::system(), Trust::only().with_pem(other.pem.as_bytes())] {
            let mut config = ClientConfig::default();
            config.network.trust = trust;
            let error = Client::http(&secure.url, config).await.unwrap_err();
            assert!(matches!(error, ClientError::Connection(_)), "{error}");
            assert!(error.to_string().contains("certificate"), "{error}");
        }
    }
}

#[tokio::test]
async fn http2_alone_is_spoken_over_tls_too() {
    let secure = Secure::new(&[b"h2"]);
    let mut config = ClientConfig::default();
    config.network.trust = Trust::only().with_pem(secure.pem.as_bytes());
    config.network.http2 = true;
    let client = Client::http(&secure.url, config).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_text_without_certificates_is_refused_with_what_it_needs() {
    for pem in ["", "hello", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let mut config = ClientConfig::default();
        config.network.trust = Trust::only().with_pem(pem);
        let error = Client::http("https://localhost:1", config).await.unwrap_err();
        let error = error.to_string().to_lowercase();
        assert!(error.contains("certificate"), "{error}");
    }
}
