//! The configuration of the HTTP transport, and its defaults.

use std::net::IpAddr;
use std::time::Duration;

use super::authorize::Authorization;
use super::card::ServerCard;
use super::forwarded::Proxies;
use super::serve::{Callers, ServeConfig};
use crate::budget::{Bound, BudgetConfig};
use crate::json::MAX_TREE_BYTES;
use crate::legacy::http::config::LegacyConfig;

/// The bounds and the access rules of a [`StreamableHttpService`](super::StreamableHttpService).
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct HttpConfig {
    /// The `Host` names that the server accepts, against DNS rebinding. Loopback names by default.
    pub hosts: Hosts,
    /// The origins of web pages that may call the server and read its answers (CORS). Loopback origins by default.
    pub origins: Origins,
    /// The largest body of a POST in bytes; a larger one gets 413. 4 MiB by default.
    pub max_body_bytes: usize,
    /// The most bytes of memory that a body may take after it is parsed as JSON, which is up to a hundred times its
    /// length. A body that takes more gets 413. [`MAX_TREE_BYTES`](crate::json::MAX_TREE_BYTES), 128 MiB, by default.
    pub max_body_memory: usize,
    /// How long the body of a POST may take to arrive; then 408. 30 s by default.
    ///
    /// The rest of a refused body is read for the same time again, at most 256 MiB, so that the client receives the
    /// refusal.
    pub body_timeout: Duration,
    /// How often an idle event stream gets a comment line, and after how long a call without output becomes such a
    /// stream, if the client accepts one. 10 s by default: some clients and proxies end what is quiet for longer.
    pub keep_alive: Duration,
    /// The proxies in front of the server. Their clients are distinguished by `Forwarded` or `X-Forwarded-For`. None by
    /// default.
    pub proxies: Proxies,
    /// How much clients may make the service hold, each and all together. More gets 429 or 503.
    pub budget: BudgetConfig,
    /// How callers are authorized. `None` by default: any client that reaches the server may call.
    /// [`serve`](super::serve) then accepts other machines only after a [decision](ServeConfig::callers).
    pub authorization: Option<Authorization>,
    /// How the server describes itself to clients that have not connected yet. `None` by default: the schema of such
    /// cards (SEP-2127) is not published yet.
    pub card: Option<ServerCard>,
    /// The bounds of the revisions up to 2025-11-25.
    pub legacy: LegacyConfig,
}

/// The `Host` values that a request may have.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hosts {
    /// `localhost`, `127.0.0.0/8` and `[::1]`, with any port.
    Loopback,
    /// Loopback names and these, compared without port and case.
    List(Vec<String>),
    /// Any host, if a proxy in front of the server checks.
    Any,
}

/// The `Origin` values that a request may have. A request without one does not come from a web page.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origins {
    /// `http` and `https` pages from loopback hosts, with any port.
    Loopback,
    /// Loopback pages and these origins, such as `https://app.example`.
    List(Vec<String>),
    /// Any origin: every web page may read the server's answers.
    Any,
}

/// A text that is not a host name, or not an origin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidName {
    /// Not a host.
    #[error("{0:?} is not a host name: give it without scheme and path, such as tools.example")]
    Host(String),
    /// Not an origin.
    #[error(
        "{0:?} is not an origin: give scheme and host, such as https://app.example, without a path"
    )]
    Origin(String),
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            hosts: Hosts::Loopback,
            origins: Origins::Loopback,
            max_body_bytes: 4 * 1024 * 1024,
            max_body_memory: MAX_TREE_BYTES,
            body_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(10),
            proxies: Proxies::default(),
            budget: BudgetConfig::default(),
            authorization: None,
            card: None,
            legacy: LegacyConfig::default(),
        }
    }
}

impl HttpConfig {
    /// The same with any of its public fields set: `HttpConfig::default().with(|it| it.max_body_bytes = 65_536)`.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    /// How much memory clients may make a server hold by default, in bytes: 512 MiB.
    pub const MEMORY: usize = 512 * 1024 * 1024;

