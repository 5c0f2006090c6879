//! The prompts of a server: looked up, their arguments checked, filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{GetPromptResult, IntoPrompt, Prompt, PromptArgument};
use crate::content;
use crate::context::Context;
use crate::handler::{self, Taken};
use crate::interrupt::{Interrupt, RequestError};
use crate::json;
use crate::jsonrpc::{ErrorObject, Result};
use crate::registry::Registry;
use crate::schema;
use crate::service::{Call, with_state};

/// The longest name of a prompt or an argument, in bytes.
const MAX_NAME: usize = 128;

/// The arguments of a prompt by name.
type Arguments = BTreeMap<String, String>;
type Handler = Arc<
    dyn Fn(Arguments, Context) -> BoxFuture<'static, Result<GetPromptResult, RequestError>>
        + Send
        + Sync,
>;

/// Prompts in the order of their registration, which is the order they are listed in. Clones share the prompts.
#[derive(Clone, Default)]
pub(crate) struct PromptRegistry(Registry<Arc<(Prompt, Handler)>>);

/// A prompt with its handler, or what is wrong with its types.
pub(crate) struct NewPrompt {
    pub(crate) prompt: Prompt,
    handler: Result<Handler, String>,
}

impl NewPrompt {
    /// A prompt whose arguments are the members of a type.
    pub(crate) fn typed<S, T, H>(mut prompt: Prompt, state: S, handler: H) -> Self
    where
        S: Clone + Send + Sync + 'static,
        T: Taken<Arguments: DeserializeOwned + JsonSchema>,
        H: handler::Handler<S, T> + Send + Sync + 'static,
        H::Future: Future<Output: IntoPrompt> + Send + 'static,
    {
        match typed_arguments::<T::Arguments>(&prompt) {
            Ok(arguments) => prompt.arguments = arguments,
            Err(problem) => return Self { prompt, handler: Err(problem) },
        }
        let handler = Arc::new(handler);
        Self::raw(prompt, state, move |state, arguments: Arguments, context| {
            let handler = Arc::clone(&handler);
            async move {
                let arguments =
                    arguments.into_iter().map(|(name, value)| (name, Value::String(value)));
                let arguments = serde_json::from_value(Value::Object(arguments.collect()))
                    .map_err(|problem| {
                        RequestError::invalid_params(format!("params.arguments: {problem}"))
                    })?;
                handler.call(state, arguments, context).await.into_prompt()
            }
        })
    }

    /// A prompt whose arguments are listed by hand.
    pub(crate) fn raw<S, F, R>(prompt: Prompt, state: S, handler: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        F: Fn(S, Arguments, Context) -> R + Send + Sync + 'static,
        R: Future<Output: IntoPrompt> + Send + 'static,
    {
        let handler = with_state(state, move |state, arguments, context| {
            let filled = handler(state, arguments, context);
            async move { filled.await.into_prompt() }
        });
        Self { prompt, handler: Ok(Arc::new(handler)) }
    }
}

/// The arguments of a prompt that are the members of a type.
fn typed_arguments<A: JsonSchema>(prompt: &Prompt) -> Result<Vec<PromptArgument>, String> {
    let schema = schema::input_schema_of::<A>().map_err(|problem| problem.to_string())?;
    if schema.get("type").is_none_or(|kind| kind != "object") {
        return Err("the type of its arguments must be a struct".to_owned());
    }
    if !prompt.arguments.is_empty() {
        return Err(
            "its arguments are derived from the handler's type: leave out those written by hand, or use raw_prompt"
                .to_owned(),
        );
    }
    arguments_of(&schema)
}

impl PromptRegistry {
    pub(crate) fn add(&mut self, new: NewPrompt) -> Result<(), String> {
        let NewPrompt { prompt, handler } = new;
        let handler = handler?;
        let fits = |name: &str| {
            !name.is_empty() && name.len() <= MAX_NAME && !name.chars().any(char::is_control)
        };
        if !fits(&prompt.name) || !prompt.arguments.iter().all(|argument| fits(&argument.name)) {
            return Err(format!(
                "names of prompts and arguments have 1 to {MAX_NAME} bytes and no control characters"
            ));
        }
        let mut names: Vec<_> = prompt.arguments.iter().map(|argument| &argument.name).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| matches!(pair, [one, two] if one == two)) {
            return Err("two arguments have the same name".to_owned());
        }
        content::check_icons(&prompt.icons)?;
        let name = prompt.name.clone();
        if !self.0.add(name, Arc::new((prompt, handler))) {
            return Err("another prompt has the same name".to_owned());
        }
        Ok(())
    }

