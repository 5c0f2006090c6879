//! Serving until stopped: stdin and stdout, or a port with MCP at `/mcp` and nothing else.

use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::process::ExitCode;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use mcp_proto::http::{
    HttpConfig, ResponseBody, ServeConfig, Undecided, listen, serve, serve_with,
};
use mcp_proto::stdio::{self, StdioConfig};
use mcp_proto::{Server, StreamableHttpService};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::endpoint::{EndpointArgs, EndpointError, RequiredAuthorization};
use crate::log;
use crate::process;
use crate::snippet::{MCP_PATH, Place, snippets};
use crate::tls::Https;

/// How long threads that are still blocked, such as one waiting for stdin, may hold up the exit.
const LINGER: Duration = Duration::from_millis(100);

/// The bounds under which a server is served; those of the library by default.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Host {
    /// The bounds of HTTP requests.
    pub http: HttpConfig,
    /// The bounds of HTTP connections.
    pub serve: ServeConfig,
    /// The bounds of stdin and stdout.
    pub stdio: StdioConfig,
}

/// Why a server could not be served, in a sentence for the operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The arguments are invalid.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The address is in use or not available on this machine.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        error: io::Error,
    },
    /// Stdin, stdout or the signals failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Host {
    /// Serves `server` at `endpoint` until `stop` or, on stdin and stdout, until the client closes its end. Running
    /// requests may finish within [`ServeConfig::shutdown_deadline`] or [`StdioConfig::drain_time`].
    ///
    /// A server that listens prints its address on stderr, with the configuration for a client, under the name
    /// `program`. It contains the token if stderr is a terminal, otherwise `TOKEN` instead.
    ///
    /// # Errors
    /// [`HostError`] when it cannot start, or stdin or stdout break.
    pub async fn run(
        mut self,
        server: Server,
        endpoint: &EndpointArgs,
        program: &str,
        stop: CancellationToken,
    ) -> Result<(), HostError> {
        if endpoint.read_only {
            server.hide_writing_tools();
        }
        if !endpoint.strict {
            server.layer(&mcp_proto::layers::lenient());
        }
        if let Some(max) = endpoint.max_answer {
            self.stdio.max_answer_bytes = usize::try_from(max.as_u64()).unwrap_or(usize::MAX);
        }
        let Some(address) = endpoint.address() else {
            let input = UntilStopped::new(tokio::io::stdin(), stop);
            stdio::serve(server, input, tokio::io::stdout(), self.stdio).await?;
            return Ok(());
        };
        self.serve.callers = endpoint.guard(address, &mut self.http)?;
        self.serve.proxies = self.http.proxies.clone();
        let asked = endpoint.asking.asked()?;
        let keys = endpoint.keys.open()?;
        let https = endpoint.tls.https().map_err(EndpointError::from)?;
        let failed = |error| HostError::Listen { address, error };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let place = Place {
            address,
            names: &endpoint.allowed_host,
            is_https: https.is_some(),
            public_url: endpoint.public_url.as_deref(),
        };
        greet(program, place, asked.as_ref());
        self.http.authorization = asked.as_ref().map(RequiredAuthorization::authorization);
        self.http.card = place.card(&server, &self.http);
        // It ends with the server.
        let _followed = asked.map(RequiredAuthorization::follow);
        let _keys = keys.map(|keys| keys.give(server.keys()));
        let mcp = StreamableHttpService::with_config(server, self.http);
        let gate = mcp.clone();
        let shutdown = async {
            stop.cancelled().await;
            mcp.close();
        };
        let service = service_fn(move |request| {
            let mcp = gate.clone();
            async move { Ok::<_, Infallible>(handle(&mcp, request).await) }
        });
        let served = serve_as(listener, https, service, self.serve, shutdown).await;
        mcp.ended().await;
        Ok(served.map_err(io::Error::from)?)
    }
}

