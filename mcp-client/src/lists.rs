//! The lists of a server, all their pages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use mcp_proto::blocking::{self, NotDone};
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::schema::CompiledSchema;
use mcp_proto::{Era, Prompt, Resource, ResourceTemplate, TaskSupport, Tool};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::calls::typed;
use super::{Client, ClientError, Link, Result};
use crate::locked::Locked as _;

/// The most pages of a list that are followed, and the most items that are taken from them.
const MAX_PAGES: usize = 1_000;
const MAX_ITEMS: usize = 100_000;

/// The most bytes of all pages of a list, in messages of the largest size that is read.
const MAX_MESSAGES: usize = 4;

/// How long all pages of a list may take, in the time of one request.
const MAX_TIMEOUTS: u32 = 10;

/// The most tools that are remembered. Results of others are not checked.
const MAX_TOOLS: usize = 10_000;

/// The remembered details of listed tools.
#[derive(Debug, Default)]
pub(super) struct Listed(Mutex<HashMap<String, ListedTool>>);

/// The details of a tool from a list.
#[derive(Debug)]
struct ListedTool {
    output: Option<Arc<Output>>,
    needs_task: bool,
}

/// A tool's schema of its structured content.
#[derive(Debug)]
struct Output {
    schema: Value,
    /// By the first result that is checked. A schema that is too large, that refers to itself without end or that is in
    /// a dialect that is not known does not compile; `None` is one that this build cannot judge by.
    compiled: OnceLock<Result<Option<CompiledSchema>, String>>,
}

impl Client {
    /// `tools/list`, all its pages. Over HTTP in the modern era, tools with invalid `x-mcp-header` annotations are left
    /// out: they cannot be called (2026-07-28, Streamable HTTP). A server's `annotations` of its tools are unverified
    /// claims. The list of a server that declares no tools is empty, and is not asked for; the same holds for the other
    /// three lists.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of tools.
    pub async fn list_tools(&self) -> Result<Vec<Tool>> {
        let mut tools = self.list_of("tools", "tools/list", "tools").await?;
        if let Link::Http(link) = &self.0.link
            && self.era() == Era::Modern
        {
            link.mirrored.learn(&mut tools);
        }
        self.0.hub.listed.learn(&tools);
        Ok(tools)
    }

    /// `resources/list`, all its pages.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of resources.
    pub async fn list_resources(&self) -> Result<Vec<Resource>> {
        self.list_of("resources", "resources/list", "resources").await
    }

    /// `resources/templates/list`, all its pages.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of templates.
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>> {
        let method = "resources/templates/list";
        self.list_of("resources", method, "resourceTemplates").await
    }

