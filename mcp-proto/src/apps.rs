//! MCP Apps (extension `io.modelcontextprotocol/ui`, SEP-1865, 2026-01-26): pages that a client shows beside a tool's
//! results, in a separate frame that may communicate with it.
//!
//! A page is a resource of the scheme `ui:` ([`ServerBuilder::ui_page`](crate::ServerBuilder::ui_page)), and a tool
//! names it ([`Tool::with_ui`]). Clients without the extension ignore both, so such a tool still returns everything in
//! its `content`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::content::Resource;
use crate::content::{Icon, ResourceContents};
use crate::lifecycle::ClientCapabilities;
use crate::tool::Tool;

/// The identifier of the extension.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of a page.
pub const UI_MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The member of `_meta` that the extension uses.
const META_UI: &str = "ui";
const SCHEME: &str = "ui://";

/// A page and the permissions of its frame (the extension's `UIResource` and `UIResourceMeta`). By default it may load
/// nothing from other origins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct UiResource {
    /// The page's URI, which begins with `ui://`, such as `ui://weather/dashboard`.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// A description of the page.
    pub description: Option<String>,
    /// Its icons.
    pub icons: Vec<Icon>,
    /// The other origins that it may load from.
    pub csp: UiCsp,
    /// The browser features that it requests; the client may refuse them.
    pub permissions: Vec<UiPermission>,
    /// A separate origin for the page, in the form that the client's documentation specifies.
    pub domain: Option<String>,
    /// Whether the client draws a border and a background; by default the client decides.
    pub prefers_border: Option<bool>,
}

/// The origins that a page may load from, such as `https://api.example.com`; none by default (the extension's
/// `McpUiResourceCsp`). The client builds a Content Security Policy from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UiCsp {
    /// Origins for requests (`connect-src`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_domains: Vec<String>,
    /// Origins for images, scripts, styles, fonts and media; `https://*.example.com` covers subdomains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_domains: Vec<String>,
    /// Origins for nested frames (`frame-src`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame_domains: Vec<String>,
    /// Origins for the base of relative URLs (`base-uri`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_uri_domains: Vec<String>,
}

/// A browser feature that a page requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UiPermission {
    /// The camera.
    Camera,
    /// The microphone.
    Microphone,
    /// The user's location.
    Geolocation,
    /// Writing to the clipboard.
    ClipboardWrite,
}

/// Who may call a tool. This is a hint to clients with the extension, not access control: other clients see every tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UiVisibility {
    /// The model and the pages of this server; the default.
    ModelAndApp,
    /// Only the model.
    Model,
    /// Only the pages of this server, for example for a button.
    App,
}

impl UiResource {
    /// A page with this URI and programmatic name. The rest are public fields.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            icons: Vec::new(),
            csp: UiCsp::default(),
            permissions: Vec::new(),
            domain: None,
            prefers_border: None,
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

    /// The same with the other origins that it may load from.
    pub fn with_csp(mut self, csp: UiCsp) -> Self {
        self.csp = csp;
        self
    }

    /// The same with a request for a browser feature.
    pub fn with_permission(mut self, permission: UiPermission) -> Self {
        self.permissions.push(permission);
        self
    }

