//! Holding the data directory: the store in it and the service over it, from opening to closing.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use service_host::run_blocking;
use tokio::task::JoinHandle;
use universe_core::State;

use super::RunError;
use crate::care::Online;
use crate::commands::{CommandService, ServiceError};
use crate::config::{Arguments, Config, StoreKind};
use crate::demo;
use crate::engine::{self, Shared};
use crate::store::sqlite::{OpenError, Options};
use crate::store::{MemoryLimits, MemoryStore, ReadError, Revision, SqliteStore, UniverseId};

/// The longest time that a shared store may take to record that this server has ended.
const LEAVE_TIME: Duration = Duration::from_secs(2);

/// An open store and the service over it.
pub(super) struct Backend {
    pub(super) service: CommandService,
    /// `None` if the universes are not in a data directory.
    store: Option<Arc<SqliteStore>>,
    /// The MCP data that is stored in a shared store.
    pub(super) shared: Option<Shared>,
    /// Notifies other servers that this one has ended.
    leave: Option<BoxFuture<'static, ()>>,
    /// The task that trims histories.
    retention: JoinHandle<()>,
}

impl Backend {
    /// Opens the store, and creates the demo universe if requested.
    pub(super) async fn open(arguments: &Arguments, config: &Config) -> Result<Self, RunError> {
        let limits = arguments.limits();
        let (service, store, shared, leave) = match &arguments.store {
            StoreKind::Memory => {
                let store = Arc::new(MemoryStore::new(MemoryLimits::default()));
                (CommandService::new(store, limits), None, None, None)
            }
            StoreKind::Shared(url) => {
                let opened = engine::open_with_sessions(url, arguments.store_ca.as_deref()).await;
                let opened = opened
                    .map_err(|problem| RunError::Database { url: url.to_string(), problem })?;
                let service = CommandService::new(opened.store, limits);
                (service, None, opened.shared, opened.leave)
            }
            StoreKind::Embedded => {
                let store = Arc::new(open_embedded(&config.data_dir, arguments.read_only).await?);
                let service = CommandService::new(Arc::clone(&store) as Arc<_>, limits);
                (service, Some(store), None, None)
            }
        };
        let (kept, keep) = (service.clone(), arguments.keep_history);
        let retention = tokio::spawn(async move { kept.keep_history(keep).await });
        let backend = Self { service, store, shared, leave, retention };
        if arguments.demo
            && let Err(error) = make_demo(&backend.service).await
        {
            backend.close().await;
            return Err(error);
        }
        Ok(backend)
    }

    /// Executes requests that arrive at the socket. `None` if the universes are not in a data directory.
    pub(super) fn online(&self) -> Option<Online> {
        let store = self.store.as_ref()?;
        Some(Online::new(self.service.clone(), Arc::clone(store)))
    }

    /// Resolves if the store can no longer work.
    pub(super) fn failed(&self) -> impl Future<Output = ()> + Send + use<> {
        let ended = self.store.as_ref().map(|store| store.ended());
        async move {
            match ended {
                Some(ended) => ended.await,
                None => std::future::pending().await,
            }
        }
    }

    /// Makes accepted commands durable and releases the directory, even if the service is still in use. Takes no longer
    /// than the limits of [`CommandService::close`] and [`SqliteStore::close`].
    pub(super) async fn close(self) {
        self.retention.abort();
        self.service.close().await;
        if let Some(leave) = self.leave {
            // Other servers otherwise notice by a timeout.
            let _ = tokio::time::timeout(LEAVE_TIME, leave).await;
        }
        if let Some(store) = self.store
            && let Err(error) = run_blocking(move || store.close()).await
        {
            tracing::error!(%error, "the store was not closed");
        }
    }
}

/// Opens the store outside the runtime's threads, because opening may include recovery after a crash.
/// A directory in which nothing can be written is served if nothing is to be written.
async fn open_embedded(dir: &Path, read_only: bool) -> Result<SqliteStore, RunError> {
    let dir = dir.to_owned();
    let open = move || match SqliteStore::open(&dir, Options::default()) {
        Err(OpenError::Unwritable { reason, .. }) if read_only => {
            tracing::warn!(dir = %dir.display(), %reason, "the data directory is only read");
            SqliteStore::open_read_only(&dir, Options::default())
        }
        opened => opened,
    };
    Ok(run_blocking(open).await.map_err(io::Error::other)??)
}

async fn make_demo(service: &CommandService) -> Result<(), RunError> {
    let wrong = |problem: &dyn std::fmt::Display| RunError::Demo(problem.to_string());
    let id = UniverseId::new(demo::ID).map_err(|problem| wrong(&problem))?;
    let sol_at = |time| {
        let state = demo::sol_at(time).map_err(|problem| wrong(&problem))?;
        State::from_value(state).map_err(|problem| wrong(&problem))
    };
    if service.store().record(&id).await == Err(ReadError::NotFound) {
        match service.create(id, demo::NAME.to_owned(), sol_at(demo::now())?).await {
            Ok(_) | Err(ServiceError::Exists(_)) => return Ok(()),
            Err(error) => return Err(wrong(&error)),
        }
    }
    // It exists from an earlier start, with all changes since then.
    if let Ok(begun) = service.at(&id, Revision::GENESIS).await
        && begun.state != sol_at(begun.state.time())?
    {
        tracing::info!(
            universe = %id,
            "the demo universe is one of another version, or of your own, and is left as it is: to have the present one, \
             delete it (DELETE /universes/{id}) and start again with --demo"
        );
    }
    Ok(())
}