/// [`serve`], with HTTPS if a certificate is given, which is read again when it changes.
///
/// # Errors
/// As for [`serve`].
pub async fn serve_as<S, B>(
    listener: TcpListener,
    https: Option<Https>,
    service: S,
    config: ServeConfig,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Undecided>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let Some(https) = https else {
        return serve(listener, service, config, shutdown).await;
    };
    let handshake = https.handshake();
    let mut following = JoinSet::new();
    following.spawn(https.follow());
    serve_with(listener, handshake, service, config, shutdown).await
}

/// Cancelled on SIGINT or SIGTERM; on systems other than Unix on Ctrl-C.
///
/// # Errors
/// The system does not deliver signals.
pub fn stop_signal() -> Result<CancellationToken, io::Error> {
    let signalled = signalled()?;
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    tokio::spawn(async move {
        signalled.await;
        tracing::info!("stopping");
        stopped.cancel();
    });
    Ok(stop)
}

/// The returned future resolves when the process should stop. Signals are caught from the call on.
#[cfg(unix)]
fn signalled() -> Result<impl Future<Output = ()>, io::Error> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn signalled() -> Result<impl Future<Output = ()>, io::Error> {
    Ok(async {
        if let Err(error) = tokio::signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C cannot be handled");
            std::future::pending::<()>().await;
        }
    })
}

/// Runs `main` on a new runtime and exits: an error is one line on stderr after the name of the program.
pub fn block_on<E: Error>(
    program: &str,
    main: impl Future<Output = Result<ExitCode, E>>,
) -> ExitCode {
    let fail = |error: &dyn Error| {
        log::say(&format!("{program}: {}", log::visible(&error.to_string())));
        ExitCode::FAILURE
    };
    process::raise_file_limit();
    let runtime = match process::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    runtime.spawn(process::give_memory_back());
    runtime.spawn(log::report_losses());
    // Boxed, because the runtime has several loops that poll a main future: its code would be in each.
    let main: LocalBoxFuture<'_, _> = Box::pin(main);
    let outcome = runtime.block_on(main);
    runtime.shutdown_timeout(LINGER);
    log::finish();
    outcome.unwrap_or_else(|error| fail(&error))
}

/// Prints where the server is and how clients reach it.
fn greet(program: &str, place: Place<'_>, asked: Option<&RequiredAuthorization>) {
    let token = asked.and_then(RequiredAuthorization::shown_token);
    let url = place.url();
    let scheme = if place.is_https { "https" } else { "http" };
    let listening = format!("{scheme}://{}", place.address);
    let base = url.as_ref().unwrap_or(&listening);
    let snippets = snippets(program, &format!("{base}{MCP_PATH}"), token);
    log::say(&format!(
        "{program}: for the configuration of an MCP client:\n{snippets}\nlistening on {listening}{MCP_PATH}"
    ));
}

type GateBody = Either<ResponseBody, Full<Bytes>>;

/// The path check before the endpoint.
async fn handle(mcp: &StreamableHttpService, request: Request<Incoming>) -> Response<GateBody> {
    let path = request.uri().path();
    let is_mcp = matches!(path, MCP_PATH | "/mcp/") || mcp.document(path).is_some();
    if !is_mcp {
        let problem = format!("There is nothing at {path}: MCP is at {MCP_PATH}.");
        return refuse(StatusCode::NOT_FOUND, problem);
    }
    mcp.handle(request).await.map(Either::Left)
}

fn refuse(status: StatusCode, problem: String) -> Response<GateBody> {
    let mut response = Response::new(Either::Right(Full::new(Bytes::from(problem))));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, plain);
    response
}

/// Input that ends when the program is stopped, so that running calls finish as if the client had closed it.
#[derive(Debug)]
pub struct UntilStopped<R> {
    input: R,
    stopped: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<R> UntilStopped<R> {
    /// `input` until `stop` is cancelled; then end of file.
    pub fn new(input: R, stop: CancellationToken) -> Self {
        Self { input, stopped: Box::pin(stop.cancelled_owned()) }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for UntilStopped<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.input).poll_read(context, buffer)
    }
}
