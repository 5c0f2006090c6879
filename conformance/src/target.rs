//! Where requests go: a server behind a URL, one on stdio, or one in this process.

mod pipe;
mod remote;

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::{ACCEPT_ENCODING, HOST};
use http::{HeaderName, HeaderValue, Request, Response};
use http_body_util::{BodyExt as _, Full};

use self::pipe::Pipe;
use self::remote::Remote;
use crate::serving::{Body, BoxError};

/// The server that transcripts are replayed against. Cloning is cheap; clones share connections.
///
/// Requests carry an origin-form URI (`/mcp`).
#[derive(Clone)]
pub struct Target {
    kind: Kind,
    /// What goes with every request that does not name it itself.
    headers: Vec<(HeaderName, HeaderValue)>,
}

#[derive(Clone)]
enum Kind {
    Remote(Arc<Remote>),
    Pipe { process: Arc<Pipe>, program: OsString, arguments: Vec<OsString> },
    InProcess(Arc<Service>),
}

type Service = dyn Fn(Request<Full<Bytes>>) -> BoxFuture<'static, Result<Response<Body>, BoxError>>
    + Send
    + Sync;

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The URL given is not one.
    #[error("{url:?} cannot be used: {reason}; an example of a URL is http://127.0.0.1:3001/mcp")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A header that cannot be sent.
    #[error("{name:?} cannot be sent as a header: {reason}")]
    Header {
        /// The name of the header; its value may be a secret.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It cannot be reached: connecting fails, or the program cannot be started.
    #[error("{target} cannot be reached: {source}")]
    Unreachable {
        /// The URL or the program.
        target: String,
        /// The failure.
        #[source]
        source: BoxError,
    },
    /// A tool that was named to be called is not offered.
    #[error("{target} has no tool called {name:?}; {nearest}")]
    Tool {
        /// The URL or the program.
        target: String,
        /// The name that was given.
        name: String,
        /// What it lists instead.
        nearest: String,
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
    /// A server by the URL of its MCP endpoint, over HTTP/1.1, in the clear or through TLS with the certificates that
    /// the system trusts (or those of `SSL_CERT_FILE`).
    ///
    /// Paths in transcripts that are not the endpoint keep their place beside it: with an endpoint `/mcp`,
    /// `http://host/base/mcp` puts `/health` at `/base/health`. A URL that names no path, such as `http://host`, leaves
    /// every path as the transcript has it.
    ///
    /// # Errors
    ///
    /// The URL does not parse, has no host, holds a user name, or its scheme is neither `http` nor `https`.
    pub fn url(endpoint: &str) -> Result<Self, TargetError> {
        Ok(Self::of(Kind::Remote(Arc::new(Remote::new(endpoint)?))))
    }

    /// A server on the pipes of a process, which is started when it is first asked, and again for each `initialize`:
    /// the one before has its stdin closed, and is waited for. A replay starts one for each transcript and era. It ends
    /// when the last clone is dropped. Its stderr is this process's.
    ///
    /// A request is answered by a JSON body, or by an event stream if something came before the answer. GET opens the
    /// stream of what answers no request. What is HTTP's alone has no meaning here: DELETE is answered with 405,
    /// headers are left out.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn command<A>(program: impl Into<OsString>, arguments: A) -> Self
    where
        A: IntoIterator<Item: Into<OsString>>,
    {
        let program = program.into();
        Self::process(program, arguments.into_iter().map(Into::into).collect())
    }

    fn process(program: OsString, arguments: Vec<OsString>) -> Self {
        Self::of(Kind::Pipe {
            process: Arc::new(Pipe::new(program.clone(), arguments.clone())),
            program,
            arguments,
        })
    }

    /// A server in this process: a function from a request to an answer.
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
        Self::of(Kind::InProcess(Arc::new(move |request| {
            let answer = service(request);
            async move {
                let response = answer.await.map_err(Into::into)?;
                Ok(response.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
            .boxed()
        })))
    }

    /// A hyper service in this process, such as `mcp_proto::StreamableHttpService`.
    pub fn service<S, B>(service: S) -> Self
    where
        S: hyper::service::Service<Request<Full<Bytes>>, Response = Response<B>>
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::in_process(move |request| service.call(request))
    }

    fn of(kind: Kind) -> Self {
        Self { kind, headers: Vec::new() }
    }

    /// Sends this header with every request that does not have one of its name; a server on stdio sees no headers.
    ///
    /// # Errors
    ///
    /// The name or the value cannot be sent. The value is never in the error.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, TargetError> {
        let refuse =
            |reason: &str| TargetError::Header { name: name.to_owned(), reason: reason.to_owned() };
        let header = HeaderName::try_from(name)
            .map_err(|_| refuse("a name may have only letters, digits and !#$%&'*+-.^_`|~"))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| refuse("its value has a control character"))?;
        value.set_sensitive(true);
        self.headers.push((header, value));
        Ok(self)
    }

    /// The same server over HTTP/2 alone, in the clear by prior knowledge; nothing if it is not behind a URL.
    pub(crate) fn over_http2(&self) -> Option<Self> {
        let Kind::Remote(remote) = &self.kind else {
            return None;
        };
        Some(Self {
            kind: Kind::Remote(Arc::new(Remote::over_http2(remote.url()).ok()?)),
            headers: self.headers.clone(),
        })
    }

    /// The program of a server on stdio, and its arguments.
    pub(crate) fn program(&self) -> Option<(&OsString, &[OsString])> {
        match &self.kind {
            Kind::Pipe { program, arguments, .. } => Some((program, arguments)),
            _ => None,
        }
    }

    /// The headers that go with every request.
    pub(crate) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Whether this header goes with every request.
    pub(crate) fn has_header(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(known, _)| known == name)
    }

    /// The same server for another transcript: on stdio a new process, else the same.
    pub(crate) fn fresh(&self) -> Self {
        match &self.kind {
            Kind::Pipe { program, arguments, .. } => {
                Self::process(program.clone(), arguments.clone())
            }
            _ => self.clone(),
        }
    }

    /// The same server over a new connection, or in a new process.
    ///
    /// # Errors
    ///
    /// Those of [`Self::url`].
    pub(crate) fn reconnected(&self) -> Result<Self, TargetError> {
        let kind = match &self.kind {
            Kind::Remote(remote) => Kind::Remote(Arc::new(Remote::new(remote.url())?)),
            _ => return Ok(self.fresh()),
        };
        Ok(Self { kind, headers: self.headers.clone() })
    }

    /// Ends the process of this target, if it has one.
    pub(crate) async fn end(&self) {
        if let Kind::Pipe { process, .. } = &self.kind {
            process.end().await;
        }
    }

    /// Where `path` of a transcript lies whose endpoint is at `endpoint`.
    pub(crate) fn locate(&self, endpoint: &str, path: &str) -> String {
        match &self.kind {
            Kind::Remote(remote) => remote.locate(endpoint, path),
            _ => path.to_owned(),
        }
    }

    /// Sends a request and returns the answer as soon as its head is there. Dropping the body ends the exchange.
    ///
    /// # Errors
    ///
    /// [`TargetError::Unreachable`], [`TargetError::NoAnswer`].
    pub async fn send(&self, request: Request<Bytes>) -> Result<Response<Body>, TargetError> {
        let mut request = request.map(Full::new);
        for (name, value) in &self.headers {
            if !request.headers().contains_key(name) {
                request.headers_mut().insert(name.clone(), value.clone());
            }
        }
        // Without it a server may compress its answers (RFC 9110 §12.5.3).
        let codings = request.headers_mut().entry(ACCEPT_ENCODING);
        codings.or_insert(HeaderValue::from_static("identity"));
        match &self.kind {
            Kind::Remote(remote) => remote.send(request).await,
            Kind::Pipe { process, program, .. } => process.send(request, program).await,
            Kind::InProcess(service) => {
                request.headers_mut().entry(HOST).or_insert(HeaderValue::from_static("127.0.0.1"));
                let answer = service(request).await;
                answer.map_err(|source| TargetError::NoAnswer { target: self.to_string(), source })
            }
        }
    }
}

/// The URL, the program, or `the server in this process`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Remote(remote) => f.write_str(remote.url()),
            Kind::Pipe { program, .. } => write!(f, "{}", program.display()),
            Kind::InProcess(_) => f.write_str("the server in this process"),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
