//! Reads the configuration from the command line and the environment.

mod access;
mod error;
mod settings;
pub(crate) mod store;
mod values;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::builder::BoolishValueParser;
use clap::{ArgAction, Parser, ValueEnum};
use mcp_proto::http::{self, Hosts, HttpConfig, Origins, Proxies};
use mcp_proto::stdio::StdioConfig;
use service_host::{EndpointError, Https, LogFormat, RequiredAuthorization, SharedKeys};
use universe_core::Strictness;

use crate::cli::Verb;
use crate::commands::{Keep, ServiceLimits};
use crate::engine;
use crate::mcp::ToolSet;
use crate::rest::RestConfig;

pub use access::AccessArgs;
pub use error::ConfigError;
pub use settings::{Settings, read};
pub use store::{InvalidStore, StoreKind, StoreUrl};
use values::{address, size, time};

/// The largest value for the limits of bodies and universes. Both together, and the data written with them, fit into
/// one write of the store. A body fits into one client's share of the memory for requests.
const MOST_BODY: ByteSize = ByteSize::mib(128);
const MOST_UNIVERSE: ByteSize = ByteSize::mib(96);

/// How long a server continues after the signal to end, by default, where other servers can take over.
const SHARED_DRAIN_WAIT: Duration = Duration::from_secs(5);

/// The default port to listen on.
const DEFAULT_PORT: u16 = 3001;

/// Star-system universes over REST and MCP.
///
/// Without arguments it listens on 127.0.0.1:3001 and keeps its universes in ./universe-data.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "universe-server",
    version,
    after_help = "Exit codes: 0 done, 1 not done (stderr says why), 2 wrong arguments, 3 `check` found damage or `diff` differences.\nA flag \
                  overrides its environment variable, which overrides the file of --config, which overrides the default.\nScopes of \
                  callers are read, write and admin, and for one universe universe:ID:read, universe:ID:write and universe:ID:admin."
)]
pub struct Arguments {
    /// A task to run instead of serving.
    #[command(subcommand)]
    pub verb: Option<Verb>,