    /// What is wrong with it.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !is_ui_uri(&self.uri) {
            return Err(format!("the URI of a page is {SCHEME} and a path"));
        }
        // A character that ends a source, or a directive, would say something else than the list it stands in.
        let is_origin = |origin: &&String| {
            !origin.is_empty()
                && origin.bytes().all(|byte| byte.is_ascii_graphic() && !b";,'\"".contains(&byte))
        };
        match self.csp.all().find(|origin| !is_origin(origin)) {
            Some(origin) => {
                Err(format!("{origin:?} is not an origin such as \"https://api.example.com\""))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn listed(&self) -> Resource {
        let mut resource =
            Resource::new(self.uri.clone(), self.name.clone()).with_mime_type(UI_MIME_TYPE);
        resource.title.clone_from(&self.title);
        resource.description.clone_from(&self.description);
        resource.icons.clone_from(&self.icons);
        resource.meta = self.meta();
        resource
    }

    /// Its contents without the HTML.
    pub(crate) fn empty(&self) -> ResourceContents {
        let empty = ResourceContents::empty(Some(UI_MIME_TYPE.to_owned()));
        ResourceContents { meta: self.meta(), ..empty }
    }

    /// `_meta.ui`, both when the page is listed and when it is read: clients look at either.
    fn meta(&self) -> Option<Map<String, Value>> {
        let mut ui = Map::new();
        if self.csp != UiCsp::default() {
            ui.insert("csp".to_owned(), json!(self.csp));
        }
        if !self.permissions.is_empty() {
            let names = self.permissions.iter().map(|asked| asked.name().to_owned());
            let permissions = names.map(|name| (name, json!({})));
            ui.insert("permissions".to_owned(), permissions.collect::<Map<_, _>>().into());
        }
        if let Some(domain) = &self.domain {
            ui.insert("domain".to_owned(), json!(domain));
        }
        if let Some(border) = self.prefers_border {
            ui.insert("prefersBorder".to_owned(), json!(border));
        }
        (!ui.is_empty()).then(|| Map::from_iter([(META_UI.to_owned(), ui.into())]))
    }
}

impl UiCsp {
    fn all(&self) -> impl Iterator<Item = &String> {
        let (connect, resource) = (&self.connect_domains, &self.resource_domains);
        let (frame, base) = (&self.frame_domains, &self.base_uri_domains);
        connect.iter().chain(resource).chain(frame).chain(base)
    }
}

impl UiPermission {
    fn name(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboardWrite",
        }
    }
}

impl Tool {
    /// The same with its results shown by the page at `uri`, which the server must have
    /// ([`ServerBuilder::ui_page`](crate::ServerBuilder::ui_page)).
    pub fn with_ui(self, uri: impl Into<String>) -> Self {
        self.with_ui_member("resourceUri", uri.into().into())
    }

    /// The same with a limit on who may call it.
    pub fn with_ui_visibility(self, visibility: UiVisibility) -> Self {
        let visibility = match visibility {
            UiVisibility::ModelAndApp => json!(["model", "app"]),
            UiVisibility::Model => json!(["model"]),
            UiVisibility::App => json!(["app"]),
        };
        self.with_ui_member("visibility", visibility)
    }

    fn with_ui_member(mut self, name: &str, value: Value) -> Self {
        let meta = self.meta.get_or_insert_default();
        let ui = meta.entry(META_UI).or_insert_with(|| json!({}));
        if !ui.is_object() {
            *ui = json!({});
        }
        if let Some(ui) = ui.as_object_mut() {
            ui.insert(name.to_owned(), value);
        }
        self
    }
}

impl ClientCapabilities {
    /// Whether the client shows pages beside results (MCP Apps). A tool may then return less text.
    pub fn can_show_apps(&self) -> bool {
        let types =
            self.extension(UI_EXTENSION).and_then(|settings| settings.get("mimeTypes")?.as_array());
        types.is_some_and(|types| types.iter().any(|mime| mime == UI_MIME_TYPE))
    }
}

/// A tool's metadata for the extension.
pub(crate) fn ui_of(tool: &Tool) -> Option<&Value> {
    tool.meta.as_ref()?.get(META_UI).filter(|ui| ui.is_object())
}

/// The error in the page that a tool names, given the listed resources and whether there may be other resources.
pub(crate) fn check_tool<'r>(
    tool: &Tool,
    mut listed: impl Iterator<Item = &'r Resource>,
    is_there: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let Some(uri) = ui_of(tool).and_then(|ui| ui.get("resourceUri")) else {
        return Ok(());
    };
    let uri = uri.as_str().filter(|uri| is_ui_uri(uri));
    let uri = uri.ok_or_else(|| format!("_meta.ui.resourceUri must be {SCHEME} and a path"))?;
    if !is_there(uri) {
        return Err(format!(
            "it names the page {uri:?}, but there is no such resource: add it by ui_page or ui_resource"
        ));
    }
    match listed.find(|resource| resource.uri == uri) {
        Some(page) if page.mime_type.as_deref() != Some(UI_MIME_TYPE) => {
            Err(format!("it names the page {uri:?}, whose media type must be {UI_MIME_TYPE:?}"))
        }
        _ => Ok(()),
    }
}

fn is_ui_uri(uri: &str) -> bool {
    uri.strip_prefix(SCHEME).is_some_and(|rest| !rest.is_empty())
}
