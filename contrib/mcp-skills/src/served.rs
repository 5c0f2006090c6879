//! Skills as a server serves them: listed, looked up, read, and replaced while it runs.

use std::sync::{Arc, PoisonError, RwLock};

use mcp_proto::scopes::Wanted;
use mcp_proto::{
    Change, Context, Page, PageRequest, ReadResourceResult, RequestError, Resource, ResourceSource,
    Server, ServerBuilder,
};
use serde_json::{Map, Value, json};

use crate::error::SkillUriError;
use crate::path;
use crate::skills::Skills;

/// The identifier of the extension (SEP-2640).
pub const EXTENSION_SKILLS: &str = "io.modelcontextprotocol/skills";

/// `resources/directory/read`.
const READ_DIRECTORY: &str = "resources/directory/read";

/// The skills that a server serves now. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ServedSkills(Arc<RwLock<Skills>>);

/// Adds skills to a server.
pub trait SkillsExt {
    /// Serves skills: `skills/list`, `skills/get` and `resources/directory/read`, their files as resources, their
    /// `SKILL.md` in the list of resources. They are the server's source of resources
    /// ([`ServerBuilder::resource_source`]). Scopes are required by their URIs, `skill://…`.
    #[must_use]
    fn skills(self, skills: &ServedSkills) -> Self;
}

impl<S: Clone + Send + Sync + 'static> SkillsExt for ServerBuilder<S> {
    fn skills(self, skills: &ServedSkills) -> Self {
        let settings = Map::from_iter([("directoryRead".to_owned(), Value::Bool(true))]);
        let (lists, gets, reads) = (skills.clone(), skills.clone(), skills.clone());
        self.extension(EXTENSION_SKILLS, settings)
            .extension_method(
                EXTENSION_SKILLS,
                "skills/list",
                move |_, params: Map<_, _>, context: Context| {
                    std::future::ready(list(&lists.now(), &params, &context))
                },
            )
            .extension_method(
                EXTENSION_SKILLS,
                "skills/get",
                move |_, params: Map<_, _>, context: Context| {
                    std::future::ready(get(&gets.now(), &params, &context))
                },
            )
            .extension_method(
                EXTENSION_SKILLS,
                READ_DIRECTORY,
                move |_, params: Map<_, _>, context: Context| {
                    std::future::ready(read_directory(&reads.now(), &params, &context))
                },
            )
            .scopes_by_uri("skills/get")
            .resource_source(skills.clone())
    }
}

impl ServedSkills {
    /// These skills. Empty ones are enough for a server that gets its skills later.
    #[must_use]
    pub fn new(skills: Skills) -> Self {
        Self(Arc::new(RwLock::new(skills)))
    }

    /// Serves these skills from now on, such as a folder that was loaded again; running requests see either all of the
    /// old ones or all of the new ones. Notifies listeners of `server` that the list of resources has changed, and of
    /// each file that has changed or is generated, if its builder declared it
    /// ([`ServerBuilder::resources_list_changed`], [`ServerBuilder::subscriptions`]).
    pub fn replace(&self, server: &Server, skills: Skills) {
        let (before, after) = {
            // No code panics while it holds the lock.
            let mut served = self.0.write().unwrap_or_else(PoisonError::into_inner);
            (std::mem::replace(&mut *served, skills), served.clone())
        };
        server.notify(Change::ResourcesListChanged);
        if server.has_subscribers() {
            for uri in before.changed(&after) {
                server.notify(Change::resource_updated(uri));
            }
        }
    }

    /// The current skills.
    #[must_use]
    pub fn now(&self) -> Skills {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The `SKILL.md` files are listed; all files are there. The paths of skills are the keys of pages.
impl ResourceSource for ServedSkills {
    fn list(&self, page: PageRequest) -> Page<Resource> {
        let skills = self.now();
        let rest = skills.resources_after(page.after.as_deref());
        page.cut(rest, |one| path::of_skill(&one.uri))
    }

    fn has(&self, uri: &str) -> bool {
        self.now().has_file(uri)
    }

    fn read(&self, uri: &str) -> Option<Result<ReadResourceResult, RequestError>> {
        match self.now().read(uri) {
            Ok(contents) => Some(Ok(contents.into())),
            Err(problem @ SkillUriError::NotAFile(_)) => {
                Some(Err(RequestError::not_found(problem.to_string())))
            }
            Err(_) => None,
        }
    }

    fn is_cacheable(&self, uri: &str) -> bool {
        self.now().is_fixed(uri)
    }
}

/// `skills/list`.
fn list(
    skills: &Skills,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Map<String, Value>, RequestError> {
    let server = server(context)?;
    let asked = server.page_request("skills/list", params, context)?;
    // No skill has an empty path.
    let rest = skills.after(asked.after.as_deref().unwrap_or_default());
    let mut page = asked.cut(rest, |skill| path::of_skill(&skill.uri));
    page.items.retain(|skill| server.is_shown(Wanted::Resource(&skill.uri), context));
    server.page_result("skills/list", "skills", page, context)
}

/// `skills/get`.
fn get(
    skills: &Skills,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Map<String, Value>, RequestError> {
    let (server, uri) = (server(context)?, uri(params)?);
    let shown = server.is_shown(Wanted::Resource(uri), context);
    let hidden = || SkillUriError::NotASkill(uri.to_owned());
    let skill = skills.get(uri).and_then(|skill| shown.then_some(skill).ok_or_else(hidden));
    let skill = skill.map_err(|problem| refused(&problem, uri))?;
    let result = Map::from_iter([("skill".to_owned(), json!(skill))]);
    Ok(server.with_list_hint(result, context))
}

/// `resources/directory/read`. SEP-2640 defines no cache hint for it, but the Inspector refuses a result without one.
fn read_directory(
    skills: &Skills,
    params: &Map<String, Value>,
    context: &Context,
) -> Result<Map<String, Value>, RequestError> {
    let (server, uri) = (server(context)?, uri(params)?);
    let children = skills.directory(uri).map_err(|problem| refused(&problem, uri))?;
    let list = format!("{READ_DIRECTORY} of {uri}");
    let asked = server.page_request(&list, params, context)?;
    let is_shown = |child: &Resource| server.is_shown(Wanted::Resource(&child.uri), context);
    let page = asked.cut(children.into_iter().filter(is_shown), |child| &child.uri);
    server.page_result(&list, "resources", page, context)
}

/// The server that runs the handler.
fn server(context: &Context) -> Result<&Server, RequestError> {
    context.extension().ok_or_else(|| RequestError::internal("the context has no server"))
}

fn uri(params: &Map<String, Value>) -> Result<&str, RequestError> {
    let uri = params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| RequestError::invalid_params("params.uri must be a string"))
}

/// −32602 in either era (SEP-2640, "Error Handling").
fn refused(problem: &SkillUriError, uri: &str) -> RequestError {
    RequestError::invalid_params(problem.to_string()).with_data("uri", uri)
}
