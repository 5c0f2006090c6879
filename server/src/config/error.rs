//! What is wrong with the arguments.

use std::net::SocketAddr;

use mcp_proto::http::{InvalidName, InvalidProxy};
use service_host::EndpointError;

/// Invalid arguments.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file with options is invalid.
    #[error("{place}: {problem}")]
    File {
        /// The file and the line of the error.
        place: String,
        /// What is wrong, and what would be valid.
        problem: String,
    },
    /// The server is to listen to the network, but no host name was given.
    #[error(
        "{0} is reachable from other machines: name the hosts it is called by with --allowed-host (or * for any), \
         or listen on a loopback address"
    )]
    NeedsHost(SocketAddr),
    /// Both `--stdio` and an address to listen on.
    #[error(
        "--stdio serves on stdin and stdout and does not listen: leave out --listen (or UNIVERSE_LISTEN), or start \
         another server that listens on the same data directory"
    )]
    StdioListens,
    /// The URL of a database is invalid.
    #[error("--store {url}: {problem}")]
    Store {
        /// Its URL, without a password.
        url: String,
        /// What is wrong, and what would be valid.
        problem: String,
    },
    /// The URL of the collector is invalid.
    #[error(
        "--otlp {0:?}: a collector is named by a URL without TLS, such as http://127.0.0.1:4318"
    )]
    Collector(String),
    /// The authorization options are missing, contradictory or unreadable.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// Not a valid origin.
    #[error("--allowed-origin {0}")]
    Origin(InvalidName),
    /// Not a valid host.
    #[error("--allowed-host {0}")]
    Host(InvalidName),
    /// A proxy that is neither an address nor a network.
    #[error("--trusted-proxy {0}")]
    Proxy(InvalidProxy),
}
