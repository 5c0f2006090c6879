//! Fetches keys over HTTPS from the URL where an issuer publishes them.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use super::{FetchKeys, MAX_KEY_SET_BYTES};

/// Fetches the keys of an issuer from a URL. It follows no redirect, keeps no connection, and trusts the certificates
/// that the system trusts.
#[derive(Clone)]
pub struct HttpsKeys {
    uri: Uri,
    client: Client<HttpsConnector<HttpConnector>, Empty<Bytes>>,
}

/// A URL that keys may not be fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} is not a place of keys: {problem}")]
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
        let invalid = |problem: &str| InvalidKeysUrl {
            url: url.to_owned(),
            problem: problem.to_owned(),
        };
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
        let mut client = Client::builder(TokioExecutor::new());
        let client = client.pool_max_idle_per_host(0).build(connector);
        Ok(Self { uri, client })
    }

    async fn get(&self) -> Result<String, String> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = self.uri.clone();
        let json = header::HeaderValue::from_static("application/jwk-set+json, application/json");
        request.headers_mut().insert(header::ACCEPT, json);
        let sent = self.client.request(request).await;
        let response = sent.map_err(|problem| format!("no answer: {problem}"))?;
        if response.status() != StatusCode::OK {
            return Err(format!("the answer is {}, not 200 OK", response.status()));
        }
        let body = Limited::new(response.into_body(), MAX_KEY_SET_BYTES).collect();
        let body = body
            .await
            .map_err(|problem| format!("no whole answer: {problem}"))?;
        String::from_utf8(body.to_bytes().into()).map_err(|_| "the answer is not UTF-8".to_owned())
    }
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
