//! Completion of arguments of prompts and variables of resource templates (MCP "Completion").

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::context::Context;
use crate::handler::Arguments;
use crate::interrupt::{Interrupt, RequestError};
use crate::json;
use crate::jsonrpc::{ErrorObject, Result};
use crate::service::Handle;

/// The most values of one answer (schema: `CompleteResult`).
pub const MAX_COMPLETIONS: usize = 100;

/// A request to complete an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct CompletionRequest {
    /// The part of the argument that has been typed so far; may be empty.
    pub value: String,
    /// The arguments that already have a value, by name (since 2025-06-18).
    pub arguments: BTreeMap<String, String>,
}

/// Values for an argument, the likeliest first (schema: `CompleteResult.completion`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Completion {
    /// The values; those above [`MAX_COMPLETIONS`] are cut off.
    pub values: Vec<String>,
    /// How many there are in all, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_more: bool,
}

/// What is completed: the argument of a prompt, or the variable of a template.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Reference {
    Prompt(String),
    Template(String),
}

type Completer = Arc<
    dyn Fn(CompletionRequest, Context) -> BoxFuture<'static, Result<Completion, RequestError>>
        + Send
        + Sync,
>;

/// Completers, by argument. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct CompletionRegistry(HashMap<(Reference, String), Completer>);

/// The params of `completion/complete`, read.
pub(crate) struct CompleteParams {
    pub(crate) reference: Reference,
    pub(crate) argument: String,
    pub(crate) request: CompletionRequest,
}

impl Arguments for CompletionRequest {}

impl CompletionRequest {
    /// A request with this text and no other arguments, for calling a handler without a server.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), arguments: BTreeMap::new() }
    }

    /// The same with another argument that already has a value.
    pub fn with_argument(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.arguments.insert(name.into(), value.into());
        self
    }
}

impl Completion {
    /// The values of a list that begin with the typed text, ignoring case, in the list's order.
    pub fn matching<T: AsRef<str>>(
        request: &CompletionRequest,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let typed = request.value.to_lowercase();
        let fits = |value: &T| value.as_ref().to_lowercase().starts_with(&typed);
        let mut found = Self::default();
        let mut total = 0;
        for value in values.into_iter().filter(fits) {
            total += 1;
            if found.values.len() < MAX_COMPLETIONS {
                found.values.push(value.as_ref().to_owned());
            }
        }
        found.has_more = total > found.values.len() as u64;
        found.total = Some(total);
        found
    }

    /// These values, and there are no more.
    pub fn all(values: Vec<String>) -> Self {
        Self { total: Some(values.len() as u64), values, has_more: false }
    }

    /// These values, and there are more; how many in all, if known.
    pub fn first(values: Vec<String>, total: Option<u64>) -> Self {
        Self { values, total, has_more: true }
    }

    /// In the bounds of the protocol.
    fn bounded(mut self) -> Self {
        if self.values.len() > MAX_COMPLETIONS {
            if !self.has_more {
                self.total.get_or_insert(self.values.len() as u64);
            }
            self.values.truncate(MAX_COMPLETIONS);
            self.has_more = true;
        }
        self
    }
}

impl CompletionRegistry {
    /// False when there is a completer for it already.
    pub(crate) fn add(
        &mut self,
        reference: Reference,
        argument: String,
        completer: impl Handle<CompletionRequest, Result<Completion, RequestError>>,
    ) -> bool {
        self.0.insert((reference, argument), Arc::new(completer)).is_none()
    }

    /// Completes an argument from all the values that it can have, unless it has a completer.
    pub(crate) fn add_if_absent(
        &mut self,
        reference: Reference,
        argument: &str,
        values: Vec<String>,
    ) {
        let completer = self.0.entry((reference, argument.to_owned()));
        completer.or_insert_with(|| {
            Arc::new(move |request, _context| {
                let completion = Completion::matching(&request, &values);
                Box::pin(ready(Ok(completion)))
            })
        });
    }

    /// Removes the completers of a prompt or a template that was removed.
    pub(crate) fn remove(&mut self, reference: &Reference) {
        self.0.retain(|(of, _), _| of != reference);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The arguments that can be completed.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (&Reference, &str)> {
        self.0.keys().map(|(reference, argument)| (reference, argument.as_str()))
    }

    /// The values for an argument that exists; none without a completer for it.
    pub(crate) async fn complete(
        &self,
        params: CompleteParams,
        context: Context,
    ) -> Result<Completion, Interrupt> {
        let (era, id) = (context.era(), context.request_id.clone());
        let key = (params.reference, params.argument);
        let Some(completer) = self.0.get(&key) else {
            return Ok(Completion::default());
        };
        match completer(params.request, context).await {
            Ok(completion) => Ok(completion.bounded()),
            Err(error) => {
                let error = error.log("completion/complete", &key.1, &id);
                Err(error.into_interrupt(era, None))
            }
        }
    }
}

impl CompleteParams {
    /// −32602 for params that do not match the schema (`CompleteRequestParams`).
    pub(crate) fn read(params: &Map<String, Value>) -> Result<Self> {
        let text = |of: &Value, name: &str| of.get(name).and_then(Value::as_str).map(str::to_owned);
        let reference = params.get("ref").unwrap_or(&Value::Null);
        let reference = match text(reference, "type").as_deref() {
            Some("ref/prompt") => text(reference, "name").map(Reference::Prompt),
            Some("ref/resource") => text(reference, "uri").map(Reference::Template),
            _ => None,
        };
        let reference = reference.ok_or_else(|| {
            ErrorObject::invalid_params(
                "params.ref must be {\"type\": \"ref/prompt\", \"name\": …} or {\"type\": \"ref/resource\", \"uri\": …}",
            )
        })?;
        let argument = params.get("argument").unwrap_or(&Value::Null);
        let (Some(name), Some(value)) = (text(argument, "name"), text(argument, "value")) else {
            return Err(ErrorObject::invalid_params(
                "params.argument must be an object with the strings name and value",
            ));
        };
        Ok(Self {
            reference,
            argument: name,
            request: CompletionRequest { value, arguments: settled(params.get("context"))? },
        })
    }
}

/// `context.arguments`: strings by name.
fn settled(context: Option<&Value>) -> Result<BTreeMap<String, String>> {
    let wrong =
        || ErrorObject::invalid_params("params.context.arguments must be an object of strings");
    let mut context = json::object_or_empty(context.cloned()).ok_or_else(wrong)?;
    let arguments = json::object_or_empty(context.remove("arguments")).ok_or_else(wrong)?;
    let texts = arguments.into_iter().map(|(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        _ => Err(wrong()),
    });
    texts.collect()
}
