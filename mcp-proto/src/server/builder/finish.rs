//! Builds the server from the collected parts.

use std::sync::{Arc, Mutex, RwLock};

use serde_json::value::to_raw_value;

use super::super::changes::Changes;
use super::super::rounds::config::Rounds;
use super::super::{Inner, Server, wire};
use super::{BuildError, NewServer, Offered, ServerBuilder};
use crate::apps;
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
    pub fn build(self) -> Result<Server, BuildError> {
        let Self { steps, kind: mut new, state: _ } = self;
        let mut offered = Offered::default();
        for step in steps {
            step(&mut offered)?;
        }
        offered.derive_needs(&Offered::default());
        content::check_icons(&new.info.icons).map_err(BuildError::Server)?;
        new.check_extensions()?;
        offered.settle(new.tasks.is_some())?;
        offered.check_needs()?;
        if offered.uses_apps() {
            let settings = new.extensions.entry(apps::UI_EXTENSION);
            settings.or_insert_with(|| Settings::new().into());
        }
        let capabilities = new.capabilities(&offered);
        let unfit =
            |_| BuildError::Server("the server's description cannot be serialised".to_owned());
        let info_json = to_raw_value(&new.info).map_err(unfit)?;
        let discover = Payload::of(&wire::DiscoverResult::new(
            &capabilities.for_version(ProtocolVersion::LATEST),
            new.instructions.as_deref(),
            &info_json,
        ));
        let mut inner = Inner {
            info: new.info,
            info_json,
            capabilities,
            instructions: new.instructions,
            offered: RwLock::default(),
            changing: Mutex::new(()),
            methods: new.methods,
            source: new.source,
            discover: None,
            initialized: Default::default(),
            on_subscribe: new.on_subscribe,
            changes: Changes::new(new.max_listeners, new.matcher),
            tasks: new.tasks.map(|config| Arc::new(Tasks::new(config, new.task_store))),
            rounds: Rounds::new(new.input, new.keys.unwrap_or_else(Keys::random)),
            page_size: new.page_size,
            list_cache: new.list_cache,
            observers: new.observers,
            visible: new.visible,
        };
        let unfit = |error: ErrorObject| BuildError::Server(error.message);
        inner.discover = Some(discover.map_err(unfit)?.shared());
        let server = Server(Arc::new(inner));
        server.offer(offered);
        Ok(server)
    }
}

impl NewServer {
    fn capabilities(&self, offered: &Offered) -> ServerCapabilities {
        let list = |is_empty: bool, list_changed, subscribe| {
            (!is_empty || list_changed || subscribe)
                .then_some(ListCapability { list_changed, subscribe })
        };
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
