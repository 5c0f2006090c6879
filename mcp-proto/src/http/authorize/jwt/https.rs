//! Fetches keys over HTTPS from the URL where an issuer publishes them.

use std::fmt;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::{BoxFuture, Either, select};
use http::uri::PathAndQuery;
use http::{Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use tower_service::Service as _;

use super::{FetchKeys, MAX_KEY_SET_BYTES};

/// Fetches the keys of an issuer from a URL. It follows no redirect, keeps no connection, and trusts the certificates
/// that the system trusts.
#[derive(Clone)]
pub struct HttpsKeys {
    uri: Uri,
    connector: HttpsConnector<HttpConnector>,
}

/// A URL that keys may not be fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} is not a URL for keys: {problem}")]
pub struct InvalidKeysUrl {
    url: String,
    problem: String,
}

impl HttpsKeys {
    /// Fetches from `url`: an https URL, or an http URL on this machine (`localhost`, 127.0.0.0/8, `[::1]`).
    ///
    /// # Errors
    /// Another URL, or the system has no trusted certificates.
    pub fn new(url: &str) -> Result<Self, InvalidKeysUrl> {
        let invalid =
            |problem: &str| InvalidKeysUrl { url: url.to_owned(), problem: problem.to_owned() };
        let uri: Uri = url.parse().map_err(|_| invalid("it is not a URL"))?;
        let tls = match uri.scheme_str() {
            Some("https") => HttpsConnectorBuilder::new()
                .with_provider_and_native_roots(ring::default_provider())
                .map_err(|problem| invalid(&problem.to_string()))?,
            Some("http") if is_this_machine(&uri) => {
                HttpsConnectorBuilder::new().with_tls_config(no_tls(&invalid)?)
            }
            _ => return Err(invalid("it must begin with https://")),
        };
        let connector = tls.https_or_http().enable_http1().build();
        Ok(Self { uri, connector })
    }

    // Keys are fetched seldom. A client with a pool and HTTP/2 would be a twelfth of this library's machine code.
    async fn get(&self) -> Result<String, String> {
        let request = self.request().map_err(|problem| problem.to_string())?;
        let mut connector = self.connector.clone();
        let connected = connector.call(self.uri.clone()).await;
        let stream = connected.map_err(no_answer)?;
        let (mut sender, connection) = http1::handshake(stream).await.map_err(no_answer)?;
        let asked = pin!(async move {
            let response = sender.send_request(request).await.map_err(no_answer)?;
            read(response).await
        });
        match select(asked, connection).await {
            Either::Left((text, _connection)) => text,
            // It may have ended after the whole answer.
            Either::Right((_ended, asked)) => asked.await,
        }
    }

    fn request(&self) -> http::Result<Request<Empty<Bytes>>> {
        let host = self.uri.host().unwrap_or_default();
        let host = match self.uri.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        Request::get(self.uri.path_and_query().map_or("/", PathAndQuery::as_str))
            .header(header::HOST, host)
            .header(header::ACCEPT, "application/jwk-set+json, application/json")
            .body(Empty::new())
    }
}

fn no_answer(problem: impl fmt::Display) -> String {
    format!("no answer: {problem}")
}

async fn read(response: Response<Incoming>) -> Result<String, String> {
    if response.status() != StatusCode::OK {
        return Err(format!("the answer is {}, not 200 OK", response.status()));
    }
    let body = Limited::new(response.into_body(), MAX_KEY_SET_BYTES).collect();
    let body = body.await.map_err(|problem| format!("no whole answer: {problem}"))?;
    String::from_utf8(body.to_bytes().into()).map_err(|_| "the answer is not UTF-8".to_owned())
}

impl FetchKeys for HttpsKeys {
    fn fetch(&self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(self.get())
    }
}

impl fmt::Debug for HttpsKeys {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "HttpsKeys({})", self.uri)
    }
}

/// A configuration without trusted authorities, for connections without TLS.
fn no_tls(invalid: &dyn Fn(&str) -> InvalidKeysUrl) -> Result<ClientConfig, InvalidKeysUrl> {
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|problem| invalid(&problem.to_string()))?;
    let trusting = builder.with_root_certificates(RootCertStore::empty());
    Ok(trusting.with_no_client_auth())
}

fn is_this_machine(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|it| it.is_loopback())
}
