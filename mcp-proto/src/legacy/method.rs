//! The methods that only revisions up to 2025-11-25 have, or define differently.

use crate::lifecycle::ServerCapabilities;

/// A method of these revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Subscribe,
    Unsubscribe,
    SetLogLevel,
    GetTask,
    CancelTask,
    TaskResult,
    ListTasks,
    Ping,
    Initialize,
}

impl Method {
    /// The method of that name, if a server with these capabilities offers it.
    pub(crate) fn find(name: &str, server: &ServerCapabilities) -> Option<Self> {
        let subscribes = || server.resources.is_some_and(|resources| resources.subscribe);
        let (method, is_offered) = match name {
            "resources/subscribe" => (Self::Subscribe, subscribes()),
            "resources/unsubscribe" => (Self::Unsubscribe, subscribes()),
            "logging/setLevel" => (Self::SetLogLevel, server.logging.is_some()),
            "tasks/get" => (Self::GetTask, server.has_tasks),
            "tasks/cancel" => (Self::CancelTask, server.has_tasks),
            "tasks/result" => (Self::TaskResult, server.has_tasks),
            "tasks/list" => (Self::ListTasks, server.has_tasks),
            "ping" => (Self::Ping, true),
            "initialize" => (Self::Initialize, true),
            _ => return None,
        };
        is_offered.then_some(method)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Subscribe => "resources/subscribe",
            Self::Unsubscribe => "resources/unsubscribe",
            Self::SetLogLevel => "logging/setLevel",
            Self::GetTask => "tasks/get",
            Self::CancelTask => "tasks/cancel",
            Self::TaskResult => "tasks/result",
            Self::ListTasks => "tasks/list",
            Self::Ping => "ping",
            Self::Initialize => "initialize",
        }
    }
}
