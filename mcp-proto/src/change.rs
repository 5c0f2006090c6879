//! Changes in what a server offers, and how listeners are notified of them.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

/// Something the server offers has changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub enum Change {
    /// The list of tools.
    ToolsListChanged,
    /// The list of prompts.
    PromptsListChanged,
    /// The list of resources or of their templates.
    ResourcesListChanged,
    /// The contents of a resource.
    ResourceUpdated(ResourceUpdate),
}

/// The contents of a resource have changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
#[must_use]
pub struct ResourceUpdate {
    /// The resource.
    pub uri: String,
    /// Sent as `_meta`, for clients that understand it.
    pub meta: Option<Map<String, Value>>,
    /// Details for a matcher ([`ServerBuilder::subscription_matcher`](crate::ServerBuilder::subscription_matcher)).
    pub detail: Option<Arc<dyn Any + Send + Sync>>,
}

/// Notifies listeners of changes: the server, as the modules below it see it.
pub(crate) trait Notify: fmt::Debug + Send + Sync {
    /// Notifies every listener that has asked for such changes.
    fn notify(&self, change: Change);
}

impl ResourceUpdate {
    /// An update of the resource at `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), meta: None, detail: None }
    }

    /// The same with metadata for `_meta`.
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// The same change with details that the matcher of subscriptions reads.
    pub fn with_detail(mut self, detail: Arc<dyn Any + Send + Sync>) -> Self {
        self.detail = Some(detail);
        self
    }
}

impl Change {
    /// The list of tools has changed.
    pub fn tools_list_changed() -> Self {
        Self::ToolsListChanged
    }

    /// The list of prompts has changed.
    pub fn prompts_list_changed() -> Self {
        Self::PromptsListChanged
    }

    /// The list of resources or of their templates has changed.
    pub fn resources_list_changed() -> Self {
        Self::ResourcesListChanged
    }

    /// The contents of the resource at `uri` have changed.
    pub fn resource_updated(uri: impl Into<String>) -> Self {
        Self::ResourceUpdated(ResourceUpdate::new(uri))
    }
}
