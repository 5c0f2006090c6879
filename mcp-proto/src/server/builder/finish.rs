//! From what was collected to the server.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use super::super::ReadyLists;
use super::super::changes::Changes;
use super::super::method::Method;
use super::super::rounds::Rounds;
use super::super::{Inner, Ready, Server, skills, wire};
use super::{BuildError, ServerBuilder};
use crate::app;
use crate::content;
use crate::context::Context;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::lifecycle::{
    EXTENSION_TASKS, ListCapability, ServerCapabilities, Settings, is_meta_key,
};
use crate::scopes::Guarded;
use crate::seal::Keys;
use crate::task::Tasks;
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
        self.declare_skills()?;
        self.check_meta()?;
        self.settle_apps()?;
        self.check_tasks()?;
        self.check_needs()?;
        let capabilities = self.capabilities();
        let unfit =
            |_| BuildError::Server("the server's description cannot be serialised".to_owned());
        let info_json = to_raw_value(&self.info).map_err(unfit)?;
        let discover = Payload::of(&wire::DiscoverResult::new(
            &capabilities.told(ProtocolVersion::LATEST),
            self.instructions.as_deref(),
            &info_json,
        ));
        let mut inner = Inner {
            info: self.info,
            info_json,
            capabilities,
            instructions: self.instructions,
            tools: Arc::new(self.tools),
            resources: self.resources,
            prompts: self.prompts,
            completions: self.completions,
            skills: self.skills.map(RwLock::new),
            ready: Ready::default(),
            on_subscribe: self.on_subscribe,
            changes: Changes::new(self.max_listeners, self.matcher),
            tasks: self.tasks.map(Tasks::new),
            rounds: Rounds::new(self.input, self.keys.unwrap_or_else(Keys::random)),
            writers: Arc::new(Semaphore::new(writers())),
            page_size: self.page_size,
            list_cache: self.list_cache,
            observer: self.observer,
            needs: self.needs,
        };
        let unfit = |error: ErrorObject| BuildError::Server(error.message);
        inner.ready.discover = Some(discover.map_err(unfit)?.shared());
        let server = Server(Arc::new(inner));
        let lists = server.ready_lists().map_err(unfit)?;
        *server
            .0
            .ready
            .lists
            .write()
            .unwrap_or_else(PoisonError::into_inner) = lists;
        Ok(server)
    }

    fn check_needs(&self) -> Result<(), BuildError> {
        for guarded in self.needs.iter() {
            let (what, name) = match guarded {
                Guarded::Tool(name) if self.tools.list().all(|tool| tool.name != *name) => {
                    ("tool", name)
                }
                Guarded::Prompt(name) if self.prompts.get(name).is_none() => ("prompt", name),
                _ => continue,
            };
            let problem = format!(
                "scopes are required for the {what} {name:?}, which there is not: add it first"
            );
            return Err(BuildError::Server(problem));
        }
        Ok(())
    }

    fn declare_skills(&mut self) -> Result<(), BuildError> {
        let (id, settings) = (skills::EXTENSION.to_owned(), skills::settings());
        if self.skills.is_some() {
            self.extensions.insert(id, Value::Object(settings));
        } else if self.extensions.contains_key(&id) {
            return Err(BuildError::Server(format!(
                "the extension {id} is declared by ServerBuilder::skills, not by hand"
            )));
        }
        Ok(())
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
            extensions: self.extensions.clone(),
            has_tasks: self.tasks.is_some(),
            tasks: None,
        }
    }

    fn check_tasks(&self) -> Result<(), BuildError> {
        if self.extensions.contains_key(EXTENSION_TASKS) {
            return Err(BuildError::Server(format!(
                "the extension {EXTENSION_TASKS} is declared by ServerBuilder::tasks, not by hand"
            )));
        }
        let mut tools = self.tools.list();
        let homeless = tools.find(|tool| self.tasks.is_none() && !tool.task_support.is_forbidden());
        homeless.map_or(Ok(()), |tool| {
            Err(BuildError::Tool {
                name: tool.name.clone(),
                problem: "it runs as a task, for which the server has no place: ServerBuilder::tasks gives it one".to_owned(),
            })
        })
    }

    /// Clients may drop what has a key that is none.
    fn check_meta(&self) -> Result<(), BuildError> {
        let unfit = |meta: &Option<Map<String, Value>>| {
            let key = meta
                .iter()
                .flat_map(Map::keys)
                .find(|key| !is_meta_key(key))?;
            Some(format!(
                "{key:?} is no key for _meta: an optional prefix such as \"com.example/\", then letters and digits \
                 with \"-\", \"_\" and \".\" between"
            ))
        };
        for tool in self.tools.list() {
            if let Some(problem) = unfit(&tool.meta) {
                let name = tool.name.clone();
                return Err(BuildError::Tool { name, problem });
            }
        }
        for prompt in self.prompts.list() {
            if let Some(problem) = unfit(&prompt.meta) {
                let name = prompt.name.clone();
                return Err(BuildError::Prompt { name, problem });
            }
        }
        let resources = self.resources.list().map(|one| (&one.uri, &one.meta));
        let templates = self.resources.templates();
        let templates = templates.map(|one| (&one.uri_template, &one.meta));
        for (uri, meta) in resources.chain(templates) {
            if let Some(problem) = unfit(meta) {
                let uri = uri.clone();
                return Err(BuildError::Resource { uri, problem });
            }
        }
        Ok(())
    }

    /// Pages that tools name must be there; the extension is declared where there are pages, or tools that speak of it.
    fn settle_apps(&mut self) -> Result<(), BuildError> {
        let is_page = |mime: &Option<String>| mime.as_deref() == Some(app::UI_MIME_TYPE);
        let mut uses = self.resources.list().any(|one| is_page(&one.mime_type))
            || self
                .resources
                .templates()
                .any(|one| is_page(&one.mime_type));
        for tool in self.tools.list() {
            uses |= app::ui_of(tool).is_some();
            let is_there = |uri: &str| self.resources.knows(uri);
            app::check_tool(tool, self.resources.list(), is_there).map_err(|problem| {
                let name = tool.name.clone();
                BuildError::Tool { name, problem }
            })?;
        }
        if uses {
            let settings = self.extensions.entry(app::UI_EXTENSION);
            settings.or_insert_with(|| Settings::new().into());
        }
        Ok(())
    }
}

/// How many large results are written at once.
fn writers() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl Server {
    /// The lists that are one page and the same for everybody, as they are sent.
    pub(in super::super) fn ready_lists(&self) -> Result<ReadyLists, ErrorObject> {
        let fits = |length: usize| length <= self.0.page_size;
        let mut lists = Vec::new();
        let mut add = |method, list: &dyn Fn(&Context) -> Result<Payload, ErrorObject>| {
            for version in ProtocolVersion::ALL {
                let mut context = Context::test();
                context.protocol_version = version;
                lists.push((method, version, list(&context)?.shared()));
            }
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
