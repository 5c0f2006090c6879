//! How the client reaches servers over HTTP: its own connections, or an HTTP service of the caller.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use tower_service::Service;

use super::error::{BoxError, describe};
use super::proxy::Proxy;
use super::{ClientError, Result, Trust};

/// How the client reaches servers over HTTP.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct Network {
    /// The certificate authorities to trust over HTTPS; those of the system by default.
    pub trust: Trust,
    /// The proxy; by default that of the environment.
    pub proxy: Proxy,
    /// The time limit for opening a TCP connection, or the way through a proxy. 10 s by default.
    pub connect_timeout: Duration,
    /// How long a connection may be quiet before the system checks that the server is reachable. 30 s by default;
    /// `None`: it does not.
    pub keep_alive: Option<Duration>,
    /// How long a connection without requests is kept. 60 s by default.
    pub idle_timeout: Duration,
    /// How many connections without requests are kept for each origin; with 0, none is used again. 16 by default.
    pub max_idle: usize,
    /// Uses HTTP/2 from the first byte ("prior knowledge") instead of HTTP/1.1. Off by default.
    pub http2: bool,
    pub(super) service: Option<HttpService>,
}

/// The body of a response.
pub(super) type Incoming = UnsyncBoxBody<Bytes, ClientError>;

/// Sends one request over HTTP.
#[derive(Clone)]
pub(super) struct HttpService(Arc<Sending>);

type Sending = dyn Fn(Request<Full<Bytes>>) -> Sent + Send + Sync;

pub(super) type Sent = BoxFuture<'static, Result<Response<Incoming>>>;

impl Network {
    /// The same, with other certificate authorities to trust over HTTPS.
    pub fn with_trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// The same, with another proxy.
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// The same, with an HTTP service of one's own, which then decides about connections: the other settings have no
    /// effect. A client of `hyper-util` with any connector is such a service.
    ///
    /// ```
    /// use http_body_util::Full;
    /// use hyper_util::client::legacy::{Client, connect::HttpConnector};
    /// use hyper_util::rt::TokioExecutor;
    /// use mcp_proto_client::{ClientConfig, Network};
    ///
    /// let mut connector = HttpConnector::new();
    /// connector.set_local_address(Some([127, 0, 0, 1].into()));
    /// let client: Client<_, Full<bytes::Bytes>> =
    ///     Client::builder(TokioExecutor::new()).build(connector);
    /// let config = ClientConfig::default().with_network(Network::default().with_service(client));
    /// ```
    pub fn with_service<S, B>(mut self, service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.service = Some(HttpService::new(service));
        self
    }

    /// The same, with any of its public fields set: `network.with(|it| it.max_idle = 1)`.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl Default for Network {
    fn default() -> Self {
        Self {
            trust: Trust::default(),
            proxy: Proxy::default(),
            connect_timeout: Duration::from_secs(10),
            // A stream may be quiet for hours, and its server gone.
            keep_alive: Some(Duration::from_secs(30)),
            idle_timeout: Duration::from_secs(60),
            max_idle: 16,
            http2: false,
            service: None,
        }
    }
}

impl HttpService {
    pub(super) fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Arc::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                poll_fn(|context| service.poll_ready(context)).await.map_err(failed)?;
                let response = service.call(request).await.map_err(failed)?;
                Ok(response.map(|body| body.map_err(failed).boxed_unsync()))
            })
        }))
    }

    pub(super) fn send(&self, request: Request<Full<Bytes>>) -> Sent {
        (self.0)(request)
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HttpService")
    }
}

fn failed(error: impl Into<BoxError>) -> ClientError {
    ClientError::Connection(describe(&*error.into()))
}
