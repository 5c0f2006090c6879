//! The arguments that set where a server listens and who may call it.

mod asking;
mod keys;
mod reload;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use mcp_proto::http::{Callers, Hosts, HttpConfig, InvalidName, InvalidProxy, Origins, Proxies};

use crate::snippet::public_url;
use crate::tls::{Tls, TlsError};
pub use asking::{Asking, Local, RequiredAuthorization, read_token};
pub(crate) use asking::{READ, WRITE};
pub use keys::{KeysFile, SharedKeys};

/// The least and the most that clients may be given.
const LEAST_MEMORY: ByteSize = ByteSize::mib(32);
const MOST_MEMORY: ByteSize = ByteSize::tib(1);

/// The longest time that an event stream may be quiet. Proxies commonly allow a minute, readers of ours 45 seconds.
const MOST_QUIET: Duration = Duration::from_secs(30);
/// The least and the most bytes of an answer over stdio.
const LEAST_ANSWER: ByteSize = ByteSize::kib(64);
const MOST_ANSWER: ByteSize = ByteSize::gib(1);

/// Where the server is reached: on stdin and stdout unless it listens.
#[derive(Debug, Clone, Default, Args)]
pub struct EndpointArgs {
    /// Listens on this address instead of serving stdin and stdout; port 0 picks a free one.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "port")]
    pub listen: Option<SocketAddr>,

    /// Listens on this port of 127.0.0.1.
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// A host name besides loopback that the server answers to; * for any. Repeatable. Needed to listen beyond
    /// loopback.
    #[arg(long, value_delimiter = ',', value_name = "HOST")]
    pub allowed_host: Vec<String>,

    /// The URL of this server as its clients know it, without /mcp, such as `https://tools.example`: for the server
    /// card at /mcp/server-card, and where clients connect. Needed behind a proxy.
    #[arg(long, value_name = "URL", value_parser = public_url)]
    pub public_url: Option<String>,

    /// A web origin besides loopback whose pages may call the server, such as `https://app.example`; * for any.
    /// Repeatable.
    #[arg(long, value_delimiter = ',', value_name = "URL")]
    pub allowed_origin: Vec<String>,

    /// The address or network of a proxy in front of the server, such as 10.0.0.7 or 10.0.0.0/8: its `Forwarded` or
    /// `X-Forwarded-For` says which client calls, so that each has its own share. Repeatable.
    #[arg(long, value_delimiter = ',', value_name = "ADDRESS")]
    pub trusted_proxy: Vec<String>,

    /// How much memory clients may make the server hold, such as 64MiB; one client at most half of it. The process
    /// needs its own on top, up to 48 KiB for each connection, and for moments as much again. 512MiB by default.
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub max_memory: Option<ByteSize>,

    /// How often a quiet event stream gets a comment, and after how long a quiet call becomes such a stream: from 1s to
    /// 30s. Shorter where clients or proxies end what is quiet for a few seconds. 10s by default.
    #[arg(long, value_name = "TIME", value_parser = keep_alive)]
    pub keep_alive: Option<Duration>,

    /// The longest answer over stdio, such as 9MiB: at least 64KiB, 8128KiB by default. A longer one is an error that
    /// says how to ask for less. Clients end the connection at longer ones: Codex above 8 MiB, the TypeScript clients
    /// above 10 MiB.
    #[arg(long, value_name = "SIZE", value_parser = answer_size)]
    pub max_answer: Option<ByteSize>,

    /// Refuses arguments that gateways such as n8n add, and objects as JSON text, instead of accepting them with
    /// warnings.
    #[arg(long)]
    pub strict: bool,

    /// Offers only tools that are declared read-only.
    #[arg(long)]
    pub read_only: bool,

    /// Who may call.
    #[command(flatten)]
    pub asking: Asking,

    /// The options of HTTPS.
    #[command(flatten)]
    pub tls: Tls,

    /// The keys that it shares with other servers.
    #[command(flatten)]
    pub keys: KeysFile,
}

