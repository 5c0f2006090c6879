//! The server of the contract: created without reading a file, then given its map, then run.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcp_proto::{BuildError, Server};
use service_host::{EndpointArgs, Host, HostError};
use tokio_util::sync::CancellationToken;

use crate::files::FileError;
use crate::load::{self, LoadError, Losses};
use crate::map::Map;
use crate::{activity, connections};

use super::feed::{self, FeedSource};
use super::loaded::{offer_live, take_activity, take_connections, take_map};
use super::reload::{self, Sources};
use super::universe::{Source, Universe};
use super::{completion, prompts, resources, tools};

/// The name of the server on the wire.
pub const SERVER_NAME: &str = "aria-universe";

const INSTRUCTIONS: &str = "The star map of New Eden. Systems are given by name in any case, or by id; an unknown one is \
    answered with suggestions. Security classes go by the unrounded status: high from 0.45, low above 0, else null. Lists \
    are rows under columns; detail full gives all of each system, names its name alone. Read warnings first: they say \
    what is dangerous, old or missing, and why a list is empty. Without activity data (options --activity and --feed) nothing is known of kills. \
    starmap://region/NAME and its like are places to read, starmap://picture/route/FROM/TO is a picture.";

/// An MCP server for queries of one map.
#[derive(Debug)]
pub struct UniverseServer {
    graph_path: PathBuf,
    activity_path: Option<PathBuf>,
    connections_path: Option<PathBuf>,
    feed: Option<FeedSource>,
    losses: Losses,
    universe: Universe,
    server: Server,
}

/// Why a server could not run, as a sentence for the operator.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The map cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A tool with a schema that cannot be served.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// It cannot be served at this endpoint.
    #[error(transparent)]
    Host(#[from] HostError),
    /// The system could not start a thread or watch signals.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl UniverseServer {
    /// A server with its tools, resources and prompts registered, but without a map: no file is read. The path of the
    /// map is the argument, else the result of [`graph_path`](load::graph_path()).
    ///
    /// # Errors
    /// A tool with a schema that cannot be served. A test proves that no tool has one.
    pub fn new(graph_path: Option<&Path>) -> Result<Self, BuildError> {
        let universe = Universe::default();
        let server = register(universe.clone())?;
        offer_live(&universe, &server);
        Ok(Self {
            graph_path: load::graph_path(graph_path),
            activity_path: None,
            connections_path: None,
            feed: None,
            losses: Losses::default(),
            server,
            universe,
        })
    }

    /// The same with an activity overlay from a dump, which [`activity::load`] reads.
    #[must_use]
    pub fn with_activity(mut self, path: impl Into<PathBuf>) -> Self {
        self.activity_path = Some(path.into());
        self
    }

    /// The same, and this happens to a map that has lost much of itself, now and when it is read again.
    #[must_use]
    pub fn with_losses(mut self, losses: Losses) -> Self {
        self.losses = losses;
        self
    }

    /// The same with the killmails of a feed that is followed while the server runs.
    #[must_use]
    pub fn with_feed(mut self, source: FeedSource) -> Self {
        self.feed = Some(source);
        self
    }

    /// The same with connections besides the gates from a file, which [`connections::load`] reads.
    #[must_use]
    pub fn with_connections(mut self, path: impl Into<PathBuf>) -> Self {
        self.connections_path = Some(path.into());
        self
    }

    /// The path of its map.
    pub fn graph_path(&self) -> &Path {
        &self.graph_path
    }

    /// Its map, once it is loaded.
    pub fn universe(&self) -> Option<Arc<Map>> {
        self.universe.map()
    }

    /// The MCP server. A tool call before the map is loaded returns `UNIVERSE_ERROR`.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Loads the map. Left-out entries are reported in the log. Blocks while it reads.
    ///
    /// # Errors
    /// [`LoadError`]. A map that was loaded before is kept.
    pub fn load_graph(&self) -> Result<(), LoadError> {
        take_map(&self.universe, load::load_with(&self.graph_path, self.losses)?);
        Ok(())
    }

    /// Loads the overlay, if its path is set. Blocks while it reads.
    ///
    /// # Errors
    /// [`FileError`]. An overlay that was loaded before is kept.
    pub fn load_activity(&self) -> Result<(), FileError> {
        if let Some(path) = &self.activity_path {
            take_activity(&self.universe, &self.server, Some(activity::load(path)?));
        }
        Ok(())
    }

    /// Loads the connections, if their path is set. Blocks while it reads.
    ///
    /// # Errors
    /// [`FileError`]. Connections that were loaded before are kept.
    pub fn load_connections(&self) -> Result<(), FileError> {
        if let Some(path) = &self.connections_path {
            take_connections(&self.universe, connections::load(path)?);
        }
        Ok(())
    }

    /// Loads the map first, then serves it at `endpoint` until `stop` or until the client ends. The files are loaded
    /// again when they change. A broken file is reported in the log, and its old contents are kept. If the overlay or
    /// the connections cannot be read at the start, the log says so, and everything that does not need them works.
    ///
    /// # Errors
    /// [`RunError`]
    pub async fn run(
        self,
        endpoint: &EndpointArgs,
        stop: CancellationToken,
    ) -> Result<(), RunError> {
        // Created before reading, so that a write during the read counts as new.
        let sources = Sources::new(
            &self.graph_path,
            self.activity_path.as_deref(),
            self.connections_path.as_deref(),
            self.losses,
        );
        let (server, universe) = (self.server.clone(), self.universe.clone());
        let feed = self.feed.clone().map(|source| {
            let feed = Arc::default();
            universe.follow(Arc::clone(&feed));
            offer_live(&universe, &server);
            feed::follow(source, feed)
        });
        let feed = feed.transpose()?;
        tokio::task::spawn_blocking(move || {
            self.load_graph()?;
            let read = [
                (Source::Activity, self.load_activity()),
                (Source::Connections, self.load_connections()),
            ];
            for (source, error) in read.into_iter().filter_map(|(it, read)| Some((it, read.err()?)))
            {
                let problem = format!("{source} could not be read: {error}");
                tracing::warn!("{problem}");
                self.universe.report(source, Some(problem));
            }
            Ok::<(), LoadError>(())
        })
        .await
        .map_err(io::Error::other)??;
        let following = tokio::spawn(reload::follow(sources, universe, server.downgrade()));
        let served = Host::default().run(server, endpoint, SERVER_NAME, stop).await;
        following.abort();
        drop(feed);
        Ok(served?)
    }
}

/// Everything that the server offers.
fn register(universe: Universe) -> Result<Server, BuildError> {
    let builder = Server::builder(SERVER_NAME, env!("CARGO_PKG_VERSION"), universe.clone())
        .title("Star map of New Eden")
        .instructions(INSTRUCTIONS);
    let builder = completion::add(prompts::add(resources::add(tools::add(builder, universe))));
    service_host::guard(builder).build()
}
