//! Why a handler returns before it has a result.

use std::error::Error;
use std::fmt;

use serde_json::{Map, Value, json};

use crate::cause::Cause;
use crate::input::Questions;
use crate::jsonrpc::{ErrorObject, RequestId};
use crate::version::Era;

/// The reason why a handler returns without a result, through `?`: it needs input from the client first, or the request
/// cannot be served. Created by the methods of [`Context`](crate::Context) that ask, or from an [`ErrorObject`].
///
/// The library does the rest: it sends the question to the client in the form of its era, and calls the handler again
/// with the answer.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Interrupt(pub(crate) Reason);

/// How the library continues.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reason {
    /// The answer is a protocol error.
    Error(ErrorObject),
    /// The client is asked, and the handler is called again.
    Ask(Box<Questions>),
    /// The call becomes a task, and the handler is called again in that task.
    StartTask,
}

/// Why a resource, a prompt or a completion cannot be returned.
///
/// `?` makes one of any [`Error`], by the same rules as for a [`ToolError`](crate::ToolError): its cause goes to the
/// log, and the caller gets −32603.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum RequestError {
    /// What was asked for does not exist: −32602, for resources of the legacy era −32002.
    NotFound {
        /// A sentence that says what does not exist, and what does.
        message: String,
        /// Details for programs; the library adds `uri` for a resource.
        data: Map<String, Value>,
    },
    /// The server failed inside: −32603 without details.
    Internal(Cause),
    /// Any other protocol error, or a question to the client.
    Interrupt(Interrupt),
}

impl Interrupt {
    /// A description for a log.
    pub(crate) fn describe(&self) -> &str {
        match &self.0 {
            Reason::Error(error) => &error.message,
            Reason::Ask(_) => "the client must be asked first",
            Reason::StartTask => "the call becomes a task",
        }
    }
}

impl From<ErrorObject> for Interrupt {
    fn from(error: ErrorObject) -> Self {
        Self(Reason::Error(error))
    }
}

impl RequestError {
    /// What was asked for does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::NotFound { message: message.into(), data: Map::new() }
    }

    /// The params are wrong: −32602.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        ErrorObject::invalid_params(message).into()
    }

    /// The server failed: −32603. The cause, an error or a sentence, goes only to its log.
    pub fn internal(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Internal(Cause::new(cause))
    }

    /// The same with one more detail for programs. Does not change an internal error or a question to the client.
    #[must_use]
    pub fn with_data(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        match &mut self {
            Self::NotFound { data, .. } => {
                data.insert(name.into(), value.into());
            }
            Self::Interrupt(Interrupt(Reason::Error(error))) => {
                let data = error.data.get_or_insert_with(|| json!({}));
                if let Some(members) = data.as_object_mut() {
                    members.insert(name.into(), value.into());
                }
            }
            Self::Internal(_) | Self::Interrupt(_) => {}
        }
        self
    }

    /// Writes the cause of an internal error to the log.
    pub(crate) fn log(self, method: &str, name: &str, request_id: &RequestId) -> Self {
        if let Self::Internal(cause) = &self {
            tracing::error!(method, name, %request_id, %cause, "a request failed");
        }
        self
    }

    /// The error for the client, or the interrupt for the library; `uri` if a resource was requested.
    pub(crate) fn into_interrupt(self, era: Era, uri: Option<&str>) -> Interrupt {
        match self {
            Self::Interrupt(interrupt) => interrupt,
            Self::Internal(_) => ErrorObject::internal().into(),
            Self::NotFound { message, mut data } => {
                let code = match (era, uri) {
                    (Era::Legacy, Some(_)) => ErrorObject::RESOURCE_NOT_FOUND,
                    _ => ErrorObject::INVALID_PARAMS,
                };
                if let Some(uri) = uri {
                    data.insert("uri".to_owned(), Value::from(uri));
                }
                let error = ErrorObject::new(code, message);
                Interrupt::from(if data.is_empty() {
                    error
                } else {
                    error.with_data(Value::Object(data))
                })
            }
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { message, .. } => formatter.write_str(message),
            Self::Internal(_) => formatter.write_str(&ErrorObject::internal().message),
            Self::Interrupt(interrupt) => formatter.write_str(interrupt.describe()),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for RequestError {
    fn from(error: E) -> Self {
        Self::internal(error)
    }
}

impl From<Interrupt> for RequestError {
    fn from(interrupt: Interrupt) -> Self {
        Self::Interrupt(interrupt)
    }
}

impl From<ErrorObject> for RequestError {
    fn from(error: ErrorObject) -> Self {
        Self::Interrupt(error.into())
    }
}
