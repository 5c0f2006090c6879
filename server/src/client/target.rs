//! The server that `--url` names: its address, the token for it, and whether to use TLS.

use std::fmt;
use std::io;

use http::uri::Authority;
use http::{HeaderValue, Uri};
use service_host::{Trust, read_token};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::{ClientError, Common, Result};

/// A connection, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// The address of a server and how to connect to it.
pub(super) struct Target {
    authority: Authority,
    /// The prefix of all its paths.
    base: String,
    /// `None` for http.
    trust: Option<Trust>,
    /// The `Authorization` header of each request.
    authorization: Option<HeaderValue>,
}

impl Target {
    /// Reads the target from the arguments.
    ///
    /// # Errors
    /// The URL does not name a server, or a file or variable cannot be used.
    pub(super) fn read(url: &str, common: &Common) -> Result<Self> {
        let given = |problem: String| ClientError::Given(problem);
        let wrong = || {
            given(format!(
                "--url {url:?} is not the URL of a server: it is such as http://127.0.0.1:3001 or https://universe.example"
            ))
        };
        let read: Uri = url.parse().map_err(|_| wrong())?;
        let authority = read.authority().cloned().ok_or_else(wrong)?;
        if read.query().is_some() || authority.as_str().contains('@') {
            return Err(wrong());
        }
        let trust = match read.scheme_str() {
            Some("http") if common.ca.is_some() => {
                return Err(given(format!("--ca is for https, and --url {url:?} is http")));
            }
            Some("http") => None,
            Some("https") => {
                let trust = Trust::new(common.ca.as_deref());
                Some(trust.map_err(|problem| given(problem.to_string()))?)
            }
            _ => return Err(wrong()),
        };
        Ok(Self {
            authority,
            base: read.path().trim_end_matches('/').to_owned(),
            trust,
            authorization: authorization(common)?,
        })
    }

    /// The host for the `Host` header.
    pub(super) fn host(&self) -> &str {
        self.authority.as_str()
    }

    /// The prefix of all its paths; empty at the root.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// The `Authorization` header of each request, if there is one.
    pub(super) fn authorization(&self) -> Option<&HeaderValue> {
        self.authorization.as_ref()
    }

    /// A hint about the scheme, for an answer that cannot be parsed.
    pub(super) fn hint_of_scheme(&self) -> &'static str {
        match self.trust {
            Some(_) => "",
            None => ": is it https://?",
        }
    }

    /// Connects to the server, without a time limit.
    pub(super) async fn connect(&self) -> io::Result<Box<dyn Stream>> {
        let port = self.authority.port_u16();
        let port = port.unwrap_or(if self.trust.is_some() { 443 } else { 80 });
        let host = self.authority.host();
        let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
        Ok(match &self.trust {
            Some(trust) => Box::new(trust.shake(host, stream).await?),
            None => Box::new(stream),
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.trust.is_some() { "https" } else { "http" };
        write!(f, "{scheme}://{}", self.authority)
    }
}

/// The header with the token, if there is one. Errors do not contain the token.
fn authorization(common: &Common) -> Result<Option<HeaderValue>> {
    let token = match (&common.token_file, &common.token_env) {
        (Some(file), _) => {
            read_token(file).map_err(|problem| ClientError::Given(problem.to_string()))?
        }
        (None, Some(name)) => std::env::var(name).map_err(|_| {
            ClientError::Given(format!("--token-env: the environment variable {name} is not set"))
        })?,
        (None, None) => return Ok(None),
    };
    let mut value: HeaderValue = format!("Bearer {}", token.trim()).parse().map_err(|_| {
        ClientError::Given("the token has characters that no header can have".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}
