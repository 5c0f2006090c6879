//! Finds the project by the client's roots. They are used only if the working directory is not inside a project, and
//! only over pipes.

use std::path::PathBuf;

use mcp_proto::input::Root;
use mcp_proto::{Context, Interrupt};
use percent_encoding::percent_decode_str;

use super::failure::{Failure, NO_PROJECT};
use super::state::ServerState;
use crate::project::Project;

/// The most roots that are checked.
const MAX_ROOTS: usize = 32;

/// The key of the request for roots among the requests of a call.
const KEY: &str = "roots";

impl ServerState {
    /// Runs the work of a tool, prompt or resource, see [`ServerState::read`]. Without a project it asks the client for
    /// its roots first. List requests cannot ask.
    pub(super) async fn answer<T: Send + 'static, E: From<Interrupt> + From<Failure>>(
        &self,
        context: &Context,
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, E> {
        self.find_by_roots(context).await?;
        Ok(self.read(work).await?)
    }

    /// Asks the client for its roots if there is no project without them.
    pub(super) async fn find_by_roots(&self, context: &Context) -> Result<(), Interrupt> {
        let settings = self.settings();
        let may_ask = settings.use_roots && settings.repository.root.is_none();
        if !may_ask || !context.client_capabilities.has_roots() {
            return Ok(());
        }
        let missing = self.read(|state| state.project().map(drop)).await.err();
        if missing.is_none_or(|failure| failure.code != NO_PROJECT) {
            return Ok(());
        }
        let folders: Vec<PathBuf> =
            context.list_roots(KEY)?.iter().take(MAX_ROOTS).filter_map(folder).collect();
        let found = self.read(move |state| {
            let mut holding = folders.into_iter().filter(|folder| Project::open(folder).is_ok());
            if let Some(folder) = holding.next() {
                *state.root() = Some(folder);
            }
            Ok(())
        });
        // If none is a project, the tool reports that no project was found.
        drop(found.await);
        Ok(())
    }
}

/// The folder of a root. The root must be a `file://` URI of this machine with an absolute path.
fn folder(root: &Root) -> Option<PathBuf> {
    let rest = root.uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let path = PathBuf::from(&*path);
    (path.is_absolute() && !rest.contains(['?', '#'])).then_some(path)
}