    /// A TOML file with options, named as here without the leading dashes: listen = "localhost:3001". Relative paths in
    /// it start at its folder.
    #[arg(long, env = "UNIVERSE_CONFIG", global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The address to listen on, such as 127.0.0.1:3001 (the default) or localhost:3001; port 0 picks a free one. Not
    /// together with --stdio.
    #[arg(
        long,
        env = "UNIVERSE_LISTEN",
        value_name = "ADDRESS",
        value_parser = address
    )]
    pub listen: Option<SocketAddr>,

    /// The directory that keeps the universes; created if missing. With --stdio give an absolute path, because clients
    /// start the server in any directory.
    #[arg(
        long,
        env = "UNIVERSE_DATA_DIR",
        global = true,
        default_value = "universe-data",
        value_name = "DIR"
    )]
    pub data_dir: PathBuf,

    /// Where universes are kept: in the data directory (embedded), in memory until the exit, or where several servers
    /// may share them: in a PostgreSQL database (version 13 or newer), such as
    /// postgres://user:password@host/universes?sslmode=require (feature postgres), or in streams of NATS JetStream
    /// (version 2.12 or newer), such as nats://user:password@host,host2/universes?replicas=3 (feature nats). Packages
    /// and containers have the feature postgres; a program built from source has the features that cargo was given.
    /// Give a password in the environment or in the file of --config: other users of the machine can see arguments.
    #[arg(
        long,
        env = "UNIVERSE_STORE",
        hide_env_values = true,
        default_value = "embedded",
        value_name = "embedded|memory|URL"
    )]
    pub store: StoreKind,

    /// A file of certificate authorities (PEM) to trust for TLS to the database, instead of those of the system.
    /// Without it and without sslmode in the URL, a database on this machine that has no trusted certificate is reached
    /// without TLS.
    #[arg(long, env = "UNIVERSE_STORE_CA", value_name = "FILE")]
    pub store_ca: Option<PathBuf>,

    /// How much of each universe's history is kept: all, a number of revisions, or a time such as 12h, 30d or 1y. What
    /// is older is removed in the background; up to 1,024 revisions more are kept (more of large universes), and what
    /// idempotency keys of the last 24 hours need.
    #[arg(long, env = "UNIVERSE_KEEP_HISTORY", default_value = "all", value_name = "all|N|TIME")]
    pub keep_history: Keep,

    /// Adds the demo universe "sol", the solar system at the present time, if it does not exist.
    #[arg(long, env = "UNIVERSE_DEMO", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", default_value = "false", hide_default_value = true,
        hide_possible_values = true, value_name = "true|false", value_parser = BoolishValueParser::new())]
    pub demo: bool,

    /// Serves MCP on stdin and stdout instead of listening. If another process uses the data directory, shares its
    /// universes.
    #[arg(long, env = "UNIVERSE_STDIO", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", default_value = "false", hide_default_value = true,
        hide_possible_values = true, value_name = "true|false", value_parser = BoolishValueParser::new())]
    pub stdio: bool,

    /// Adds tools beyond the three that are required, so that a model can do with tools everything that REST can do:
    /// list, create, rename and delete universes, find entities, send several commands at once, read the history.
    #[arg(long, env = "UNIVERSE_EXTRA_TOOLS", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", default_value = "false", hide_default_value = true,
        hide_possible_values = true, value_name = "true|false", value_parser = BoolishValueParser::new())]
    pub extra_tools: bool,

    /// How the log on stderr is written. It has a line for each request: the caller, what was requested, the outcome
    /// and the time it took, never the contents. RUST_LOG=info,request=warn leaves these lines out.
    #[arg(long, env = "UNIVERSE_LOG", default_value = "text", value_enum)]
    pub log: LogFormat,

    /// Where a collector takes traces by OTLP (http/protobuf, without TLS), such as http://127.0.0.1:4318.
    #[cfg(feature = "otlp")]
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_name = "URL")]
    pub otlp: Option<String>,

    /// The largest body of a request over REST or MCP, such as 64MiB; at most 128MiB. A larger one gets 413. To import
    /// a universe by POST or PUT it must be somewhat larger than the universe. An import needs some seven times the
    /// universe's size in memory for a moment, and once more for its answer; other bodies need up to 128 MiB.
    #[arg(
        long,
        env = "UNIVERSE_MAX_BODY",
        default_value = "10MiB",
        value_name = "SIZE",
        value_parser = |text: &str| size(text, MOST_BODY)
    )]
    pub max_body: ByteSize,

    /// The largest universe as JSON, such as 64MiB; at most 96MiB. A larger one accepts only ticks and commands that
    /// make it smaller. The size is checked before a command, so one command may go beyond it. 40 MiB are some 100,000
    /// bodies. A universe in use takes up to four times its size in memory.
    #[arg(
        long,
        env = "UNIVERSE_MAX_UNIVERSE",
        default_value = "40MiB",
        value_name = "SIZE",
        value_parser = |text: &str| size(text, MOST_UNIVERSE)
    )]
    pub max_universe: ByteSize,

    /// How much memory clients may make the server use, such as 64MiB; one client at most half of it. The process needs
    /// more for itself: up to 48 KiB for each connection, four times the universes in use, and for moments as much
    /// again.
    #[arg(
        long,
        env = "UNIVERSE_MAX_MEMORY",
        default_value = "512MiB",
        value_name = "SIZE",
        value_parser = service_host::memory
    )]
    pub max_memory: ByteSize,

    /// How often a quiet event stream gets a comment, over MCP and REST, and after how long a quiet call becomes such a
    /// stream: from 1s to 30s. Shorter where clients or proxies end what is quiet for a few seconds.
    #[arg(
        long,
        env = "UNIVERSE_KEEP_ALIVE",
        default_value = "10s",
        value_name = "TIME",
        value_parser = service_host::keep_alive
    )]
    pub keep_alive: Duration,

    /// Whether metrics are served at /metrics: requests, commands, universes, feeds, memory.
    #[arg(long, env = "UNIVERSE_METRICS", default_value = "on", value_enum)]
    pub metrics: Switch,

    /// The longest answer that clients take, such as 9MiB: at least 64KiB. A universe up to this size is answered whole
    /// to get_universe_state, and of a larger one an outline unless `whole` is asked for; without the option up to
    /// 96KiB, as clients refuse more than 25,000 tokens. Over stdio a longer answer is an error that says how to ask
    /// for less; without the option above 8128KiB, as Codex ends the connection above 8 MiB and the TypeScript clients
    /// above 10 MiB. Where processes share a data directory, the option of the process that holds it counts.
    #[arg(
        long,
        env = "UNIVERSE_MAX_ANSWER",
        value_name = "SIZE",
        value_parser = service_host::answer_size
    )]
    pub max_answer: Option<ByteSize>,

    /// Refuses odd input, such as unknown members, a negative mass, and arguments that gateways add or that are objects
    /// as JSON text, instead of accepting it with warnings.
    #[arg(long, env = "UNIVERSE_STRICT", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", default_value = "false", hide_default_value = true,
        hide_possible_values = true, value_name = "true|false", value_parser = BoolishValueParser::new())]
    pub strict: bool,

    /// A web origin besides loopback whose pages may call the server, such as `https://app.example`; * for any.
    /// Repeatable.
    #[arg(long, env = "UNIVERSE_ALLOWED_ORIGIN", value_delimiter = ',', value_name = "URL")]
    pub allowed_origin: Vec<String>,

    /// A host name besides loopback that the server answers to; * for any. Repeatable. Needed to listen beyond
    /// loopback.
    #[arg(long, env = "UNIVERSE_ALLOWED_HOST", value_delimiter = ',', value_name = "HOST")]
    pub allowed_host: Vec<String>,

    /// The URL of this server as its clients know it, such as `https://universe.example`: for the server card at
    /// /mcp/server-card, and where clients are told to connect. Needed behind a proxy.
    #[arg(long, env = "UNIVERSE_PUBLIC_URL", value_name = "URL", value_parser = service_host::public_url)]
    pub public_url: Option<String>,

    /// The address or network of a proxy in front of the server, such as 10.0.0.7 or 10.0.0.0/8: its `Forwarded` or
    /// `X-Forwarded-For` says which client calls, so that each has its own share. Repeatable.
    #[arg(long, env = "UNIVERSE_TRUSTED_PROXY", value_delimiter = ',', value_name = "ADDRESS")]
    pub trusted_proxy: Vec<String>,

    /// Offers no tool that writes, and refuses REST requests that write. A data directory that cannot be written is
    /// served so, too.
    #[arg(long, env = "UNIVERSE_READ_ONLY", action = ArgAction::Set, num_args = 0..=1, require_equals = true,
        default_missing_value = "true", default_value = "false", hide_default_value = true,
        hide_possible_values = true, value_name = "true|false", value_parser = BoolishValueParser::new())]
    pub read_only: bool,

    /// How long the server continues after SIGTERM while /readyz answers 503, such as 10s or 1m, so that load balancers
    /// can send requests elsewhere before it ends; at most 10m. 5s by default where universes are in a database, else
    /// 0.
    #[arg(long, env = "UNIVERSE_DRAIN_WAIT", value_name = "TIME", value_parser = time)]
    pub drain_wait: Option<Duration>,

    /// Who may call over HTTP, and whether it is HTTPS.
    #[command(flatten)]
    pub access: AccessArgs,
}

