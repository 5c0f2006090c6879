//! The sessions of MCP clients with a handshake, for a server that shares them with no other: in a file beside the
//! universes, or in memory.

use std::path::Path;
use std::sync::Arc;

use mcp_proto::session::{FileSessions, SessionStore};
use service_host::run_blocking;

use crate::config::{Arguments, StoreKind};
use crate::metrics;

/// The name of the file in the data directory.
const FILE: &str = "sessions.db";

/// Sessions in a file, if there is one.
pub(super) struct Sessions(Option<Arc<FileSessions>>);

impl Sessions {
    /// A file that cannot be used is reported, and does not keep the server from starting: universes matter more.
    pub(super) async fn open(arguments: &Arguments, data_dir: &Path) -> Self {
        if !matches!(arguments.store, StoreKind::Embedded) {
            return Self(None);
        }
        let path = data_dir.join(FILE);
        match run_blocking(move || FileSessions::open(path)).await {
            Ok(Ok(sessions)) => {
                if !sessions.is_empty() {
                    tracing::info!(count = sessions.len(), "sessions of MCP clients continue");
                }
                let sessions = Arc::new(sessions);
                let counted = Arc::clone(&sessions);
                metrics::count_sessions(move || counted.len());
                Self(Some(sessions))
            }
            Ok(Err(error)) => Self::in_memory(&error),
            Err(error) => Self::in_memory(&error),
        }
    }

    fn in_memory(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "sessions of MCP clients will end with this process");
        Self(None)
    }

    pub(super) fn store(&self) -> Arc<dyn SessionStore> {
        match &self.0 {
            Some(sessions) => Arc::clone(sessions) as Arc<_>,
            None => metrics::sessions(),
        }
    }

    /// Releases the file for the next server.
    pub(super) async fn close(self) {
        if let Some(sessions) = self.0
            && let Err(error) = run_blocking(move || sessions.close()).await
        {
            tracing::error!(%error, "the file of sessions was not closed");
        }
    }
}