/// Invalid arguments of [`EndpointArgs`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The server would listen on the network without a host name.
    #[error(
        "{0} is reachable from other machines: name the hosts it is called by with --allowed-host (or * for any), \
         or listen on a loopback address"
    )]
    NeedsHost(SocketAddr),
    /// The server would listen on the network without authorization.
    #[error(
        "{0} is reachable from other machines: say who may call, with a file of tokens (--token-file or \
         --auth-token-file), an authorization server (--oauth-issuer), or --allow-anyone, or listen on a loopback address"
    )]
    NeedsToken(SocketAddr),
    /// A proxy may bring others to a server on loopback without authorization.
    #[error(
        "--trusted-proxy and --allowed-host are for a server that others reach through a proxy, as {0} then is: say who \
         may call, with a file of tokens (--token-file or --auth-token-file), an authorization server (--oauth-issuer), \
         or --allow-anyone"
    )]
    Proxied(SocketAddr),
    /// All callers are allowed, but tokens are required, too.
    #[error(
        "with --allow-anyone no caller needs a token: leave it out, or --token-file, --auth-token-file and --oauth-issuer"
    )]
    TwoDecisions,
    /// Some of the options of the authorization server are missing.
    #[error("--oauth-issuer, --oauth-audience and --oauth-jwks go together: give all three")]
    Incomplete,
    /// Not an origin.
    #[error("--allowed-origin {0}")]
    Origin(InvalidName),
    /// Not a host.
    #[error("--allowed-host {0}")]
    Host(InvalidName),
    /// A proxy that is not an address or a network.
    #[error("--trusted-proxy {0}")]
    Proxy(InvalidProxy),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The token cannot be read.
    #[error("--token-file {file}: {problem}; it needs one line with the token")]
    Token {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The hashes of tokens cannot be read.
    #[error("--auth-token-file {file}: {problem}")]
    Tokens {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The keys that servers share cannot be used.
    #[error("--keys-file {file}: {problem}")]
    SharedKeys {
        /// The file.
        file: String,
        /// What is wrong with it, and what is expected.
        problem: String,
    },
    /// The keys of the authorization server cannot be loaded.
    #[error("--oauth-jwks {0}")]
    Keys(String),
}

/// How much memory clients may make a server hold, given with or without a unit.
///
/// # Errors
/// The accepted values, in a sentence for the person who gave it.
pub fn memory(text: &str) -> Result<ByteSize, String> {
    size(text, "256MiB", LEAST_MEMORY..=MOST_MEMORY)
}

/// How often a quiet event stream gets a comment, given in seconds such as `10s`.
///
/// # Errors
/// The accepted values, in a sentence for the person who gave it.
pub fn keep_alive(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').and_then(|seconds| seconds.parse().ok());
    let seconds = seconds.filter(|seconds| (1..=MOST_QUIET.as_secs()).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| {
        format!("a time is a number of seconds, such as 5s: from 1s to {}s", MOST_QUIET.as_secs())
    })
}

/// The longest answer over stdio, given with or without a unit.
///
/// # Errors
/// The accepted values, in a sentence for the person who gave it.
pub fn answer_size(text: &str) -> Result<ByteSize, String> {
    size(text, "9MiB", LEAST_ANSWER..=MOST_ANSWER)
}

fn size(text: &str, example: &str, range: RangeInclusive<ByteSize>) -> Result<ByteSize, String> {
    text.parse().ok().filter(|size| range.contains(size)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        format!("a size is a number with a unit, such as {example}: from {least} to {most}")
    })
}

impl EndpointArgs {
    /// Whether other machines can reach the server and callers need no authorization: [`Host::run`](crate::Host::run)
    /// refuses that.
    pub fn is_open(&self) -> bool {
        let callers = self.address().map(|address| self.callers(address));
        matches!(callers, Some(Err(EndpointError::NeedsToken(_) | EndpointError::Proxied(_))))
    }

    /// The address to listen on; `None` for stdin and stdout.
    pub fn address(&self) -> Option<SocketAddr> {
        let port = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
        self.listen.or_else(|| self.port.map(port))
    }

    fn callers(&self, address: SocketAddr) -> Result<Callers, EndpointError> {
        let proxied = !(self.trusted_proxy.is_empty() && self.allowed_host.is_empty());
        self.asking.callers(address, proxied)
    }

    /// Sets the hosts, origins and authorization of `config`, and returns who may call.
    ///
    /// # Errors
    /// [`EndpointError`], in a sentence for the person who gave the arguments.
    pub(crate) fn guard(
        &self,
        address: SocketAddr,
        config: &mut HttpConfig,
    ) -> Result<Callers, EndpointError> {
        config.hosts = if !self.allowed_host.is_empty() {
            Hosts::from_names(&self.allowed_host).map_err(EndpointError::Host)?
        } else if address.ip().is_loopback() {
            Hosts::Loopback
        } else {
            return Err(EndpointError::NeedsHost(address));
        };
        if let Some(memory) = self.max_memory {
            let memory = usize::try_from(memory.as_u64()).unwrap_or(usize::MAX);
            *config = std::mem::take(config).memory(memory);
        }
        config.keep_alive = self.keep_alive.unwrap_or(config.keep_alive);
        let callers = self.callers(address)?;
        config.proxies = Proxies::from_names(&self.trusted_proxy).map_err(EndpointError::Proxy)?;
        if !self.allowed_origin.is_empty() {
            config.origins =
                Origins::from_urls(&self.allowed_origin).map_err(EndpointError::Origin)?;
        }
        Ok(callers)
    }
}
