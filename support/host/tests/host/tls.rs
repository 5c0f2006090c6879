//! HTTPS: which protocol is spoken, certificates that change, and clients that do not finish their handshake.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Method, Request, StatusCode, Version};
use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcp_proto::Server;
use mcp_proto::budget::Bound;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use service_host::{EndpointArgs, Host, Tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_util::sync::CancellationToken;

use crate::asking::Lines;
use crate::{LONG, Outcome, RunningServer};

/// A server with the certificate and key in a folder.
async fn start(dir: &Path, host: Host) -> Result<RunningServer, Box<dyn Error>> {
    let server = Server::builder("x", "1", ()).build()?;
    RunningServer::start(host, server, endpoint(dir)).await
}

fn endpoint(dir: &Path) -> EndpointArgs {
    EndpointArgs {
        port: Some(0),
        tls: Tls { tls_cert: Some(dir.join("cert.pem")), tls_key: Some(dir.join("key.pem")) },
        ..EndpointArgs::default()
    }
}

impl RunningServer {
    /// A connection of a client that trusts this certificate alone.
    async fn connect(
        &self,
        trusted: &str,
        protocols: &[&str],
    ) -> Result<TlsStream<TcpStream>, Box<dyn Error>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(trusted.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from("localhost")?;
        Ok(timeout(LONG, TlsConnector::from(Arc::new(config)).connect(name, stream)).await??)
    }

    /// The status of the answer to a preflight over HTTP/1.1.
    async fn status(&self, trusted: &str) -> Result<StatusCode, Box<dyn Error>> {
        let stream = TokioIo::new(self.connect(trusted, &["http/1.1"]).await?);
        let (mut sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        let request =
            Request::builder().method(Method::OPTIONS).uri("/mcp").header("host", "localhost");
        let answer =
            timeout(LONG, sender.send_request(request.body(Empty::<Bytes>::new())?)).await??;
        Ok(answer.status())
    }
}

/// Writes a new certificate and its key, and gives the certificate.
fn certify(dir: &Path) -> Result<String, Box<dyn Error>> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    service_host::replace(&dir.join("cert.pem"), made.cert.pem().as_bytes())?;
    service_host::replace(&dir.join("key.pem"), made.signing_key.serialize_pem().as_bytes())?;
    Ok(made.cert.pem())
}

#[tokio::test]
async fn both_versions_of_http_are_spoken_as_the_client_wants() -> Outcome {
    let dir = tempfile::tempdir()?;
    let trusted = certify(dir.path())?;
    let running = start(dir.path(), Host::default()).await?;
    for (protocols, agreed) in
        [(&["h2", "http/1.1"][..], Some("h2")), (&["http/1.1"], Some("http/1.1")), (&[], None)]
    {
        let stream = running.connect(&trusted, protocols).await?;
        let found = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        assert_eq!(found.as_deref(), agreed.map(str::as_bytes));
        let request = Request::builder().method(Method::OPTIONS).uri("https://localhost/mcp");
        let answer = if agreed == Some("h2") {
            let shaken = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
            let (mut sender, connection) = shaken;
            tokio::spawn(connection);
            sender.send_request(request.body(Empty::<Bytes>::new())?).await?
        } else {
            assert_eq!(running.status(&trusted).await?, StatusCode::NO_CONTENT);
            continue;
        };
        assert_eq!((answer.status(), answer.version()), (StatusCode::NO_CONTENT, Version::HTTP_2));
    }
    // Who speaks HTTP gets no answer in HTTP.
    let mut plain = TcpStream::connect(running.address).await?;
    plain.write_all(b"GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
    let mut answer = Vec::new();
    let _ = timeout(LONG, plain.read_to_end(&mut answer)).await?;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    Ok(())
}

#[tokio::test]
async fn a_certificate_that_changes_counts_soon_and_one_that_is_broken_does_not() -> Outcome {
    let lines = Lines::default();
    let _here = lines.of_this_thread();
    let dir = tempfile::tempdir()?;
    let first = certify(dir.path())?;
    let running = start(dir.path(), Host::default()).await?;
    assert_eq!(running.status(&first).await?, StatusCode::NO_CONTENT);
    let kept = running.connect(&first, &["http/1.1"]).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(kept)).await?;
    tokio::spawn(connection);
    let second = certify(dir.path())?;
    until(&running, &second).await?;
    assert!(running.status(&first).await.is_err(), "the one before is not shown any more");
    // A connection goes on with what it began with.
    let request =
        Request::builder().method(Method::OPTIONS).uri("/mcp").header("host", "localhost");
    let answer = sender.send_request(request.body(Empty::<Bytes>::new())?).await?;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    // A certificate without its key, and no certificate at all, change nothing; both together count again.
    let third = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    service_host::replace(&dir.path().join("cert.pem"), third.cert.pem().as_bytes())?;
    looked_at(&running, &second).await?;
    service_host::replace(&dir.path().join("cert.pem"), b"nonsense")?;
    looked_at(&running, &second).await?;
    fs::remove_file(dir.path().join("cert.pem"))?;
    looked_at(&running, &second).await?;
    let text = lines.text();
    assert_eq!(text.matches("the one before counts").count(), 3, "{text}");
    assert!(text.contains("cert.pem: it has no certificate"), "{text}");
    let fourth = certify(dir.path())?;
    until(&running, &fourth).await
}

/// Waits until a certificate is shown.
async fn until(running: &RunningServer, trusted: &str) -> Outcome {
    let begun = Instant::now();
    while running.status(trusted).await.is_err() {
        assert!(begun.elapsed() < LONG, "it is not read again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

/// That a certificate is shown while the files are looked at once more.
async fn looked_at(running: &RunningServer, trusted: &str) -> Outcome {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1_200) {
        assert_eq!(running.status(trusted).await?, StatusCode::NO_CONTENT);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(())
}

#[tokio::test]
async fn who_does_not_finish_a_handshake_holds_nobody_up_and_is_let_go() -> Outcome {
    let dir = tempfile::tempdir()?;
    let trusted = certify(dir.path())?;
    let mut host = Host::default();
    host.serve.handshake_timeout = LONG;
    host.serve.connections = Bound { total: 8, share: 8 };
    let running = start(dir.path(), host).await?;
    let mut silent = Vec::new();
    for at in 0..20_u8 {
        let mut stream = TcpStream::connect(running.address).await?;
        if at % 2 == 0 {
            // The head of a record that never comes.
            stream.write_all(&[22, 3, 1, 2, 0]).await?;
        }
        silent.push(stream);
    }
    // They have all places, and give way.
    assert_eq!(running.status(&trusted).await?, StatusCode::NO_CONTENT);
    let mut first = silent.remove(0);
    let closed = timeout(LONG / 2, first.read(&mut [0; 16])).await?;
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");

    let mut host = Host::default();
    host.serve.handshake_timeout = Duration::from_millis(50);
    let running = start(dir.path(), host).await?;
    let mut silent = TcpStream::connect(running.address).await?;
    let closed = timeout(LONG / 2, silent.read(&mut [0; 16])).await?;
    assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    Ok(())
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_named_at_the_start() -> Outcome {
    let dir = tempfile::tempdir()?;
    certify(dir.path())?;
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let (cert, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let endpoint = endpoint(dir.path());
    let refusal = async |endpoint: &EndpointArgs| -> Result<String, Box<dyn Error>> {
        let server = Server::builder("x", "1", ()).build()?;
        let run = Host::default().run(server, endpoint, "x", CancellationToken::new());
        let refused = timeout(LONG, run).await?;
        Ok(refused.err().ok_or("it runs")?.to_string())
    };
    let half =
        EndpointArgs { tls: Tls { tls_key: None, ..endpoint.tls.clone() }, ..endpoint.clone() };
    assert!(refusal(&half).await?.contains("give both"));
    fs::write(&key, other.signing_key.serialize_pem())?;
    assert!(refusal(&endpoint).await?.contains("--tls-cert and --tls-key"));
    fs::write(&key, "nonsense")?;
    assert!(refusal(&endpoint).await?.contains("key.pem: it has no private key"));
    fs::write(&cert, "nonsense")?;
    assert!(refusal(&endpoint).await?.contains("cert.pem: it has no certificate"));
    fs::remove_file(&cert)?;
    assert!(refusal(&endpoint).await?.contains("cert.pem: "));
    Ok(())
}
