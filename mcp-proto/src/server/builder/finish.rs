//! From what was collected to the server.

use std::sync::{Arc, RwLock};

use serde_json::Value;
use serde_json::value::to_raw_value;

use super::super::changes::Changes;
use super::super::method::Method;
use super::super::rounds::Rounds;
use super::super::{Inner, Ready, Server, skills, wire};
use super::{BuildError, ServerBuilder};
use crate::content;
use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::lifecycle::{ListCapability, ServerCapabilities, Settings, is_extension_id};
use crate::seal::{Keys, UsedOnce};
use crate::version::ProtocolVersion;

impl<S: Clone + Send + Sync + 'static> ServerBuilder<S> {
    /// The server.
    ///
    /// # Errors
    /// [`BuildError`]: the first thing that cannot be served.
    pub fn build(mut self) -> Result<Server, BuildError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        content::check_icons(&self.info.icons).map_err(BuildError::Server)?;
        self.complete_closed_sets();
        self.check_completions()?;
        self.settle_extensions()?;
        let capabilities = self.capabilities();
        let unfit =
            |_| BuildError::Server("the server's description cannot be serialised".to_owned());
        let info_json = to_raw_value(&self.info).map_err(unfit)?;
        let discover = Payload::of(&wire::DiscoverResult::new(
            &capabilities,
            self.instructions.as_deref(),
            &info_json,
        ));
        let mut inner = Inner {
            info: self.info,
            info_json,
            capabilities,
            instructions: self.instructions,
            tools: self.tools,
            resources: self.resources,
            prompts: self.prompts,
            completions: self.completions,
            skills: self.skills.map(RwLock::new),
            ready: Ready::default(),
            on_subscribe: self.on_subscribe,
            changes: Changes::new(self.max_listeners, self.matcher),
            rounds: Rounds {
                config: self.input,
                keys: self.keys.unwrap_or_else(Keys::random),
                used: UsedOnce::default(),
            },
            page_size: self.page_size,
            list_cache: self.list_cache,
        };
        let unfit = |error: ErrorObject| BuildError::Server(error.message);
        inner.ready.discover = Some(discover.map_err(unfit)?.shared());
        let server = Server(Arc::new(inner));
        let lists = server.ready_lists().map_err(unfit)?;
        let Server(mut inner) = server;
        if let Some(inner) = Arc::get_mut(&mut inner) {
            inner.ready.lists = lists;
        }
        Ok(Server(inner))
    }

    fn settle_extensions(&mut self) -> Result<(), BuildError> {
        let (id, settings) = (skills::EXTENSION.to_owned(), skills::settings());
        if self.skills.is_some() {
            self.extensions.insert(id, Value::Object(settings));
        } else if self.extensions.contains_key(&id) {
            return Err(BuildError::Server(format!(
                "the extension {id} is declared by ServerBuilder::skills, not by hand"
            )));
        }
        match self.extensions.keys().find(|id| !is_extension_id(id)) {
            None => Ok(()),
            Some(id) => Err(BuildError::Server(format!(
                "{id:?} is no name for an extension: it has a prefix, such as com.example/thing"
            ))),
        }
    }

    fn capabilities(&self) -> ServerCapabilities {
        let list = |is_empty: bool, list_changed, subscribe| {
            (!is_empty || list_changed || subscribe).then_some(ListCapability {
                list_changed,
                subscribe,
            })
        };
        ServerCapabilities {
            tools: list(self.tools.is_empty(), self.tools_list_changed, false),
            resources: list(
                self.resources.is_empty() && self.skills.is_none(),
                self.resources_list_changed,
                self.subscriptions,
            ),
            prompts: list(self.prompts.is_empty(), self.prompts_list_changed, false),
            completions: (!self.completions.is_empty()).then(Settings::new),
            logging: self.logging.then(Settings::new),
            tasks: None,
            extensions: self.extensions.clone(),
        }
    }
}

impl Server {
    /// The lists that are one page and the same for everybody, as they are sent.
    fn ready_lists(&self) -> Result<Vec<(Method, Payload, Payload)>, ErrorObject> {
        let fits = |length: usize| length <= self.0.page_size;
        let mut lists = Vec::new();
        let mut add = |method, list: &dyn Fn(&Context) -> Result<Payload, ErrorObject>| {
            let mut legacy = Context::test();
            legacy.protocol_version = ProtocolVersion::LATEST_LEGACY;
            let (legacy, modern) = (list(&legacy)?, list(&Context::test())?);
            lists.push((method, legacy.shared(), modern.shared()));
            Ok::<_, ErrorObject>(())
        };
        let params = serde_json::Map::new();
        if fits(self.0.tools.list().count()) {
            add(Method::ListTools, &|context| {
                self.list_tools(&params, context)
            })?;
        }
        if fits(self.0.prompts.list().count()) {
            add(Method::ListPrompts, &|context| {
                self.list_prompts(&params, context)
            })?;
        }
        if fits(self.0.resources.templates().count()) {
            add(Method::ListTemplates, &|context| {
                self.list_templates(&params, context)
            })?;
        }
        let others = self.0.resources.lists_more() || self.0.skills.is_some();
        if !others && fits(self.0.resources.list().count()) {
            add(Method::ListResources, &|context| {
                self.list_registered_resources(&params, context)
            })?;
        }
        Ok(lists)
    }
}
