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

impl Method {
    /// The one match from a method's name in an era to its meaning.
    pub(crate) fn parse(name: &str, era: Era) -> Option<Self> {
        Some(match (name, era) {
            ("tools/call", _) => Self::CallTool,
            ("tools/list", _) => Self::ListTools,
            ("resources/list", _) => Self::ListResources,
            ("resources/templates/list", _) => Self::ListTemplates,
            ("resources/read", _) => Self::ReadResource,
            ("prompts/list", _) => Self::ListPrompts,
            ("prompts/get", _) => Self::GetPrompt,
            ("completion/complete", _) => Self::Complete,
            ("server/discover", Era::Modern) => Self::Discover,
            ("subscriptions/listen", Era::Modern) => Self::Listen,
            ("tasks/get", Era::Modern) => Self::GetTask,
            ("tasks/cancel", Era::Modern) => Self::CancelTask,
            ("tasks/update", Era::Modern) => Self::UpdateTask,
            _ => return None,
        })
    }

    /// The name of a method that lists items or may ask the client.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::CallTool => "tools/call",
            Self::ListTools => "tools/list",
            Self::ListResources => "resources/list",
            Self::ListTemplates => "resources/templates/list",
            Self::ReadResource => "resources/read",
            Self::ListPrompts => "prompts/list",
            Self::GetPrompt => "prompts/get",
            Self::Complete => "completion/complete",
            Self::Discover => "server/discover",
            Self::Listen => "subscriptions/listen",
            Self::GetTask => "tasks/get",
            Self::CancelTask => "tasks/cancel",
            Self::UpdateTask => "tasks/update",
        }
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
