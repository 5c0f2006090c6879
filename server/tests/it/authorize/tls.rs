//! HTTPS, with tokens, over REST and MCP.

use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::tokens;
use crate::harness::process::{binary, run};
use crate::harness::{Era, soon};

#[tokio::test]
async fn https_is_spoken_with_the_token_and_the_address_that_are_printed() {
    let dir = TempDir::new().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(dir.path().join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(dir.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    std::fs::write(dir.path().join("tokens"), tokens(&["ada write"])).unwrap();
    let config = dir.path().join("universe.toml");
    let text = "listen = \"127.0.0.1:0\"\ndemo = true\ndata-dir = \"data\"\ntls-cert = \"cert.pem\"\ntls-key = \"key.pem\"\n\
                auth-token-file = \"tokens\"\nallowed-host = \"localhost\"\n";
    std::fs::write(&config, text).unwrap();
    let mut command = binary();
    command.env("UNIVERSE_CONFIG", &config).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut greeting = String::new();
    let address = loop {
        let line = soon(lines.next_line()).await.unwrap().expect("it listens");
        if let Some(address) = line.strip_prefix("listening on https://") {
            break address.to_owned();
        }
        greeting.push_str(&line);
        greeting.push('\n');
    };
    let pasted = greeting.lines().find(|line| line.contains("mcpServers")).unwrap();
    let pasted: Value = serde_json::from_str(pasted).unwrap();
    let server = &pasted["mcpServers"]["universe"];
    // By a name that the certificate has.
    let place = address.replace("127.0.0.1", "localhost");
    assert_eq!(server["url"], format!("https://{place}/mcp"));
    let header = server["headers"]["Authorization"].as_str().unwrap().replace("TOKEN", "ada");

    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap();
    let client = client.with_root_certificates(roots).with_no_client_auth();
    let stream = TcpStream::connect(&address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = soon(TlsConnector::from(Arc::new(client)).connect(name, stream)).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let listing = Era::Modern.request(&json!(1), "tools/list", json!({})).to_string();
    for (method, path, body, told) in [
        ("GET", "/universes/sol", String::new(), "\"sol\""),
        ("POST", "/mcp", listing, "get_universe_state"),
    ] {
        for (shown, status) in [(None, 401), (Some(header.as_str()), 200)] {
            let mut request = Request::builder().method(method).uri(path).header("host", &address);
            if !body.is_empty() {
                request = request
                    .header("content-type", "application/json")
                    .header("accept", "application/json");
                request = request
                    .header("mcp-protocol-version", "2026-07-28")
                    .header("mcp-method", "tools/list");
            }
            if let Some(shown) = shown {
                request = request.header("authorization", shown);
            }
            let request = request.body(Full::new(Bytes::from(body.clone()))).unwrap();
            soon(sender.ready()).await.unwrap();
            let answer = soon(sender.send_request(request)).await.unwrap();
            assert_eq!(answer.status(), status, "{path} {shown:?}");
            let text = soon(answer.into_body().collect()).await.unwrap().to_bytes();
            assert_eq!(String::from_utf8_lossy(&text).contains(told), status == 200);
        }
    }
    // The verbs go by the socket in the directory.
    let listed = run(binary().arg("list").env("UNIVERSE_CONFIG", &config)).await;
    assert!(listed.stdout.contains("sol"), "{}", listed.stderr);
}
