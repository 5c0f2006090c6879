//! Errors of building or changing a server.

/// An invalid server, or an invalid change of what it offers, found before any request is served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A tool's name or schema cannot be served.
    #[error("tool {name:?}: {problem}")]
    Tool {
        /// The tool.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A resource or a template cannot be served.
    #[error("resource {uri:?}: {problem}")]
    Resource {
        /// The URI or the URI template.
        uri: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A prompt cannot be served.
    #[error("prompt {name:?}: {problem}")]
    Prompt {
        /// The prompt.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A completer is for an argument that does not exist, or one argument has two completers.
    #[error("completion of {argument:?} of {of:?}: {problem}")]
    Completion {
        /// The prompt or the URI template.
        of: String,
        /// The argument or the variable.
        argument: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A property of the server itself is invalid.
    #[error("{0}")]
    Server(String),
}

impl BuildError {
    pub(super) fn tool(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Tool { name: name.into(), problem: problem.into() }
    }

    pub(super) fn prompt(name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Prompt { name: name.into(), problem: problem.into() }
    }

    pub(super) fn resource(uri: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Resource { uri: uri.into(), problem: problem.into() }
    }
}
