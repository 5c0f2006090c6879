//! The methods, and the server capabilities that they belong to.

use crate::lifecycle::ServerCapabilities;
use crate::version::Era;

/// A method of 2026-07-28; most are also those of older revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    CallTool,
    ListTools,
    ListResources,
    ListTemplates,
    ReadResource,
    ListPrompts,
    GetPrompt,
    Complete,
    Discover,
    Listen,
    GetTask,
    CancelTask,
    UpdateTask,
}

/// Every method by its name.
const NAMES: [(&str, Method); 13] = [
    ("tools/call", Method::CallTool),
    ("tools/list", Method::ListTools),
    ("resources/list", Method::ListResources),
    ("resources/templates/list", Method::ListTemplates),
    ("resources/read", Method::ReadResource),
    ("prompts/list", Method::ListPrompts),
    ("prompts/get", Method::GetPrompt),
    ("completion/complete", Method::Complete),
    ("server/discover", Method::Discover),
    ("subscriptions/listen", Method::Listen),
    ("tasks/get", Method::GetTask),
    ("tasks/cancel", Method::CancelTask),
    ("tasks/update", Method::UpdateTask),
];

impl Method {
    /// What a method's name means in an era.
    pub(crate) fn parse(name: &str, era: Era) -> Option<Self> {
        let (_, method) = NAMES.iter().find(|(known, _)| *known == name)?;
        Some(*method).filter(|method| era == Era::Modern || !method.is_modern())
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        let known = NAMES.iter().find(|(_, method)| *method == self);
        known.map_or("", |(name, _)| name)
    }

    /// Whether only the modern era has it.
    fn is_modern(self) -> bool {
        use Method::{CancelTask, Discover, GetTask, Listen, UpdateTask};
        matches!(self, Discover | Listen | GetTask | CancelTask | UpdateTask)
    }

    /// Whether its handler may ask the client: its results cannot be prepared.
    pub(crate) fn may_ask(self) -> bool {
        matches!(self, Self::CallTool | Self::ReadResource | Self::GetPrompt)
    }

    /// The member of a list's result that holds its items.
    pub(crate) fn list_member(self) -> &'static str {
        match self {
            Self::ListTools => "tools",
            Self::ListTemplates => "resourceTemplates",
            Self::ListPrompts => "prompts",
            _ => "resources",
        }
    }

    /// Whether a server with these capabilities offers it.
    pub(crate) fn is_offered(self, server: &ServerCapabilities) -> bool {
        match self {
            Self::CallTool | Self::ListTools => server.tools.is_some(),
            Self::ListResources | Self::ListTemplates | Self::ReadResource => {
                server.resources.is_some()
            }
            Self::ListPrompts | Self::GetPrompt => server.prompts.is_some(),
            Self::Complete => server.completions.is_some(),
            Self::GetTask | Self::CancelTask | Self::UpdateTask => server.has_tasks,
            Self::Discover | Self::Listen => true,
        }
    }
}