    /// `prompts/list`, all its pages.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of prompts.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>> {
        self.list_of("prompts", "prompts/list", "prompts").await
    }

    /// A list that depends on a capability.
    async fn list_of<T: DeserializeOwned>(
        &self,
        capability: &str,
        method: &str,
        member: &str,
    ) -> Result<Vec<T>> {
        let declared = self.speaking().server.as_ref().map(|server| server.can(capability));
        if declared == Some(false) {
            return Ok(Vec::new());
        }
        let listed = self.list(method, member, json!({})).await;
        // A server with resources needs no templates, and one that was not asked what it offers says so here.
        let is_optional = declared.is_none() || method == "resources/templates/list";
        match listed {
            Err(ClientError::Rpc(error))
                if is_optional && error.code == ErrorObject::METHOD_NOT_FOUND =>
            {
                Ok(Vec::new())
            }
            listed => listed,
        }
    }

    /// All pages of a list with these params, such as one of an extension; `member` is the name of its items in each
    /// result. A refused cursor means that the list has changed; it is then read once more from the start. The pages
    /// may take ten times as long as one request, and be four times as large as one message.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for an answer that is not a list of such items.
    pub async fn list<T: DeserializeOwned>(
        &self,
        method: &str,
        member: &str,
        params: Value,
    ) -> Result<Vec<T>> {
        let limit = self.0.config.timeout.saturating_mul(MAX_TIMEOUTS);
        let listed = self.read_list(method, member, params);
        self.0.hub.clock.within(limit, listed).await?
    }

    async fn read_list<T: DeserializeOwned>(
        &self,
        method: &str,
        member: &str,
        params: Value,
    ) -> Result<Vec<T>> {
        let mut pages = 0;
        match self.pages(method, member, &params, &mut pages).await {
            Err(ClientError::Rpc(error))
                if error.code == ErrorObject::INVALID_PARAMS && pages > 0 =>
            {
                self.0.hub.cache.forget(method);
                self.pages(method, member, &params, &mut 0).await
            }
            listed => listed,
        }
    }

    async fn pages<T: DeserializeOwned>(
        &self,
        method: &str,
        member: &str,
        params: &Value,
        pages: &mut usize,
    ) -> Result<Vec<T>> {
        let max_bytes = self.0.config.max_message_bytes;
        let max_bytes = max_bytes.saturating_mul(MAX_MESSAGES);
        let mut bytes = 0_usize;
        let mut items = Vec::new();
        let mut sent = None;
        let mut page_params = params.clone();
        while *pages < MAX_PAGES {
            let mut page = self.kept(method, page_params).await?;
            *pages += 1;
            bytes = bytes.saturating_add(page.to_string().len());
            if bytes > max_bytes {
                return Err(ClientError::Protocol(format!(
                    "{method} did not end after {pages} pages; all of them may have {max_bytes} bytes together"
                )));
            }
            let listed = page.get_mut(member).map(Value::take).unwrap_or_default();
            items.extend(typed::<Vec<T>>(method, listed)?);
            if items.len() > MAX_ITEMS {
                break;
            }
            match page.get_mut("nextCursor").map(Value::take) {
                Some(cursor @ Value::String(_)) => {
                    if sent.as_ref() == Some(&cursor) {
                        return Err(ClientError::Protocol(format!(
                            "the nextCursor of {method} is the cursor of the same page; it must lead to the next one"
                        )));
                    }
                    sent = Some(cursor.clone());
                    page_params = params.clone();
                    if let Some(members) = page_params.as_object_mut() {
                        members.insert("cursor".to_owned(), cursor);
                    }
                }
                _ => return Ok(items),
            }
        }
        Err(ClientError::Protocol(format!(
            "{method} did not end after {pages} pages and {} items",
            items.len()
        )))
    }
}

impl Listed {
    fn learn(&self, tools: &[Tool]) {
        let mut table = self.0.locked();
        table.clear();
        for tool in tools.iter().take(MAX_TOOLS) {
            let output = tool
                .output_schema
                .clone()
                .map(|schema| Arc::new(Output { schema, compiled: OnceLock::new() }));
            let said =
                ListedTool { output, needs_task: tool.task_support == TaskSupport::Required };
            table.insert(tool.name.clone(), said);
        }
    }

    /// Whether calls of a tool must be tasks (2025-11-25).
    pub(super) fn needs_task(&self, tool: &str) -> bool {
        let table = self.0.locked();
        table.get(tool).is_some_and(|said| said.needs_task)
    }

    /// The tools may have changed.
    pub(super) fn clear(&self) {
        self.0.locked().clear();
    }

    /// Checks structured content against what the tool says of it, and gives it back.
    pub(super) async fn check(&self, tool: &str, content: Value) -> Result<Value> {
        let output = {
            let table = self.0.locked();
            table.get(tool).and_then(|said| said.output.clone())
        };
        let Some(output) = output else {
            return Ok(content);
        };
        let checked = blocking::run(move || output.check(&content).map(|()| content)).await;
        let checked = checked.unwrap_or_else(|NotDone| Err("it could not be checked".to_owned()));
        checked.map_err(|problem| {
            ClientError::Protocol(format!(
                "the structured content of {tool} is not what its outputSchema says: {problem}"
            ))
        })
    }
}

impl Output {
    /// Takes bounded work, but may take a while.
    fn check(&self, content: &Value) -> Result<(), String> {
        let compiled = self.compiled.get_or_init(|| {
            let compiled = CompiledSchema::of_results_if_possible(self.schema.clone());
            compiled.map_err(|problem| problem.to_string())
        });
        let Some(schema) = compiled.as_ref().map_err(Clone::clone)? else {
            return Ok(());
        };
        schema.check(content).map_err(|findings| {
            let first = findings.into_iter().next();
            first.map_or_else(
                || "it does not fit".to_owned(),
                |finding| format!("at {:?}: {}", finding.path, finding.message),
            )
        })
    }
}
