//! The calls of the protocol, typed.

use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{Completion, ContentBlock, Era, GetPromptResult, LogLevel, ReadResourceResult};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::cache::Key;
use super::{CallOptions, Client, ClientError, Result};
use crate::locked::Locked as _;

/// The result of a tool call (schema: `CallToolResult`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResult {
    /// For the model and the user.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// For programs.
    pub structured_content: Option<Value>,
    /// Whether the tool failed; the content tells the model why.
    #[serde(default)]
    pub is_error: bool,
    /// Metadata.
    #[serde(rename = "_meta")]
    pub meta: Option<Map<String, Value>>,
}

/// The prompt or template whose argument is completed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by its name.
    Prompt(String),
    /// A template of resources, by its text (RFC 6570).
    Template(String),
}

impl ToolResult {
    /// A result with this content.
    pub fn new(content: impl Into<Vec<ContentBlock>>) -> Self {
        Self { content: content.into(), structured_content: None, is_error: false, meta: None }
    }

    /// All text of the content.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The structured content as a type.
    ///
    /// # Errors
    /// [`ClientError::Protocol`] if there is no structured content, or it does not fit the type.
    pub fn structured<T: DeserializeOwned>(&self) -> Result<T> {
        let content = self.structured_content.as_ref().unwrap_or(&Value::Null);
        T::deserialize(content)
            .map_err(|problem| ClientError::Protocol(format!("structuredContent: {problem}")))
    }
}

impl Client {
    /// `tools/call`, in as many rounds as needed, with the result as received: it may be a task, and is checked against
    /// nothing.
    ///
    /// Over HTTP, headers repeat the parameters that the tool's schema marks (`x-mcp-header`, 2026-07-28). If a call is
    /// refused because a header is missing or wrong (the tool was not listed yet, or its schema has changed), the
    /// client lists the tools and sends the call again once.
    ///
    /// # Errors
    /// As for [`Client::request_in_rounds`] and [`Client::list_tools`].
    pub async fn call_tool_raw(&self, name: &str, arguments: Value) -> Result<Value> {
        let params = json!({ "name": name, "arguments": arguments });
        self.call(params, &CallOptions::default()).await
    }

    pub(super) async fn call(&self, params: Value, options: &CallOptions) -> Result<Value> {
        match self.in_rounds("tools/call", params.clone(), options).await {
            Err(ClientError::Rpc(error)) if error.code == ErrorObject::HEADER_MISMATCH => {
                self.0.hub.cache.forget("tools/list");
                self.list_tools().await?;
                self.in_rounds("tools/call", params, options).await
            }
            called => called,
        }
    }

