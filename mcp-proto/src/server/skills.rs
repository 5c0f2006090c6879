//! Skills as they are served (extension `io.modelcontextprotocol/skills`, SEP-2640): listed, looked up, read.

use std::collections::HashMap;
use std::sync::PoisonError;

use serde_json::{Map, Value, json};

use super::lists::Start;
use super::{Change, Method, Server, wire};
use crate::context::Context;
use crate::interrupt::RequestError;
use crate::jsonrpc::{ErrorObject, Payload};
use crate::resource::ReadResourceResult;
use crate::scopes::Wanted;
use crate::skill::{SkillUriError, Skills};

/// The extension's settings.
pub(super) fn settings() -> Map<String, Value> {
    Map::from_iter([("directoryRead".to_owned(), Value::Bool(true))])
}

impl Server {
    /// Serves these skills from now on, such as a folder that was loaded again; running requests see either all of the
    /// old ones or all of the new ones. Notifies listeners that the list of resources has changed, and of each changed
    /// file, if the builder declared it
    /// ([`ServerBuilder::resources_list_changed`](crate::ServerBuilder::resources_list_changed),
    /// [`ServerBuilder::subscriptions`](crate::ServerBuilder::subscriptions)).
    ///
    /// False for a server that was built without [`ServerBuilder::skills`](crate::ServerBuilder::skills): its
    /// capabilities do not declare skills, so nothing changes. An empty [`Skills`] given to the builder is enough.
    pub fn replace_skills(&self, skills: Skills) -> bool {
        let Some(served) = &self.0.skills else {
            return false;
        };
        let (before, after) = {
            // No code panics while it holds the lock.
            let mut served = served.write().unwrap_or_else(PoisonError::into_inner);
            (std::mem::replace(&mut *served, skills), served.clone())
        };
        self.notify(Change::ResourcesListChanged);
        if self.0.announces_updates() {
            for uri in changed(&before, &after) {
                self.notify(Change::resource_updated(uri));
            }
        }
        true
    }

    /// The current skills; `None` for a server without the extension.
    pub(super) fn skills(&self) -> Option<Skills> {
        let skills = self.0.skills.as_ref()?;
        let skills = skills.read().unwrap_or_else(PoisonError::into_inner);
        Some(skills.clone())
    }

    /// `skills/list`.
    pub(super) fn list_skills(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let method = Method::ListSkills;
        let skills = self.skills().unwrap_or_default();
        let after = match self.start(method, params, context)? {
            Start::Skill(after) => after,
            _ => None,
        };
        let mut rest = match &after {
            Some(name) => skills.after(name),
            // No skill has an empty name.
            None => skills.after(""),
        }
        .peekable();
        let mut page: Vec<_> = rest.by_ref().take(self.0.page_size).collect();
        let more = rest.peek().and_then(|_| page.last());
        let next = more.map(|last| Start::Skill(Some(last.name().to_owned())));
        let offered = self.offered();
        page.retain(|skill| self.shows(&offered, Wanted::Resource(&skill.uri), context));
        let hint = self.list_hint(&offered, method);
        self.list_payload(method, &page, next.as_ref(), hint, context)
    }

    /// `skills/get`.
    pub(super) fn get_skill(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let uri = uri(params)?;
        let skills = self.skills().unwrap_or_default();
        let seen = |skill| {
            if self.is_visible(Wanted::Resource(uri), context) {
                Ok(skill)
            } else {
                Err(SkillUriError::NotASkill(uri.to_owned()))
            }
        };
        let skill = skills.get(uri).and_then(seen);
        let skill = skill.map_err(|problem| refused(&problem, uri))?;
        let hint = self.list_hint(&self.offered(), Method::ListSkills);
        self.complete(&json!({ "skill": skill }), Some(hint), None, context.era())
    }

    /// `resources/directory/read`.
    pub(super) fn read_directory(
        &self,
        params: &Map<String, Value>,
        context: &Context,
    ) -> Result<Payload, ErrorObject> {
        let uri = uri(params)?;
        let skills = self.skills().unwrap_or_default();
        let children = skills.directory(uri);
        let children = children.map_err(|problem| refused(&problem, uri))?;
        let offered = self.offered();
        let shown = children
            .iter()
            .filter(|child| self.shows(&offered, Wanted::Resource(&child.uri), context));
        self.list(
            Method::ReadDirectory,
            shown,
            |child| &child.uri,
            self.list_hint(&offered, Method::ReadDirectory),
            params,
            context,
        )
    }

    /// The content of a skill at `uri`; `None` if the URI does not belong to a skill.
    pub(super) fn read_skill(&self, uri: &str) -> Option<Result<ReadResourceResult, RequestError>> {
        match self.skills()?.read(uri) {
            Ok(contents) => {
                let hint = self.0.list_cache.unwrap_or(wire::PUBLIC_LIST);
                Some(Ok(ReadResourceResult::from(contents).with_cache(hint)))
            }
            Err(problem @ SkillUriError::NotAFile(_)) => {
                Some(Err(RequestError::not_found(problem.to_string())))
            }
            Err(_) => None,
        }
    }
}

fn uri(params: &Map<String, Value>) -> Result<&str, ErrorObject> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| ErrorObject::invalid_params("params.uri must be a string"))
}

/// −32602 in either era (SEP-2640, "Error Handling").
fn refused(problem: &SkillUriError, uri: &str) -> ErrorObject {
    ErrorObject::invalid_params(problem.to_string()).with_data(json!({ "uri": uri }))
}

/// The files that have changed or were removed.
fn changed(before: &Skills, after: &Skills) -> Vec<String> {
    let files = |skills: &Skills| {
        let files = skills.list().flat_map(|skill| &skill.resources);
        files.map(|file| (file.uri.clone(), file.digest.clone())).collect::<HashMap<_, _>>()
    };
    let after = files(after);
    let mut changed: Vec<_> = files(before)
        .into_iter()
        .filter(|(uri, digest)| after.get(uri) != Some(digest))
        .map(|(uri, _)| uri)
        .collect();
    changed.sort_unstable();
    changed
}
