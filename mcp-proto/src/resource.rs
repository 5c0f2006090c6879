//! Resources: how they are listed and read, by URI or by template.

mod registry;
mod returns;
mod source;

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cache::CacheHint;
use crate::content::{Annotations, Icon, ResourceContents};
use crate::handler::Arguments;
use crate::interrupt::RequestError;
use crate::uri_template::Variables;

pub(crate) use registry::{MAX_URI_BYTES, Reader, ResourceRegistry, not_found, reader};
pub use returns::IntoResource;
pub use source::ResourceSource;

/// A family of resources as it is listed (schema: `ResourceTemplate`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[must_use]
pub struct ResourceTemplate {
    /// The URIs of the family (RFC 6570), such as `notes://{day}`; see
    /// [`UriTemplate`](crate::uri_template::UriTemplate).
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description of the resources, written for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Media type, if it is the same for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its icons (since 2025-11-25).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Hints for the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
}

/// The result of `resources/read` (schema: `ReadResourceResult`). Made from one [`ResourceContents`] or several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents; a container may return those of several resources.
    pub contents: Vec<ResourceContents>,
    /// How long the client may cache it (modern era). By default it may not.
    #[serde(skip)]
    pub cache: CacheHint,
    /// Metadata.
    #[serde(skip)]
    pub meta: Option<Map<String, Value>>,
}

/// The URI that a template's handler reads, and the values of the template's variables in it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ResourceUri {
    /// The requested URI.
    pub uri: String,
    /// The variables, decoded. The handler must check the values: a `%2F` is a `/` here.
    pub variables: Variables,
}

/// One page of a list that a handler returns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// The handler's key for the start of the next page: use the last item's name rather than its index, so that the
    /// list may change meanwhile. `None` on the last page. The client sees it sealed.
    pub next: Option<String>,
}

/// The page that a list's handler must return.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageRequest {
    /// The `next` of the page before; `None` for the first.
    pub after: Option<String>,
    /// The most items the page should have.
    pub limit: usize,
}

impl ResourceTemplate {
    /// A template with this URI template and programmatic name. The rest are public fields.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            icons: Vec::new(),
            annotations: None,
            meta: None,
        }
    }

    /// The same with a name for people.
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with a description.
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The same with a media type.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ReadResourceResult {
    /// The same with a caching hint, such as [`CacheHint::public`] for resources that are the same for every caller.
    #[must_use]
    pub fn with_cache(mut self, cache: CacheHint) -> Self {
        self.cache = cache;
        self
    }

    /// About how many bytes it has.
    pub(crate) fn size(&self) -> usize {
        self.contents.iter().map(ResourceContents::size).sum()
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        vec![contents].into()
    }
}

impl From<Vec<ResourceContents>> for ReadResourceResult {
    fn from(contents: Vec<ResourceContents>) -> Self {
        Self { contents, ..Self::default() }
    }
}

impl ResourceUri {
    /// A URI with the values of its template's variables, for calling a handler without a server.
    pub fn new(uri: impl Into<String>, variables: Variables) -> Self {
        Self { uri: uri.into(), variables }
    }

    /// A variable of the template, decoded.
    pub fn get(&self, variable: &str) -> Option<&str> {
        self.variables.get(variable)
    }

    /// The value of a variable as a number or another type.
    ///
    /// # Errors
    /// It cannot be one: there is no such resource.
    pub fn parse<T: FromStr>(&self, variable: &str) -> Result<T, RequestError> {
        let value = self.get(variable).and_then(|text| text.parse().ok());
        value.ok_or_else(|| not_found(&self.uri))
    }
}

impl Arguments for ResourceUri {}

impl Arguments for PageRequest {}

impl PageRequest {
    /// A request for the first page, or for the one after a key, for calling a handler without a server.
    pub fn new(after: Option<String>, limit: usize) -> Self {
        Self { after, limit }
    }

    /// The page of a list that is in the order of its keys: those behind [`after`](Self::after), up to the
    /// [`limit`](Self::limit).
    ///
    /// ```
    /// use mcp_proto::{Page, PageRequest, RequestError, Resource};
    ///
    /// async fn list(days: Vec<String>, page: PageRequest) -> Result<Page<Resource>, RequestError> {
    ///     let days = page.cut(days, |day| day);
    ///     Ok(days.map(|day| Resource::new(format!("notes://{day}"), day)))
    /// }
    /// ```
    #[must_use]
    pub fn cut<T>(&self, all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> &str) -> Page<T> {
        let is_after = |one: &T| self.after.as_deref().is_none_or(|after| key(one) > after);
        let mut rest = all.into_iter().filter(is_after);
        let items: Vec<T> = rest.by_ref().take(self.limit).collect();
        let next = rest.next().and_then(|_| items.last()).map(|last| key(last).to_owned());
        Page { items, next }
    }
}

impl<T> Page<T> {
    /// The last page.
    pub fn last(items: Vec<T>) -> Self {
        Self { items, next: None }
    }

    /// A page with more pages, which continue after `next`.
    pub fn with_next(items: Vec<T>, next: impl Into<String>) -> Self {
        Self { items, next: Some(next.into()) }
    }

    /// The page with another item for each.
    #[must_use]
    pub fn map<U>(self, other: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(other).collect(), next: self.next }
    }
}
