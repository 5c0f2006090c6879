//! A server behind a URL: connections in the clear or through TLS, and where the paths of a transcript lie there.

use bytes::Bytes;
use http::uri::{Authority, Scheme};
use http::{Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use super::TargetError;
use crate::serving::{Body, BoxError};

/// The client keeps its connections; simultaneous requests use several.
pub(super) struct Remote {
    client: Connections,
    scheme: Scheme,
    authority: Authority,
    /// The path and query of the endpoint; `None` if the URL names none.
    endpoint: Option<String>,
    given: String,
}

enum Connections {
    Plain(Client<HttpConnector, Full<Bytes>>),
    Tls(Client<HttpsConnector<HttpConnector>, Full<Bytes>>),
}

impl Remote {
    pub(super) fn new(url: &str) -> Result<Self, TargetError> {
        Self::speaking(url, false)
    }

    /// By HTTP/2 alone.
    pub(super) fn over_http2(url: &str) -> Result<Self, TargetError> {
        Self::speaking(url, true)
    }

    fn speaking(url: &str, http2: bool) -> Result<Self, TargetError> {
        let refuse = |reason: String| TargetError::Url { url: url.to_owned(), reason };
        let uri: Uri =
            url.parse().map_err(|error: http::uri::InvalidUri| refuse(error.to_string()))?;
        let scheme = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS => scheme.clone(),
            _ => return Err(refuse("its scheme is not `http` or `https`".to_owned())),
        };
        let authority =
            uri.authority().cloned().ok_or_else(|| refuse("it has no host".to_owned()))?;
        if authority.as_str().contains('@') {
            return Err(refuse(
                "it contains a user name; send an Authorization header instead".to_owned(),
            ));
        }
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let mut builder = Client::builder(TokioExecutor::new());
        builder.http2_only(http2);
        let client = if scheme == Scheme::HTTPS {
            connector.enforce_http(false);
            // The certificates that the system trusts, or those of SSL_CERT_FILE.
            let trusting = HttpsConnectorBuilder::new().with_native_roots().map_err(|error| {
                refuse(format!("the trusted certificates of the system cannot be read: {error}"))
            })?;
            let trusting = trusting.https_only();
            Connections::Tls(builder.build(if http2 {
                trusting.enable_http2().wrap_connector(connector)
            } else {
                trusting.enable_http1().wrap_connector(connector)
            }))
        } else {
            Connections::Plain(builder.build(connector))
        };
        // `http://host` and `http://host/` are the same URI, but the second names a path.
        let after_host = url.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?']));
        Ok(Self {
            client,
            scheme,
            authority,
            endpoint: uri
                .path_and_query()
                .filter(|_| after_host)
                .map(|path| path.as_str().to_owned()),
            given: without_values(url),
        })
    }

    /// The URL of `path` in a transcript whose MCP endpoint is at `endpoint`: the endpoint is the URL itself, and the
    /// rest keeps its place beside it.
    pub(super) fn locate(&self, endpoint: &str, path: &str) -> String {
        let Some(own) = self.endpoint.as_deref() else {
            return path.to_owned();
        };
        let (plain, query) = path.split_once('?').unwrap_or((path, ""));
        if plain == endpoint {
            let joint = match (query, own.contains('?')) {
                ("", _) => "",
                (_, true) => "&",
                (_, false) => "?",
            };
            return format!("{own}{joint}{query}");
        }
        let own = own.split_once('?').map_or(own, |(own, _)| own);
        format!("{}{path}", own.strip_suffix(endpoint).unwrap_or_default())
    }

    pub(super) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Body>, TargetError> {
        let (mut head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        head.uri = Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path)
            .build()
            .map_err(|error| self.no_answer(error))?;
        let request = Request::from_parts(head, body);
        let answer = match &self.client {
            Connections::Plain(client) => client.request(request).await,
            Connections::Tls(client) => client.request(request).await,
        };
        match answer {
            Ok(response) => Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync())),
            Err(error) if error.is_connect() => Err(TargetError::Unreachable {
                target: self.given.clone(),
                source: in_words(&error).into(),
            }),
            Err(error) => Err(self.no_answer(in_words(&error))),
        }
    }

    fn no_answer(&self, source: impl Into<BoxError>) -> TargetError {
        TargetError::NoAnswer { target: self.given.clone(), source: source.into() }
    }

    pub(super) fn url(&self) -> &str {
        &self.given
    }
}

/// A URL for reports and errors: the values of its query can be keys.
fn without_values(url: &str) -> String {
    let Some((before, query)) = url.split_once('?') else { return url.to_owned() };
    let names = query
        .split('&')
        .map(|it| it.split_once('=').map_or("…".to_owned(), |(name, _)| format!("{name}=…")));
    format!("{before}?{}", names.collect::<Vec<_>>().join("&"))
}

/// The text of an error and its causes: the HTTP client's own text is only `client error (Connect)`.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut behind = error.source();
    while let Some(error) = behind {
        words = format!("{words}: {error}");
        behind = error.source();
    }
    words
}