    /// Calls a tool, in as many rounds as needed. A failure of the tool is a result too ([`ToolResult::is_error`]).
    /// Waits for a call that becomes a task, including one that a legacy server's list requires to be a task.
    /// Structured content is checked against the schema that the tool was listed with, if any (feature `validate`).
    ///
    /// # Errors
    /// As for [`Client::call_tool_raw`] and [`Task::result`](super::Task::result); [`ClientError::Refused`] for a
    /// question without a callback, and [`ClientError::Protocol`] for an answer that is not a tool result.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<ToolResult> {
        self.call_tool_with(name, arguments, &CallOptions::default()).await
    }

    /// [`Client::call_tool`] with options. If the call becomes a task, the time limit holds for each request about it.
    ///
    /// # Errors
    /// As for [`Client::call_tool`].
    pub async fn call_tool_with(
        &self,
        name: &str,
        arguments: Value,
        options: &CallOptions,
    ) -> Result<ToolResult> {
        let is_task = self.era() == Era::Legacy && self.0.hub.listed.needs_task(name);
        let params = if is_task {
            Self::task_params(name, &arguments, None)
        } else {
            json!({ "name": name, "arguments": arguments })
        };
        let result = self.call(params, options).await?;
        let result = match self.task_of(&result, options.timeout) {
            Some(task) => task.result().await?,
            None => result,
        };
        if result.get("resultType").and_then(Value::as_str) == Some("input_required") {
            return Err(unanswered("the tool"));
        }
        let mut result: ToolResult = typed("tools/call", result)?;
        if !result.is_error
            && let Some(content) = result.structured_content.take()
        {
            let checked = self.0.hub.listed.check(name, content).await?;
            result.structured_content = Some(checked);
        }
        Ok(result)
    }

    /// `resources/read`. The client also recognizes the older error code for an unknown resource: see
    /// [`ClientError::code`].
    ///
    /// # Errors
    /// As for [`Client::request_in_rounds`]; [`ClientError::Protocol`] for an answer without contents.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult> {
        let result = self.kept("resources/read", json!({ "uri": uri })).await?;
        typed("resources/read", result)
    }

    /// `prompts/get` with these arguments, whose values are texts.
    ///
    /// # Errors
    /// As for [`Client::request_in_rounds`]; [`ClientError::Protocol`] for an answer that is not a prompt.
    pub async fn get_prompt<N, V>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (N, V)>,
    ) -> Result<GetPromptResult>
    where
        N: Into<String>,
        V: Into<String>,
    {
        let arguments = arguments.into_iter();
        let arguments = arguments.map(|(name, value)| (name.into(), Value::String(value.into())));
        let arguments: Map<String, Value> = arguments.collect();
        let params = json!({ "name": name, "arguments": arguments });
        typed("prompts/get", self.request_in_rounds("prompts/get", params).await?)
    }

    /// `completion/complete`: how the argument `name` may continue after `value`, given the arguments that already have
    /// a value.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a completion result.
    pub async fn complete(
        &self,
        reference: &Reference,
        name: &str,
        value: &str,
        arguments: &[(&str, &str)],
    ) -> Result<Completion> {
        let reference = match reference {
            Reference::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
            Reference::Template(uri) => json!({ "type": "ref/resource", "uri": uri }),
        };
        let mut params = json!({ "ref": reference, "argument": { "name": name, "value": value } });
        if let (false, Some(members)) = (arguments.is_empty(), params.as_object_mut()) {
            let known = arguments.iter().map(|&(name, value)| (name.to_owned(), json!(value)));
            let known: Map<String, Value> = known.collect();
            members.insert("context".to_owned(), json!({ "arguments": known }));
        }
        let mut result = self.request("completion/complete", params).await?;
        let completion = result.get_mut("completion").map(Value::take);
        typed("completion/complete", completion.unwrap_or_default())
    }

    /// Checks that the server responds: `ping`, or `server/discover` in the modern era, which has no ping.
    ///
    /// # Errors
    /// As for [`Client::request`].
    pub async fn ping(&self) -> Result<()> {
        let method = match self.era() {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        self.request(method, json!({})).await.map(|_| ())
    }

    /// Sets the lowest level of log messages that the client wants from now on: by `logging/setLevel`, or in the modern
    /// era by a member of each request.
    ///
    /// # Errors
    /// As for [`Client::request`], in the legacy era.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<()> {
        if self.era() == Era::Legacy {
            let params = json!({ "level": level });
            self.request("logging/setLevel", params).await?;
        }
        self.0.wishes.locked().level = Some(level);
        Ok(())
    }

    /// The cached answer, or else one that is requested and cached for as long as it allows.
    pub(super) async fn kept(&self, method: &str, params: Value) -> Result<Value> {
        let cache = &self.0.hub.cache;
        let key = Key::new(method, &params).filter(|_| self.era() == Era::Modern);
        let epoch = match key.as_ref().map(|key| cache.get(key)) {
            Some(Ok(answer)) => return Ok(answer),
            Some(Err(epoch)) => epoch,
            None => 0,
        };
        let (result, rounds) = self.count_rounds(method, params, &CallOptions::default()).await?;
        // The answer to a retry is valid only for the input in that retry (2026-07-28, "Multi round-trip requests").
        if let Some(key) = key.filter(|_| rounds == 1) {
            cache.put(key, epoch, &result);
        }
        Ok(result)
    }
}

/// The server asks, and nothing in the configuration answers.
pub(super) fn unanswered(asking: &str) -> ClientError {
    let problem = format!("{asking} needs input, and no callback of ClientConfig gives it");
    ClientError::Refused(ErrorObject::invalid_request(problem))
}

/// A result as its type.
pub(super) fn typed<T: DeserializeOwned>(method: &str, result: Value) -> Result<T> {
    serde_json::from_value(result)
        .map_err(|problem| ClientError::Protocol(format!("the result of {method}: {problem}")))
}
