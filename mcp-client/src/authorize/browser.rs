//! The step that a person takes in a browser: a trait for the embedder, and a ready-made implementation.

use std::convert::Infallible;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use oauth2::url::Url;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// How long a person has by default.
pub const BROWSER_TIMEOUT: Duration = Duration::from_secs(300);

/// The largest number of browser connections at once. Further ones wait.
const MAX_CONNECTIONS: usize = 16;

/// How long a connection may take to send a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 16 * 1024;

const PATH: &str = "/callback";

/// Lets a person agree in a browser.
pub trait Browser: fmt::Debug + Send + Sync {
    /// Where answers are to go (`redirect_uri`). It should stay the same: clients are registered with it.
    fn redirect_uri(&self) -> String;

    /// Has a person open `url`, and returns the URL that the authorization server redirected the browser to, unchanged.
    /// The future is dropped when its answer is no longer needed. It should end by itself if the person does nothing.
    ///
    /// # Errors
    /// Why there is no answer, in words for people.
    fn authorize<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>>;
}

/// A function that opens a URL or shows it.
type Open = dyn Fn(&str) -> Result<(), String> + Send + Sync;

/// Waits for answers on a port of this machine (RFC 8252 §7.3). The embedder opens the URL, or shows it.
pub struct Loopback {
    listener: TcpListener,
    address: SocketAddr,
    open: Box<Open>,
    timeout: Duration,
    turn: Semaphore,
}

impl Loopback {
    /// Listens at `127.0.0.1:port`; port 0 is any free one. `open` is called with each URL that a person is to open: it
    /// starts a browser or shows the URL, and returns at once.
    ///
    /// # Errors
    /// The port cannot be opened.
    pub async fn bind(
        port: u16,
        open: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        Ok(Self {
            address: listener.local_addr()?,
            listener,
            open: Box::new(open),
            timeout: BROWSER_TIMEOUT,
            turn: Semaphore::new(1),
        })
    }

    /// How long a person has. [`BROWSER_TIMEOUT`] by default.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    async fn wait(&self, url: &str) -> Result<String, String> {
        let state = Url::parse(url).ok().and_then(|it| state(&it));
        let state = state.ok_or("the URL to open has no state")?;
        // Two authorizations at once would receive each other's answers.
        let _turn = self.turn.acquire().await.map_err(|it| it.to_string())?;
        (self.open)(url)?;
        let redirect = self.redirect_uri();
        let mut connections = FuturesUnordered::new();
        loop {
            tokio::select! {
                Some(answer) = connections.next() => {
                    if let Some(answer) = answer {
                        return Ok(answer);
                    }
                }
                accepted = self.listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                    if let Ok((stream, _)) = accepted {
                        connections.push(serve(stream, &redirect, &state));
                    }
                }
            }
        }
    }
}

impl Browser for Loopback {
    fn redirect_uri(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    fn authorize<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async {
            let waited = tokio::time::timeout(self.timeout, self.wait(url)).await;
            let seconds = self.timeout.as_secs();
            waited.unwrap_or_else(|_| Err(format!("no answer came within {seconds} s")))
        })
    }
}

impl fmt::Debug for Loopback {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Loopback({})", self.address)
    }
}

/// Serves one request of one connection. Returns its URL only if it answers the request with this state, since any page
/// can send a browser here.
async fn serve(stream: TcpStream, redirect: &str, state: &str) -> Option<String> {
    let answer = OnceLock::new();
    let service = service_fn(|request: http::Request<Incoming>| {
        let text = format!("{redirect}?{}", request.uri().query().unwrap_or_default());
        let fits = request.method() == Method::GET && request.uri().path() == PATH;
        let is_answer = fits
            && Url::parse(&text).is_ok_and(|it| self::state(&it).as_deref() == Some(state))
            && answer.set(text).is_ok();
        let page = if is_answer {
            page(StatusCode::OK, "You may close this page and go back to the program.")
        } else {
            page(StatusCode::NOT_FOUND, "There is nothing here.")
        };
        std::future::ready(Ok::<_, Infallible>(page))
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service);
    // It ends when the browser has its page.
    if let Ok(Err(error)) = tokio::time::timeout(HEAD_TIMEOUT * 2, connection).await {
        tracing::debug!(%error, "a connection of a browser broke");
    }
    answer.into_inner()
}

fn state(url: &Url) -> Option<String> {
    let mut pairs = url.query_pairs();
    pairs.find(|(name, _)| name == "state").map(|(_, value)| value.into_owned())
}

fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}
