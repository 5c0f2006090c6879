//! The methods of either era, and what of the server's capabilities they belong to.

use super::skills;
use crate::lifecycle::ServerCapabilities;
use crate::version::Era;

/// A method that this library knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    CallTool,
    ListTools,
    ListResources,
    ListTemplates,
    ReadResource,
    ReadDirectory,
    ListSkills,
    GetSkill,
    ListPrompts,
    GetPrompt,
    Complete,
    Discover,
    Listen,
    Subscribe,
    Unsubscribe,
    SetLogLevel,
    GetTask,
    CancelTask,
    UpdateTask,
    TaskResult,
    ListTasks,
    Ping,
    Initialize,
}

impl Method {
    /// The one match from a method's name in an era to its meaning.
    pub(super) fn parse(name: &str, era: Era) -> Option<Self> {
        Some(match (name, era) {
            ("tools/call", _) => Self::CallTool,
            ("tools/list", _) => Self::ListTools,
            ("resources/list", _) => Self::ListResources,
            ("resources/templates/list", _) => Self::ListTemplates,
            ("resources/read", _) => Self::ReadResource,
            ("resources/directory/read", _) => Self::ReadDirectory,
            ("skills/list", _) => Self::ListSkills,
            ("skills/get", _) => Self::GetSkill,
            ("prompts/list", _) => Self::ListPrompts,
            ("prompts/get", _) => Self::GetPrompt,
            ("completion/complete", _) => Self::Complete,
            ("server/discover", Era::Modern) => Self::Discover,
            ("subscriptions/listen", Era::Modern) => Self::Listen,
            ("resources/subscribe", Era::Legacy) => Self::Subscribe,
            ("resources/unsubscribe", Era::Legacy) => Self::Unsubscribe,
            ("logging/setLevel", Era::Legacy) => Self::SetLogLevel,
            ("tasks/get", _) => Self::GetTask,
            ("tasks/cancel", _) => Self::CancelTask,
            ("tasks/update", Era::Modern) => Self::UpdateTask,
            ("tasks/result", Era::Legacy) => Self::TaskResult,
            ("tasks/list", Era::Legacy) => Self::ListTasks,
            ("ping", Era::Legacy) => Self::Ping,
            ("initialize", Era::Legacy) => Self::Initialize,
            _ => return None,
        })
    }

    /// The name of a method that lists or asks.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::CallTool => "tools/call",
            Self::ListTools => "tools/list",
            Self::ListResources => "resources/list",
            Self::ListTemplates => "resources/templates/list",
            Self::ReadResource => "resources/read",
            Self::ReadDirectory => "resources/directory/read",
            Self::ListSkills => "skills/list",
            Self::GetSkill => "skills/get",
            Self::ListPrompts => "prompts/list",
            Self::GetPrompt => "prompts/get",
            Self::Complete => "completion/complete",
            Self::Discover => "server/discover",
            Self::Listen => "subscriptions/listen",
            Self::Subscribe => "resources/subscribe",
            Self::Unsubscribe => "resources/unsubscribe",
            Self::SetLogLevel => "logging/setLevel",
            Self::GetTask => "tasks/get",
            Self::CancelTask => "tasks/cancel",
            Self::UpdateTask => "tasks/update",
            Self::TaskResult => "tasks/result",
            Self::ListTasks => "tasks/list",
            Self::Ping => "ping",
            Self::Initialize => "initialize",
        }
    }

    /// Whether its handler may ask the client: nothing of its results is made beforehand.
    pub(super) fn may_ask(self) -> bool {
        matches!(self, Self::CallTool | Self::ReadResource | Self::GetPrompt)
    }

    /// The member of a list's result that holds its items.
    pub(super) fn list_member(self) -> &'static str {
        match self {
            Self::ListTools => "tools",
            Self::ListTemplates => "resourceTemplates",
            Self::ListPrompts => "prompts",
            Self::ListSkills => "skills",
            Self::ListTasks => "tasks",
            _ => "resources",
        }
    }

    /// Whether a server of these capabilities has it.
    pub(super) fn is_offered(self, server: &ServerCapabilities) -> bool {
        match self {
            Self::CallTool | Self::ListTools => server.tools.is_some(),
            Self::ListResources | Self::ListTemplates | Self::ReadResource => {
                server.resources.is_some()
            }
            Self::ReadDirectory | Self::ListSkills | Self::GetSkill => {
                server.extensions.contains_key(skills::EXTENSION)
            }
            Self::Subscribe | Self::Unsubscribe => server
                .resources
                .is_some_and(|resources| resources.subscribe),
            Self::ListPrompts | Self::GetPrompt => server.prompts.is_some(),
            Self::Complete => server.completions.is_some(),
            Self::SetLogLevel => server.logging.is_some(),
            Self::GetTask
            | Self::CancelTask
            | Self::UpdateTask
            | Self::TaskResult
            | Self::ListTasks => server.has_tasks,
            Self::Discover | Self::Listen | Self::Ping | Self::Initialize => true,
        }
    }
}
