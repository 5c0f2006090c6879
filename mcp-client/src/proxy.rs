//! Proxies: which one a request goes through, and the way through it.

use std::env;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::{SocksV5, Tunnel};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::error::{BoxError, describe};
use super::{ClientError, Result};

/// What is on this machine is not reached by a proxy of the environment.
const HERE: &str = "localhost,127.0.0.0/8,::1";

/// The proxy that HTTP requests go through: an HTTP proxy or one of SOCKS 5, with a name and a password in its URL if
/// it needs them. HTTPS goes through an HTTP proxy by `CONNECT`.
#[derive(Clone)]
#[must_use]
pub struct Proxy {
    source: Source,
    except: String,
}

#[derive(Clone)]
enum Source {
    Direct,
    Environment,
    Url(String),
}

/// Connects directly or by a proxy.
#[derive(Debug, Clone)]
pub(super) struct ProxyConnector {
    pub(super) http: HttpConnector,
    pub(super) proxies: Arc<Matcher>,
    pub(super) timeout: Duration,
}

/// A connection to a server, or to a proxy that forwards its requests.
pub(super) struct ProxyStream {
    stream: TokioIo<TcpStream>,
    is_forwarded: bool,
}

impl Proxy {
    /// The proxies that `HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY` name, except for the hosts in `NO_PROXY` and on
    /// this machine. This is the default.
    pub fn from_environment() -> Self {
        Self { source: Source::Environment, except: HERE.to_owned() }
    }

    /// No proxy, whatever the environment says.
    pub fn none() -> Self {
        Self { source: Source::Direct, except: String::new() }
    }

    /// This proxy for all requests: a URL that begins with `http://`, `socks5://` or `socks5h://`. By `socks5h://`
    /// the proxy looks up the names of hosts. Connecting with another text fails with [`ClientError::Connection`].
    pub fn new(url: impl Into<String>) -> Self {
        Self { source: Source::Url(url.into()), except: String::new() }
    }

    /// The same, except for this host: a name with the names below it, an address, a network such as `10.0.0.0/8`, or
    /// `*` for all.
    pub fn except(mut self, host: &str) -> Self {
        self.except = format!("{},{host}", self.except);
        self
    }

    /// The rules that a client follows from now on.
    pub(super) fn matcher(&self) -> Result<Arc<Matcher>> {
        let mut rules = Matcher::builder();
        let mut except = self.except.clone();
        match &self.source {
            Source::Direct => {}
            Source::Url(url) if is_proxy(url) => rules = rules.all(url.as_str()),
            Source::Url(_) => {
                let right = "http://, socks5:// or socks5h://, and name a host";
                return Err(ClientError::Connection(format!(
                    "a proxy's URL must begin with {right}"
                )));
            }
            Source::Environment => {
                rules = rules.all(variable("ALL_PROXY")).https(variable("HTTPS_PROXY"));
                // In a CGI program a client sets this by a header `Proxy`.
                if env::var_os("REQUEST_METHOD").is_none() {
                    rules = rules.http(variable("HTTP_PROXY"));
                }
                except = format!("{except},{}", variable("NO_PROXY"));
            }
        }
        if except.split(',').any(|host| host.trim() == "*") {
            // For the matcher it stands for all names, but for no address.
            except.push_str(",0.0.0.0/0,::/0");
        }
        Ok(Arc::new(rules.no(except).build()))
    }
}

impl Default for Proxy {
    fn default() -> Self {
        Self::from_environment()
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A URL may have a password.
        formatter.write_str(match self.source {
            Source::Direct => "Proxy(none)",
            Source::Environment => "Proxy(from the environment)",
            Source::Url(_) => "Proxy(…)",
        })
    }
}

/// A variable, in capitals or not. One that names no proxy is passed over with a warning.
fn variable(name: &str) -> String {
    let value = env::var_os(name).or_else(|| env::var_os(name.to_ascii_lowercase()));
    let value = value.unwrap_or_default().to_string_lossy().into_owned();
    if name != "NO_PROXY" && !value.is_empty() && !is_proxy(&value) {
        tracing::warn!(name, "not a URL of an HTTP or SOCKS 5 proxy: it is ignored");
        return String::new();
    }
    value
}

fn is_proxy(url: &str) -> bool {
    let uri: Result<Uri, _> = url.parse();
    uri.is_ok_and(|uri| {
        uri.host().is_some_and(|host| !host.is_empty())
            && matches!(uri.scheme_str(), None | Some("http" | "socks5" | "socks5h"))
    })
}

impl ProxyConnector {
    async fn by(
        proxy: &Intercept,
        mut http: HttpConnector,
        uri: Uri,
    ) -> Result<ProxyStream, BoxError> {
        let at = proxy.uri().clone();
        let is_https = uri.scheme_str() == Some("https");
        let is_forwarded = at.scheme_str() == Some("http") && !is_https;
        let stream = match proxy.uri().scheme_str() {
            _ if is_forwarded => http.call(at).await?,
            Some("http") => {
                let tunnel = Tunnel::new(at, http);
                let mut tunnel = match proxy.basic_auth() {
                    Some(auth) => tunnel.with_auth(auth.clone()),
                    None => tunnel,
                };
                tunnel.call(uri).await?
            }
            scheme => {
                let socks = SocksV5::new(at, http).local_dns(scheme == Some("socks5"));
                let mut socks = match proxy.raw_auth() {
                    Some((user, password)) => socks.with_auth(user.to_owned(), password.to_owned()),
                    None => socks,
                };
                socks.call(uri).await?
            }
        };
        Ok(ProxyStream { stream, is_forwarded })
    }
}

impl Service<Uri> for ProxyConnector {
    type Response = ProxyStream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<ProxyStream, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.http.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let (mut http, limit) = (self.http.clone(), self.timeout);
        let proxy = self.proxies.intercept(&uri);
        Box::pin(async move {
            let Some(proxy) = proxy else {
                return Ok(ProxyStream { stream: http.call(uri).await?, is_forwarded: false });
            };
            let by = tokio::time::timeout(limit, Self::by(&proxy, http, uri)).await;
            let problem = match by {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => describe(&*error),
                Err(_elapsed) => format!("no answer within {} s", limit.as_secs_f64()),
            };
            Err(format!("the proxy {}: {problem}", proxy.uri()).into())
        })
    }
}

impl Connection for ProxyStream {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.is_forwarded)
    }
}

impl Read for ProxyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for ProxyStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
