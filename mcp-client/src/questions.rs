//! Types for the server's questions to a client's user, model and machine: elicitation, sampling and roots.

use std::future::Future;
use std::sync::{Arc, Mutex};

use mcp_proto::input::{CreateMessageResult, ElicitResult, Root};
use mcp_proto::jsonrpc::{ErrorObject, Payload, Request};
use mcp_proto::{CreateMessage, Era};
use serde_json::{Value, json};

use super::answering::Callback;
use super::{Client, ClientConfig, Result};
use crate::locked::Locked as _;

/// A question of the server to the user (schema: `ElicitRequest`).
///
/// Show who asks, and let the user decline. The client opens no URL and fetches none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Elicitation {
    /// What it is for, in words for the user.
    pub message: String,
    /// A form or a URL.
    pub kind: ElicitationKind,
}

/// How the user is asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ElicitationKind {
    /// By a form, which must not ask for secrets.
    Form {
        /// The fields: a flat JSON Schema of an object (`requestedSchema`).
        schema: Value,
    },
    /// By a page to open. Show the whole URL first. Accepting means that the user agreed, not that the task is done.
    Url {
        /// The page.
        url: String,
        /// Identifies the elicitation for clients of 2025-11-25, in `notifications/elicitation/complete`.
        id: Option<String>,
    },
}

/// The folders that the server may work in; clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct Folders(Arc<Mutex<Vec<Root>>>);

impl ClientConfig {
    /// The same, with what asks the user, and the capability for it: forms and URLs. See
    /// [`ClientConfig::with_defaults`].
    ///
    /// ```
    /// use mcp_proto::input::ElicitResult;
    /// use mcp_proto_client::{ClientConfig, ElicitationKind};
    /// use serde_json::{Map, json};
    ///
    /// let config = ClientConfig::default().with_elicitation(async |asked| match asked.kind {
    ///     ElicitationKind::Form { .. } => {
    ///         ElicitResult::accept(Map::from_iter([("name".to_owned(), json!("Alice"))]))
    ///     }
    ///     _ => ElicitResult::decline(),
    /// });
    /// assert!(config.capabilities.contains_key("elicitation"));
    /// ```
    pub fn with_elicitation<F, R>(mut self, answers: F) -> Self
    where
        F: Fn(Elicitation) -> R + Send + Sync + 'static,
        R: Future<Output = ElicitResult> + Send + 'static,
    {
        let can = json!({ "form": {}, "url": {} });
        self.capabilities.insert("elicitation".to_owned(), can);
        self.answers.single.insert(
            "elicitation/create",
            Callback::new(move |request| {
                let asked = Elicitation::read(&request).map(&answers);
                async move { result(&asked?.await) }
            }),
        );
        self
    }

    /// The same, and an accepted form gets the defaults of its schema for the fields that the callback left out.
    pub fn with_defaults(mut self) -> Self {
        self.answers.fill_defaults = true;
        self
    }

    /// The same, with the callback that samples a model, and the capability for it. A host that lets the model use
    /// tools declares `sampling.tools` in [`ClientConfig::capabilities`] afterwards.
    pub fn with_sampling<F, R>(mut self, answers: F) -> Self
    where
        F: Fn(CreateMessage) -> R + Send + Sync + 'static,
        R: Future<Output = Result<CreateMessageResult, ErrorObject>> + Send + 'static,
    {
        self.capabilities.insert("sampling".to_owned(), json!({}));
        self.answers.single.insert(
            "sampling/createMessage",
            Callback::new(move |request| {
                let asked = read::<CreateMessage>(request).map(&answers);
                async move { result(&asked?.await?) }
            }),
        );
        self
    }

    /// The same, with the folders that the server may work in, and the capability for them.
    /// [`Client::set_roots`] changes them.
    pub fn with_roots(mut self, roots: impl Into<Vec<Root>>) -> Self {
        let can = json!({ "listChanged": true });
        self.capabilities.insert("roots".to_owned(), can);
        let folders = Folders::default();
        folders.set(roots.into());
        self.folders = folders.clone();
        self.answers.single.insert(
            "roots/list",
            Callback::new(move |_| {
                let roots = result(&json!({ "roots": folders.get() }));
                async move { roots }
            }),
        );
        self
    }
}

impl Client {
    /// Changes the folders of [`ClientConfig::with_roots`]. A legacy server is notified that they changed; a modern one
    /// asks each time it needs them.
    ///
    /// # Errors
    /// [`ClientError`](crate::ClientError) when a legacy server could not be notified.
    pub async fn set_roots(&self, roots: impl Into<Vec<Root>>) -> Result<()> {
        self.0.config.folders.set(roots.into());
        match self.era() {
            Era::Modern => Ok(()),
            Era::Legacy => {
                let changed = "notifications/roots/list_changed";
                self.notify(changed, json!({})).await
            }
        }
    }
}

impl Elicitation {
    /// A question with these words.
    pub fn new(message: impl Into<String>, kind: ElicitationKind) -> Self {
        Self { message: message.into(), kind }
    }

    fn read(request: &Request) -> Result<Self, ErrorObject> {
        let text = |name: &str| {
            let value = request.params.get(name).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let missing = |name: &str| {
            ErrorObject::invalid_params(format!("params.{name} of an elicitation must be a string"))
        };
        let kind = match text("mode").as_deref() {
            None | Some("form") => ElicitationKind::Form {
                schema: request
                    .params
                    .get("requestedSchema")
                    .filter(|schema| schema.is_object())
                    .cloned()
                    .ok_or_else(|| {
                        ErrorObject::invalid_params("params.requestedSchema must be an object")
                    })?,
            },
            Some("url") => ElicitationKind::Url {
                url: text("url").ok_or_else(|| missing("url"))?,
                id: text("elicitationId"),
            },
            Some(other) => {
                return Err(ErrorObject::invalid_params(format!(
                    "params.mode is {other:?}; it must be \"form\" or \"url\""
                )));
            }
        };
        let message = text("message").ok_or_else(|| missing("message"))?;
        Ok(Self { message, kind })
    }
}

impl Folders {
    fn get(&self) -> Vec<Root> {
        self.0.locked().clone()
    }

    fn set(&self, roots: Vec<Root>) {
        *self.0.locked() = roots;
    }
}

fn read<T: serde::de::DeserializeOwned>(request: Request) -> Result<T, ErrorObject> {
    let params = serde_json::from_value(Value::Object(request.params));
    params.map_err(|problem| ErrorObject::invalid_params(format!("{}: {problem}", request.method)))
}

fn result(result: &impl serde::Serialize) -> Result<Value, ErrorObject> {
    Ok(Payload::of(result)?.to_value())
}
