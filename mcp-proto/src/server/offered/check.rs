//! Checks that all items on offer are consistent.

use serde_json::{Map, Value};

use super::Offered;
use crate::apps;
use crate::completion::Reference;
use crate::lifecycle::is_meta_key;
use crate::scopes::Guarded;
use crate::server::build_error::BuildError;

impl Offered {
    /// Adds everything that follows from the items on offer, and checks the whole. `has_tasks`: calls may become tasks.
    pub(in crate::server) fn settle(&mut self, has_tasks: bool) -> Result<(), BuildError> {
        self.complete_closed_sets();
        self.check_completions()?;
        self.check_meta()?;
        self.check_apps()?;
        self.check_tasks(has_tasks)
    }

    /// Whether there are pages of MCP Apps, or tools that name one.
    pub(in crate::server) fn uses_apps(&self) -> bool {
        let is_page = |mime: &Option<String>| mime.as_deref() == Some(apps::UI_MIME_TYPE);
        let mut templates = self.resources.templates();
        self.resources.list().any(|one| is_page(&one.mime_type))
            || templates.any(|one| is_page(&one.mime_type))
            || self.tools.all().any(|tool| apps::ui_of(tool).is_some())
    }

    /// Checks that scopes are set only for items that exist.
    pub(in crate::server) fn check_needs(&self) -> Result<(), BuildError> {
        for guarded in self.needs.fixed.keys() {
            let (what, name) = match guarded {
                Guarded::Tool(name) if self.tools.all().all(|tool| tool.name != *name) => {
                    ("tool", name)
                }
                Guarded::Prompt(name) if self.prompts.get(name).is_none() => ("prompt", name),
                _ => continue,
            };
            return Err(BuildError::Server(format!(
                "scopes are required for the {what} {name:?}, which does not exist: add it first"
            )));
        }
        Ok(())
    }

    fn check_tasks(&self, has_tasks: bool) -> Result<(), BuildError> {
        let mut tools = self.tools.all();
        let homeless = tools.find(|tool| !has_tasks && !tool.task_support.is_forbidden());
        homeless.map_or(Ok(()), |tool| {
            let problem = "it runs as a task, for which the server has no place: ServerBuilder::tasks gives it one";
            Err(BuildError::tool(&tool.name, problem))
        })
    }

    /// Checks the keys of `_meta`: clients may drop items with an invalid key.
    fn check_meta(&self) -> Result<(), BuildError> {
        let unfit = |meta: &Option<Map<String, Value>>| {
            let key = meta.iter().flat_map(Map::keys).find(|key| !is_meta_key(key))?;
            Some(format!(
                "{key:?} is not a key for _meta: an optional prefix such as \"com.example/\", then letters and digits \
                 with \"-\", \"_\" and \".\" between"
            ))
        };
        for tool in self.tools.all() {
            if let Some(problem) = unfit(&tool.meta) {
                return Err(BuildError::tool(&tool.name, problem));
            }
        }
        for prompt in self.prompts.list() {
            if let Some(problem) = unfit(&prompt.meta) {
                return Err(BuildError::prompt(&prompt.name, problem));
            }
        }
        let resources = self.resources.list().map(|one| (&one.uri, &one.meta));
        let templates = self.resources.templates();
        let templates = templates.map(|one| (&one.uri_template, &one.meta));
        for (uri, meta) in resources.chain(templates) {
            if let Some(problem) = unfit(meta) {
                return Err(BuildError::resource(uri, problem));
            }
        }
        Ok(())
    }

    /// Checks that the pages that tools name exist.
    fn check_apps(&self) -> Result<(), BuildError> {
        let is_there = |uri: &str| self.resources.knows(uri);
        self.tools.all().try_for_each(|tool| {
            apps::check_tool(tool, self.resources.list(), is_there)
                .map_err(|problem| BuildError::tool(&tool.name, problem))
        })
    }

    /// Arguments with a closed set of values complete themselves.
    fn complete_closed_sets(&mut self) {
        for prompt in self.prompts.list() {
            for argument in &prompt.arguments {
                if argument.values.is_empty() {
                    continue;
                }
                let values = argument.values.clone();
                let reference = Reference::Prompt(prompt.name.clone());
                self.completions.add_if_absent(reference, &argument.name, values);
            }
        }
    }

    /// Checks that every completion is for an argument that exists.
    fn check_completions(&self) -> Result<(), BuildError> {
        for (reference, argument) in self.completions.keys() {
            let known: Option<Vec<&str>> = match reference {
                Reference::Prompt(name) => self.prompts.get(name).map(|prompt| {
                    let arguments = prompt.arguments.iter();
                    arguments.map(|known| known.name.as_str()).collect()
                }),
                Reference::Template(text) => {
                    let template = self.resources.template(text);
                    template.map(|template| template.variables().collect())
                }
            };
            let problem = match known {
                Some(known) if known.contains(&argument) => continue,
                Some(known) => format!("it has only {known:?}"),
                None => match reference {
                    Reference::Prompt(_) => "there is no such prompt".to_owned(),
                    Reference::Template(_) => {
                        "there is no such template; name it exactly as it was added".to_owned()
                    }
                },
            };
            return Err(unfit(reference, argument, problem));
        }
        Ok(())
    }
}

pub(super) fn unfit(
    reference: &Reference,
    argument: &str,
    problem: impl Into<String>,
) -> BuildError {
    let (Reference::Prompt(of) | Reference::Template(of)) = reference;
    BuildError::Completion {
        of: of.clone(),
        argument: argument.to_owned(),
        problem: problem.into(),
    }
}