/// Whether something is on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

/// The configuration that the arguments result in.
#[derive(Debug)]
pub struct Config {
    /// The directory that keeps the universes.
    pub data_dir: PathBuf,
    /// The limits and access rules of MCP over HTTP.
    pub mcp: HttpConfig,
    /// The limits of MCP over stdio.
    pub stdio: StdioConfig,
    /// The limits and access rules of REST.
    pub rest: RestConfig,
    /// Who may call over HTTP.
    pub callers: http::Callers,
    /// The authorization that callers need. `None` if they need none.
    pub asked: Option<RequiredAuthorization>,
    /// The configuration of HTTPS; `None` for HTTP.
    pub https: Option<Https>,
    /// The keys that are shared with other servers.
    pub keys: Option<SharedKeys>,
}

impl Arguments {
    /// The tools that are offered.
    pub fn tools(&self) -> ToolSet {
        if self.extra_tools { ToolSet::Extra } else { ToolSet::Core }
    }

    /// Returns the configuration that these arguments result in.
    ///
    /// # Errors
    /// [`ConfigError`], as a sentence for the person who gave the arguments.
    pub fn config(&self) -> Result<Config, ConfigError> {
        if self.stdio && self.listen.is_some() {
            return Err(ConfigError::StdioListens);
        }
        if let StoreKind::Shared(url) = &self.store {
            let checked = engine::check(url, self.store_ca.as_deref());
            checked.map_err(|problem| ConfigError::Store { url: url.to_string(), problem })?;
        }
        let hosts = self.hosts()?;
        let origins = self.origins()?;
        // Stdin and stdout, and the socket in the data directory, need no authorization.
        let (callers, asked, https) = if self.stdio {
            (http::Callers::Local, None, None)
        } else {
            let proxied = !(self.trusted_proxy.is_empty() && self.allowed_host.is_empty());
            let callers = self.access.asking.callers(self.address(), proxied)?;
            let https = self.access.tls.https().map_err(EndpointError::from)?;
            (callers, self.access.asking.asked()?, https)
        };
        let mut mcp = HttpConfig::default().memory(bytes(self.max_memory));
        mcp.max_body_bytes = bytes(self.max_body);
        mcp.keep_alive = self.keep_alive;
        mcp.authorization = asked.as_ref().map(RequiredAuthorization::authorization);
        mcp.hosts = hosts.clone();
        mcp.origins = origins.clone();
        mcp.proxies = Proxies::from_names(&self.trusted_proxy).map_err(ConfigError::Proxy)?;
        let mut stdio = StdioConfig::default();
        stdio.max_line_bytes = bytes(self.max_body);
        if let Some(max) = self.max_answer {
            stdio.max_answer_bytes = bytes(max);
        }
        let rest = RestConfig {
            hosts,
            origins,
            max_body_bytes: bytes(self.max_body),
            max_body_memory: mcp.max_body_memory,
            heartbeat: self.keep_alive,
            metrics: self.metrics == Switch::On,
            authorization: mcp.authorization.clone(),
            read_only: self.read_only,
            ..RestConfig::default()
        };
        Ok(Config {
            data_dir: self.data_dir.clone(),
            mcp,
            stdio,
            rest,
            callers,
            asked,
            https,
            keys: self.access.keys.open()?,
        })
    }