    /// How to serve an endpoint with this configuration: with its proxies, and to [authorized](Callers::Authorized)
    /// callers if it requires authorization.
    pub fn serving(&self) -> ServeConfig {
        ServeConfig {
            callers: match self.authorization {
                Some(_) => Callers::Authorized,
                None => Callers::Local,
            },
            proxies: self.proxies.clone(),
            ..ServeConfig::default()
        }
    }

    /// Sets the bounds in bytes so that they fit into this much memory: half of it for requests, a quarter for answers
    /// that are not read yet, an eighth for events that are kept; the rest is for data that is too small to be counted.
    /// One client may have half of each, and one message at most what one client may have for requests.
    ///
    /// A process needs more: its own memory, up to 48 KiB for each connection, the application's data, and memory that
    /// the allocator has not released yet. Under an attack with large messages the last was as much again.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.budget.request_bytes = Bound::of(bytes / 2);
        self.budget.answer_bytes = Bound::of(bytes / 4);
        self.legacy.kept_bytes = Bound::of(bytes / 8);
        self.max_body_memory = self.budget.request_bytes.share.min(MAX_TREE_BYTES);
        self
    }
}

impl Hosts {
    /// The hosts that a list from a command line allows: these names and loopback names, or any host if `*` is listed.
    ///
    /// # Errors
    /// [`InvalidName::Host`] for the first that is not a host name.
    pub fn from_names(names: &[String]) -> Result<Self, InvalidName> {
        if names.iter().any(|name| name == "*") {
            return Ok(Self::Any);
        }
        let wrong = |name: &&String| name.is_empty() || name.contains(['/', '@', ' ']);
        match names.iter().find(wrong) {
            Some(name) => Err(InvalidName::Host(name.clone())),
            None => Ok(Self::List(names.to_vec())),
        }
    }

    /// Whether a request for `authority` (host and perhaps port) is for this server.
    #[must_use]
    pub fn allow(&self, authority: &str) -> bool {
        let host = host_of(authority);
        match self {
            Self::Any => true,
            Self::Loopback => is_loopback(host),
            Self::List(names) => {
                is_loopback(host)
                    || names.iter().any(|name| host_of(name).eq_ignore_ascii_case(host))
            }
        }
    }
}

impl Origins {
    /// The origins that a list from a command line allows: these and loopback origins, or any origin if `*` is listed.
    ///
    /// # Errors
    /// [`InvalidName::Origin`] for the first that is not an origin.
    pub fn from_urls(urls: &[String]) -> Result<Self, InvalidName> {
        if urls.iter().any(|url| url == "*") {
            return Ok(Self::Any);
        }
        match urls.iter().find(|url| !is_origin(url)) {
            Some(url) => Err(InvalidName::Origin(url.clone())),
            None => Ok(Self::List(urls.to_vec())),
        }
    }

    /// Whether a page of this origin may call.
    #[must_use]
    pub fn allow(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => is_loopback_origin(origin),
            Self::List(origins) => {
                is_loopback_origin(origin)
                    || origins
                        .iter()
                        .any(|listed| listed.trim_end_matches('/').eq_ignore_ascii_case(origin))
            }
        }
    }
}

/// The host of an authority, without its port; an IPv6 address without its brackets. Any other text is returned
/// unchanged, and no list contains it.
fn host_of(authority: &str) -> &str {
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((address, rest)) = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'))
    {
        let ends_well = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
        return if ends_well { address } else { authority };
    }
    let host = authority.trim_end_matches(|digit: char| digit.is_ascii_digit());
    match host.strip_suffix(':') {
        // More than one colon and no brackets: an IPv6 address as it stands in a list.
        Some(host) if host.bytes().all(|byte| byte != b':') => host,
        _ => authority,
    }
}

/// Scheme and authority, optionally followed by a slash.
fn is_origin(url: &str) -> bool {
    url.split_once("://").is_some_and(|(scheme, host)| {
        let host = host.strip_suffix('/').unwrap_or(host);
        !scheme.is_empty() && !host.is_empty() && !host.contains(['/', '?', '#', '@', ' '])
    })
}

fn is_loopback(host: &str) -> bool {
    // The most frequent of them needs no reading.
    host == "127.0.0.1"
        || host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn is_loopback_origin(origin: &str) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority
        .is_some_and(|authority| !authority.contains(['/', '@']) && is_loopback(host_of(authority)))
}
