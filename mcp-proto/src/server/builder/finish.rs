//! Builds the server from the collected parts.

use std::sync::{Arc, Mutex, RwLock};

use serde_json::value::to_raw_value;
use tokio::sync::Semaphore;

use super::super::changes::Changes;
use super::super::rounds::config::Rounds;
use super::super::{Inner, Server, wire};
use super::{BuildError, ServerBuilder};
use crate::app;
use crate::budget::processors;
use crate::content;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::lifecycle::{EXTENSION_TASKS, ListCapability, ServerCapabilities, Settings};
use crate::seal::Keys;
use crate::task::Tasks;
use crate::version::ProtocolVersion;

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// The server.
    ///
    /// # Errors
    /// [`BuildError`]: for the first thing that cannot be served.
    pub fn build(mut self) -> Result<Server, BuildError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        content::check_icons(&self.info.icons).map_err(BuildError::Server)?;
        self.check_extensions()?;
        self.offered.settle(self.tasks.is_some())?;
        self.offered.check_needs()?;
        if self.offered.uses_apps() {
            let settings = self.extensions.entry(app::UI_EXTENSION);
            settings.or_insert_with(|| Settings::new().into());
        }
        let capabilities = self.capabilities();
        let unfit =
            |_| BuildError::Server("the server's description cannot be serialised".to_owned());
        let info_json = to_raw_value(&self.info).map_err(unfit)?;
        let discover = Payload::of(&wire::DiscoverResult::new(
            &capabilities.for_version(ProtocolVersion::LATEST),
            self.instructions.as_deref(),
            &info_json,
        ));
        let mut inner = Inner {
            info: self.info,
            info_json,
            capabilities,
            instructions: self.instructions,
            offered: RwLock::default(),
            changing: Mutex::new(()),
            methods: self.methods,
            source: self.source,
            discover: None,
            initialized: Default::default(),
            on_subscribe: self.on_subscribe,
            changes: Changes::new(self.max_listeners, self.matcher),
            tasks: self.tasks.map(|config| Arc::new(Tasks::new(config, self.task_store))),
            rounds: Rounds::new(self.input, self.keys.unwrap_or_else(Keys::random)),
            writers: Arc::new(Semaphore::new(processors())),
            page_size: self.page_size,
            list_cache: self.list_cache,
            observer: self.observer,
            visible: self.visible,
        };
        let unfit = |error: ErrorObject| BuildError::Server(error.message);
        inner.discover = Some(discover.map_err(unfit)?.shared());
        let server = Server(Arc::new(inner));
        server.offer(self.offered);
        Ok(server)
    }

    fn capabilities(&self) -> ServerCapabilities {
        let list = |is_empty: bool, list_changed, subscribe| {
            (!is_empty || list_changed || subscribe)
                .then_some(ListCapability { list_changed, subscribe })
        };
        let offered = &self.offered;
        ServerCapabilities {
            tools: list(offered.tools.is_empty(), self.tools_list_changed, false),
            resources: list(
                offered.resources.is_empty() && self.source.is_none(),
                self.resources_list_changed,
                self.subscriptions,
            ),
            prompts: list(offered.prompts.is_empty(), self.prompts_list_changed, false),
            completions: (!offered.completions.is_empty()).then(Settings::new),
            logging: self.logging.then(Settings::new),
            extensions: self.extensions.clone(),
            has_tasks: self.tasks.is_some(),
            tasks: None,
        }
    }

    /// Tasks have their own extensions and methods.
    fn check_extensions(&self) -> Result<(), BuildError> {
        if self.extensions.contains_key(EXTENSION_TASKS) {
            return Err(BuildError::Server(format!(
                "the extension {EXTENSION_TASKS} is declared by ServerBuilder::tasks, not by hand"
            )));
        }
        if self.task_store.is_some() && self.tasks.is_none() {
            return Err(BuildError::Server(
                "a store of tasks is of use with ServerBuilder::tasks alone".to_owned(),
            ));
        }
        Ok(())
    }
}
