//! How the client reaches servers over HTTP: proxies, an HTTP service of the caller, bounds of connections.

use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy;
use hyper_util::rt::TokioExecutor;
use mcp_proto::Era;
use mcp_proto_client::{Client, ClientConfig, ClientError, Network, Proxy};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::fake::{Fake, Seen};

fn answered(seen: &Seen) -> crate::fake::Answer {
    seen.result(json!({"tools": []}))
}

fn config(network: Network) -> ClientConfig {
    ClientConfig::new(Era::Modern).with_network(network)
}

fn by(proxy: Proxy) -> ClientConfig {
    config(Network::default().with_proxy(proxy))
}

/// A proxy that writes down the beginning of what it gets, answers the requests by HTTP for a tunnel, and leads it to
/// `target`.
async fn proxy(target: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = seen.clone();
    tokio::spawn(async move {
        while let Ok((mut near, _)) = listener.accept().await {
            let (kept, target) = (kept.clone(), target.clone());
            tokio::spawn(async move {
                let mut begin = vec![0; 16 * 1024];
                let size = near.read(&mut begin).await.unwrap();
                begin.truncate(size);
                kept.lock().unwrap().push(String::from_utf8_lossy(&begin).into_owned());
                let mut far = TcpStream::connect(target).await.unwrap();
                if begin.starts_with(b"CONNECT ") {
                    near.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
                } else if begin.first() == Some(&5) {
                    // SOCKS 5: no authentication, then any address.
                    near.write_all(&[5, 0]).await.unwrap();
                    let size = near.read(&mut [0; 512]).await.unwrap();
                    assert!(size > 4);
                    near.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await.unwrap();
                } else {
                    far.write_all(&begin).await.unwrap();
                }
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    (address, seen)
}

#[tokio::test]
async fn requests_go_through_a_proxy_that_is_set() {
    let fake = Fake::new(|seen, _| answered(seen)).await;
    let target = fake.origin.strip_prefix("http://").unwrap().to_owned();
    let (address, seen) = proxy(target).await;
    let client = Client::http(
        "http://mcp.invalid/mcp",
        by(Proxy::new(format!("http://me:secret@{address}"))),
    );
    let client = client.await.unwrap();
    client.ping().await.unwrap();
    let first = seen.lock().unwrap()[0].clone();
    assert!(first.starts_with("POST http://mcp.invalid/mcp HTTP/1.1\r\n"), "{first}");
    assert!(first.contains("proxy-authorization: Basic bWU6c2VjcmV0"), "{first}");
    // Names are looked up by the proxy.
    let client =
        Client::http("http://mcp.invalid/mcp", by(Proxy::new(format!("socks5h://{address}"))));
    client.await.unwrap().ping().await.unwrap();
    assert_eq!(fake.names().len(), 2);
    // A host that is left out is reached directly.
    for host in ["127.0.0.0/8", "*"] {
        let direct = by(Proxy::new("http://127.0.0.1:9").except(host));
        Client::http(&fake.url(), direct).await.unwrap().ping().await.unwrap();
    }
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn https_goes_through_a_proxy_by_a_tunnel() {
    let (address, seen) = proxy("127.0.0.1:9".to_owned()).await;
    let client =
        Client::http("https://mcp.invalid/mcp", by(Proxy::new(format!("http://{address}"))));
    let error = client.await.unwrap().ping().await.unwrap_err();
    assert!(matches!(error, ClientError::Connection(_) | ClientError::Closed), "{error}");
    let first = seen.lock().unwrap()[0].clone();
    assert!(first.starts_with("CONNECT mcp.invalid:443 HTTP/1.1\r\n"), "{first}");
}

#[tokio::test]
async fn a_proxy_that_cannot_be_used_is_named_without_its_password() {
    for url in ["https://p:1", "ftp://me:secret@p", "socks4://p:1", "", "http://"] {
        let error = Client::http("http://mcp.invalid/mcp", by(Proxy::new(url))).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("proxy") && !text.contains("secret"), "{text}");
    }
    let client =
        Client::http("http://mcp.invalid/mcp", by(Proxy::new("http://me:secret@127.0.0.1:9")));
    let error = client.await.unwrap().ping().await.unwrap_err().to_string();
    assert!(
        error.contains("the proxy http://127.0.0.1:9/") && !error.contains("secret"),
        "{error}"
    );
}

/// What runs in a process of its own, with the environment of a proxy.
#[tokio::test]
async fn in_an_environment() {
    let Ok(here) = std::env::var("MCP_TEST_HERE") else {
        return;
    };
    let client = Client::http("http://mcp.invalid/mcp", ClientConfig::new(Era::Modern)).await;
    client.unwrap().ping().await.unwrap();
    let client = Client::http(&here, ClientConfig::new(Era::Modern)).await.unwrap();
    client.ping().await.unwrap();
    let none = Client::http("http://mcp.invalid/mcp", by(Proxy::none())).await.unwrap();
    none.ping().await.unwrap_err();
}

// openai/codex#4242: proxies of the environment are obeyed. anthropics/claude-code#23344 and
// google-gemini/gemini-cli#27012: a server on this machine is not reached by one.
#[tokio::test]
async fn the_proxy_of_the_environment_is_used_but_not_for_this_machine() {
    let far = Fake::new(|seen, _| answered(seen)).await;
    let here = Fake::new(|seen, _| answered(seen)).await;
    let (address, seen) = proxy(far.origin.strip_prefix("http://").unwrap().to_owned()).await;
    let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "network::in_an_environment", "--nocapture"]);
    child.env("MCP_TEST_HERE", here.url()).env("http_proxy", format!("http://{address}"));
    child.env_remove("HTTP_PROXY").env_remove("NO_PROXY").env_remove("REQUEST_METHOD");
    let output = child.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!((far.names().len(), here.names().len()), (1, 1));
    assert_eq!(seen.lock().unwrap().len(), 1);
}

// modelcontextprotocol/typescript-sdk#476, modelcontextprotocol/python-sdk#742: all HTTP of the client through a
// service of one's own.
#[tokio::test]
async fn an_http_service_of_the_caller_sends_everything() {
    let fake = Fake::new(|seen, _| answered(seen)).await;
    let origin: http::Uri = fake.origin.parse().unwrap();
    let client = legacy::Client::builder(TokioExecutor::new()).build_http();
    let routed = Mesh { client, origin };
    let config = config(Network::default().with_service(routed));
    let client = Client::http("http://behind.the.mesh/mcp", config).await.unwrap();
    client.list_tools().await.unwrap();
    let seen = &fake.seen()[0];
    assert_eq!(
        (seen.header("x-mesh"), seen.header("host")),
        ("1", fake.origin.strip_prefix("http://").unwrap())
    );
}

/// Leads all requests to one origin.
#[derive(Clone)]
struct Mesh {
    client: legacy::Client<legacy::connect::HttpConnector, Full<Bytes>>,
    origin: http::Uri,
}

impl tower_service::Service<Request<Full<Bytes>>> for Mesh {
    type Response = http::Response<hyper::body::Incoming>;
    type Error = legacy::Error;
    type Future = legacy::ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), legacy::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Full<Bytes>>) -> Self::Future {
        let mut parts = request.uri().clone().into_parts();
        parts.authority = self.origin.authority().cloned();
        *request.uri_mut() = http::Uri::from_parts(parts).unwrap();
        request.headers_mut().insert("x-mesh", "1".parse().unwrap());
        self.client.request(request)
    }
}
