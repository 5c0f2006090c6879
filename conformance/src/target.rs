//! Where requests go: a server behind a URL, one on pipes, or one in this process.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::HOST;
use http::uri::{Authority, Scheme};
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

use crate::pipe::Pipe;

/// Any error, as bodies and services have them.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of an answer, as it comes in.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The server that transcripts are replayed against. Cloning is cheap; clones share connections.
///
/// Requests carry an origin-form URI (`/mcp`).
#[derive(Clone)]
pub struct Target(Kind);

#[derive(Clone)]
enum Kind {
    Remote(Arc<Remote>),
    Pipe(Arc<Pipe>, String),
    InProcess(Arc<Service>),
}

struct Remote {
    client: Client<HttpConnector, Full<Bytes>>,
    authority: Authority,
    /// The path of the base URL, without a slash at its end.
    prefix: String,
}

type Service = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Result<Response<Body>, BoxError>>
    + Send
    + Sync;

/// Why there was no answer at all.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The base URL given is not one.
    #[error("{url:?} is no base URL: {reason}; one looks like http://127.0.0.1:3001")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The connection or the service failed.
    #[error("no answer from {target}: {source}")]
    NoAnswer {
        /// The URL asked, the program, or `the server in this process`.
        target: String,
        /// The failure.
        #[source]
        source: BoxError,
    },
}

impl Target {
    /// A server at a base URL, over HTTP/1.1. A path in the URL is put before the paths of the requests.
    ///
    /// # Errors
    ///
    /// The URL does not parse, has no host, has a query, or its scheme is not `http`.
    pub fn url(base: &str) -> Result<Self, TargetError> {
        let refuse = |reason: &str| TargetError::Url {
            url: base.to_owned(),
            reason: reason.to_owned(),
        };
        let uri: Uri = base
            .parse()
            .map_err(|error: http::uri::InvalidUri| refuse(&error.to_string()))?;
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err(refuse("its scheme is not `http`"));
        }
        if uri.query().is_some() {
            return Err(refuse("it has a query"));
        }
        let authority = uri
            .authority()
            .cloned()
            .ok_or_else(|| refuse("it has no host"))?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(Self(Kind::Remote(Arc::new(Remote {
            client: Client::builder(TokioExecutor::new()).build(connector),
            authority,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        }))))
    }

    /// A server on the pipes of a process, which is started when it is first asked, and anew for each `initialize`: the
    /// one before is told to end, and waited for. It ends when the last clone is dropped. Its stderr is this process's.
    ///
    /// One exchange at a time is on its way. A request is answered by a JSON body, or by an event stream if messages
    /// came before the answer; what is HTTP's alone (GET, DELETE, headers) has no meaning: it is told 405, or left out.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn command<A>(program: impl Into<OsString>, arguments: A) -> Self
    where
        A: IntoIterator<Item: Into<OsString>>,
    {
        let program = program.into();
        let name = program.display().to_string();
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self(Kind::Pipe(Arc::new(Pipe::new(program, arguments)), name))
    }

    /// A server in this process: a function from a request to an answer, as hyper services are.
    ///
    /// Like over a connection, requests come with a `host` header; it is `127.0.0.1`.
    pub fn in_process<F, A, B, E>(service: F) -> Self
    where
        F: Fn(Request<Full<Bytes>>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Response<B>, E>> + Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
        E: Into<BoxError>,
    {
        Self(Kind::InProcess(Arc::new(move |request| {
            let answer = service(request);
            async move {
                let response = answer.await.map_err(Into::into)?;
                Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
            .boxed()
        })))
    }

    /// Sends a request and returns the answer as soon as its head is there. Dropping the body ends the exchange.
    ///
    /// # Errors
    ///
    /// [`TargetError::NoAnswer`].
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Body>, TargetError> {
        let (mut head, body) = request.into_parts();
        let answer = match &self.0 {
            Kind::Remote(remote) => {
                let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
                head.uri = Uri::builder()
                    .scheme(Scheme::HTTP)
                    .authority(remote.authority.clone())
                    .path_and_query(format!("{}{path}", remote.prefix))
                    .build()
                    .map_err(|error| self.no_answer(error))?;
                let response = remote
                    .client
                    .request(Request::from_parts(head, Full::new(body)))
                    .await;
                response
                    .map(|response| {
                        response.map(|body| body.map_err(BoxError::from).boxed_unsync())
                    })
                    .map_err(BoxError::from)
            }
            Kind::Pipe(pipe, _) => {
                let request = Request::from_parts(head, body);
                let response = pipe.send(request).await;
                response.map(|response| {
                    response.map(|body| {
                        Full::new(body)
                            .map_err(|never| match never {})
                            .boxed_unsync()
                    })
                })
            }
            Kind::InProcess(service) => {
                head.headers
                    .entry(HOST)
                    .or_insert(HeaderValue::from_static("127.0.0.1"));
                service(Request::from_parts(head, Full::new(body))).await
            }
        };
        answer.map_err(|error| self.no_answer(error))
    }

    fn no_answer(&self, source: impl Into<BoxError>) -> TargetError {
        TargetError::NoAnswer {
            target: self.to_string(),
            source: source.into(),
        }
    }
}

/// The base URL, the program, or `the server in this process`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Remote(remote) => write!(f, "http://{}{}", remote.authority, remote.prefix),
            Kind::Pipe(_, program) => f.write_str(program),
            Kind::InProcess(_) => f.write_str("the server in this process"),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