    /// Where a collector takes traces, as given.
    #[cfg(feature = "otlp")]
    pub(crate) fn collector(&self) -> Option<&str> {
        self.otlp.as_deref()
    }

    /// None: this program was built without traces.
    #[cfg(not(feature = "otlp"))]
    #[expect(clippy::unused_self, reason = "as with traces")]
    pub(crate) const fn collector(&self) -> Option<&str> {
        None
    }

    /// The limits of universes, and how strictly input is checked.
    pub fn limits(&self) -> ServiceLimits {
        let limits = ServiceLimits::default();
        ServiceLimits {
            max_universe_bytes: bytes(self.max_universe),
            max_unasked_bytes: self.max_answer.map_or(limits.max_unasked_bytes, bytes),
            strictness: if self.strict { Strictness::Strict } else { Strictness::Lenient },
            ..limits
        }
    }

    /// The address to listen on.
    pub fn address(&self) -> SocketAddr {
        self.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT)))
    }

    /// How long the server continues after the signal to end.
    pub fn drain_wait(&self) -> Duration {
        self.drain_wait.unwrap_or(match self.store {
            StoreKind::Shared(_) => SHARED_DRAIN_WAIT,
            StoreKind::Embedded | StoreKind::Memory => Duration::ZERO,
        })
    }

    fn hosts(&self) -> Result<Hosts, ConfigError> {
        if self.allowed_host.is_empty() {
            let local = self.stdio || self.address().ip().is_loopback();
            return if local {
                Ok(Hosts::Loopback)
            } else {
                Err(ConfigError::NeedsHost(self.address()))
            };
        }
        Hosts::from_names(&self.allowed_host).map_err(ConfigError::Host)
    }

    fn origins(&self) -> Result<Origins, ConfigError> {
        if self.allowed_origin.is_empty() {
            return Ok(Origins::Loopback);
        }
        Origins::from_urls(&self.allowed_origin).map_err(ConfigError::Origin)
    }
}

fn bytes(size: ByteSize) -> usize {
    usize::try_from(size.as_u64()).unwrap_or(usize::MAX)
}