    /// Removes a prompt; false if no prompt has this name.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name)
    }

    /// Whether `other` has the same prompt, not just another one with the same name.
    pub(crate) fn has_same(&self, name: &str, other: &Self) -> bool {
        let both = self.0.get(name).zip(other.0.get(name));
        both.is_some_and(|(one, other)| Arc::ptr_eq(one, other))
    }

    /// Whether the other registry has exactly these prompts.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0.is_same(&other.0, Arc::ptr_eq)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn list(&self) -> impl Iterator<Item = &Prompt> {
        self.0.iter().map(|registered| &registered.0)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Prompt> {
        self.0.get(name).map(|registered| &registered.0)
    }

    /// `prompts/get`: any error in the params is −32602.
    pub(crate) async fn fill_in(&self, call: Call) -> Result<GetPromptResult, Interrupt> {
        let Call { name, arguments, context, .. } = call;
        let era = context.era();
        let Some(name) = name else {
            let error = ErrorObject::invalid_params("prompts/get needs params.name, a string");
            return Err(error.into());
        };
        let Some(registered) = self.0.get(&name) else {
            return Err(unknown(&name).into());
        };
        let (prompt, handler) = &**registered;
        let arguments = read(prompt, arguments)?;
        let id = context.request_id.clone();
        let filled = handler(arguments, context).await;
        filled
            .map_err(|error| error.log("prompts/get", &prompt.name, &id).into_interrupt(era, None))
    }
}

/// The error for a name that does not belong to a prompt.
pub(crate) fn unknown(name: &str) -> ErrorObject {
    let shown: String = name.chars().take(MAX_NAME).collect();
    ErrorObject::invalid_params(format!("unknown prompt {shown:?}"))
}

/// Checks arguments as they were sent: they must be strings, and all required ones must be present. Unlisted ones are
/// ignored.
fn read(prompt: &Prompt, arguments: Option<Value>) -> Result<Arguments> {
    let Some(mut given) = json::object_or_empty(arguments) else {
        return Err(ErrorObject::invalid_params("params.arguments must be an object of strings"));
    };
    let mut read = Arguments::new();
    for argument in &prompt.arguments {
        let PromptArgument { name, required, values, .. } = argument;
        match given.remove(name) {
            Some(Value::String(value)) => {
                if !values.is_empty() && !values.contains(&value) {
                    return Err(ErrorObject::invalid_params(format!(
                        "params.arguments.{name} must be one of {values:?}"
                    )));
                }
                read.insert(name.clone(), value);
            }
            None | Some(Value::Null) if !required => {}
            None | Some(Value::Null) => {
                return Err(ErrorObject::invalid_params(format!(
                    "the prompt {:?} needs params.arguments.{name}",
                    prompt.name
                )));
            }
            Some(_) => {
                return Err(ErrorObject::invalid_params(format!(
                    "params.arguments.{name} must be a string"
                )));
            }
        }
    }
    Ok(read)
}

/// All the values that the schema of a string allows; empty if any string is allowed.
fn values_of(schema: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(only) = schema.get("const").and_then(text) {
        return vec![only];
    }
    let list = |name: &str| schema.get(name).and_then(Value::as_array);
    let listed = list("enum").map(|values| values.iter().map(text).collect());
    // The form of an enumeration whose variants have descriptions.
    let described = || {
        let choices = list("oneOf")?.iter();
        Some(
            choices
                .flat_map(|choice| match values_of(choice) {
                    values if values.is_empty() => vec![None],
                    values => values.into_iter().map(Some).collect(),
                })
                .collect(),
        )
    };
    let values: Option<Vec<Option<String>>> = listed.or_else(described);
    values.and_then(|values| values.into_iter().collect()).unwrap_or_default()
}

/// The members of an object's schema as arguments: the required ones in the order of the type, then the others by name,
/// since a schema keeps no other order.
fn arguments_of(schema: &Value) -> Result<Vec<PromptArgument>, String> {
    let text =
        |member: &Value, name: &str| member.get(name).and_then(Value::as_str).map(str::to_owned);
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let place = |name: &str| required.iter().position(|listed| *listed == name);
    let members = schema.get("properties").and_then(Value::as_object);
    let mut members: Vec<_> = members.into_iter().flatten().collect();
    // Stable, so those without a place stay in their order.
    members.sort_by_key(|(name, _)| place(name).unwrap_or(usize::MAX));
    let arguments = members.into_iter().map(|(name, member)| {
        if member.get("type").is_some_and(|kind| kind != "string") {
            return Err(format!(
                "the argument {name:?} must be a string, as arguments of prompts always are: read what it means in the handler"
            ));
        }
        Ok(PromptArgument {
            name: name.clone(),
            title: text(member, "title"),
            description: text(member, "description"),
            required: place(name).is_some(),
            values: values_of(member),
        })
    });
    arguments.collect()
}
