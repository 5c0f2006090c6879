//! The resources of a server: found by URI or template, read, listed.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{IntoResource, Page, PageRequest, ReadResourceResult, ResourceTemplate, ResourceUri};
use crate::content::{self, Resource, ResourceContents};
use crate::context::Context;
use crate::handler::{Handler, Taken};
use crate::interrupt::{Interrupt, RequestError};
use crate::registry::Registry;
use crate::service::with_state;
use crate::uri_template::{UriTemplate, Variables};

/// The longest URI that is read or subscribed to, in bytes.
pub(crate) const MAX_URI_BYTES: usize = 8 * 1024;

type Outcome<T> = BoxFuture<'static, Result<T, RequestError>>;

/// A handler whose types are erased.
pub(crate) type Reader =
    Arc<dyn Fn(ResourceUri, Context) -> Outcome<ReadResourceResult> + Send + Sync>;
type Lister = Arc<dyn Fn(PageRequest, Context) -> Outcome<Page<Resource>> + Send + Sync>;

/// Resources and templates in the order of their registration, which is the order they are listed in. If several
/// templates match a URI, the first one is used.
#[derive(Clone, Default)]
pub(crate) struct ResourceRegistry {
    pub(crate) resources: Registry<Arc<(Resource, Reader)>>,
    /// By their texts.
    pub(crate) templates: Registry<Arc<(ResourceTemplate, UriTemplate, Reader)>>,
    pub(crate) lister: Option<Lister>,
}

impl ResourceRegistry {
    pub(crate) fn add(&mut self, resource: Resource, reader: Reader) -> Result<(), String> {
        check_uri(&resource.uri)?;
        content::check_icons(&resource.icons)?;
        let uri = resource.uri.clone();
        if !self.resources.add(uri, Arc::new((resource, reader))) {
            return Err("another resource has the same URI".to_owned());
        }
        Ok(())
    }

    /// Whether the other registry has exactly these resources and templates.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.resources.is_same(&other.resources, Arc::ptr_eq)
            && self.templates.is_same(&other.templates, Arc::ptr_eq)
    }

    pub(crate) fn add_template(
        &mut self,
        template: ResourceTemplate,
        reader: Reader,
    ) -> Result<(), String> {
        let parsed =
            UriTemplate::parse(&template.uri_template).map_err(|problem| problem.to_string())?;
        content::check_icons(&template.icons)?;
        let text = template.uri_template.clone();
        if !self.templates.add(text, Arc::new((template, parsed, reader))) {
            return Err("another template is the same".to_owned());
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.templates.is_empty() && self.lister.is_none()
    }

    /// The resources that were registered one by one.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().map(|registered| &registered.0)
    }

    pub(crate) fn templates(&self) -> impl Iterator<Item = &ResourceTemplate> {
        self.templates.iter().map(|registered| &registered.0)
    }

    /// A template by its text.
    pub(crate) fn template(&self, text: &str) -> Option<&UriTemplate> {
        self.templates.get(text).map(|registered| &registered.1)
    }

    /// One page of the resources that the server's own handler lists; `None` without such a handler.
    pub(crate) async fn list_more(
        &self,
        page: PageRequest,
        context: Context,
    ) -> Option<Result<Page<Resource>, RequestError>> {
        let lister = self.lister.as_ref()?;
        Some(lister(page, context).await)
    }

    pub(crate) fn lists_more(&self) -> bool {
        self.lister.is_some()
    }

    /// The registered item that a URI belongs to: the URI of a resource, or the text of a template.
    pub(crate) fn registered_as(&self, uri: &str) -> Option<&str> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        if let Some(registered) = self.resources.get(uri) {
            return Some(&registered.0.uri);
        }
        let mut templates = self.templates.iter();
        let registered = templates.find(|registered| registered.1.match_uri(uri).is_some());
        registered.map(|registered| registered.0.uri_template.as_str())
    }

    /// Whether a URI belongs to a registered resource or a template.
    pub(crate) fn knows(&self, uri: &str) -> bool {
        self.find(uri).is_some()
    }

    /// Reads the resource at `uri`.
    pub(crate) async fn read(
        &self,
        uri: &str,
        context: Context,
    ) -> Result<ReadResourceResult, Interrupt> {
        let era = context.era();
        let Some((reader, variables)) = self.find(uri) else {
            return Err(not_found(uri).into_interrupt(era, Some(uri)));
        };
        let asked = ResourceUri { uri: uri.to_owned(), variables };
        let id = context.request_id.clone();
        let read = reader(asked, context).await;
        let read = read.map_err(|error| {
            error.log("resources/read", uri, &id).into_interrupt(era, Some(uri))
        })?;
        if read.contents.is_empty() {
            // An empty answer would mean that it exists and is empty (2026-07-28, "Resources").
            return Err(not_found(uri).into_interrupt(era, Some(uri)));
        }
        Ok(read)
    }

    fn find(&self, uri: &str) -> Option<(&Reader, Variables)> {
        if uri.len() > MAX_URI_BYTES {
            return None;
        }
        if let Some(registered) = self.resources.get(uri) {
            return Some((&registered.1, Variables::default()));
        }
        let mut templates = self.templates.iter();
        templates.find_map(|registered| {
            let (_, template, reader) = &**registered;
            Some((reader, template.match_uri(uri)?))
        })
    }
}

/// The handler of a resource or of a family. `empty` is what all contents have.
pub(crate) fn reader<S, T, H>(
    state: S,
    empty: ResourceContents,
    handler: H,
    arguments: impl Fn(ResourceUri) -> T::Arguments + Send + Sync + 'static,
) -> Reader
where
    S: Clone + Send + Sync + 'static,
    T: Taken,
    H: Handler<S, T> + Send + Sync + 'static,
    H::Future: Future<Output: IntoResource> + Send + 'static,
{
    Arc::new(with_state(state, move |state, asked: ResourceUri, context| {
        let empty = ResourceContents { uri: asked.uri.clone(), ..empty.clone() };
        let read = handler.call(state, arguments(asked), context);
        async move { read.await.into_resource(empty) }
    }))
}

pub(crate) fn not_found(uri: &str) -> RequestError {
    let shown: String = uri.chars().take(200).collect();
    RequestError::not_found(format!(
        "there is no resource {shown:?}; resources/list and resources/templates/list list the existing ones"
    ))
}

/// Checks for a scheme, a colon and more, in visible ASCII (RFC 3986 §3).
fn check_uri(uri: &str) -> Result<(), String> {
    let scheme = uri.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|c| c.is_ascii_alphanumeric() || b"+-.".contains(&c))
    };
    if scheme.is_some_and(is_scheme)
        && uri.len() <= MAX_URI_BYTES
        && uri.bytes().all(|byte| byte.is_ascii_graphic())
    {
        Ok(())
    } else {
        Err(format!(
            "a URI has a scheme, a colon and at most {MAX_URI_BYTES} characters of visible ASCII, others percent-encoded"
        ))
    }
}
