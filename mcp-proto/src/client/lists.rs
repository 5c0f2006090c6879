//! The lists of a server, all their pages.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::calls::typed;
use super::{Client, ClientError, Link};
use crate::content::Resource;
use crate::jsonrpc::ErrorObject;
use crate::prompt::Prompt;
use crate::resource::ResourceTemplate;
use crate::schema::check_once;
use crate::task::TaskSupport;
use crate::tool::Tool;
use crate::version::Era;

/// The most pages of a list that are followed, and the most items that are taken from them.
const MAX_PAGES: usize = 1_000;
const MAX_ITEMS: usize = 100_000;

/// The most tools that are remembered. Results of others are not checked.
const MAX_TOOLS: usize = 10_000;

/// What tools were listed with.
#[derive(Debug, Default)]
pub(super) struct Listed(Mutex<HashMap<String, Said>>);

/// What a list says of a tool.
#[derive(Debug, Clone)]
struct Said {
    output_schema: Option<Value>,
    needs_task: bool,
}

impl Client {
    /// `tools/list`, all its pages. Without the tools whose `x-mcp-header` annotations are wrong, over HTTP in the modern
    /// era: they cannot be called (2026-07-28, Streamable HTTP). What a server says of its tools (`annotations`) is its
    /// word alone.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for what is no list of tools.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, ClientError> {
        let mut tools = self.list("tools/list", "tools").await?;
        if let Link::Http(link) = &self.0.link
            && self.era() == Era::Modern
        {
            link.listed(&mut tools);
        }
        self.0.hearing.listed.learn(&tools);
        Ok(tools)
    }

    /// `resources/list`, all its pages.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for what is no list of resources.
    pub async fn list_resources(&self) -> Result<Vec<Resource>, ClientError> {
        self.list("resources/list", "resources").await
    }

    /// `resources/templates/list`, all its pages.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for what is no list of templates.
    pub async fn list_resource_templates(&self) -> Result<Vec<ResourceTemplate>, ClientError> {
        let method = "resources/templates/list";
        self.list(method, "resourceTemplates").await
    }

    /// `prompts/list`, all its pages.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Protocol`] for what is no list of prompts.
    pub async fn list_prompts(&self) -> Result<Vec<Prompt>, ClientError> {
        self.list("prompts/list", "prompts").await
    }

    /// All pages of a list. When a cursor is refused, it changed under way, and is read once more from its beginning.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        method: &str,
        member: &str,
    ) -> Result<Vec<T>, ClientError> {
        self.list_of(method, member, json!({})).await
    }

    /// All pages of a list with these params.
    pub(super) async fn list_of<T: DeserializeOwned>(
        &self,
        method: &str,
        member: &str,
        params: Value,
    ) -> Result<Vec<T>, ClientError> {
        let mut pages = 0;
        match self.pages(method, member, &params, &mut pages).await {
            Err(ClientError::Rpc(error))
                if error.code == ErrorObject::INVALID_PARAMS && pages > 0 =>
            {
                self.0.hearing.cache.forget(method);
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
    ) -> Result<Vec<T>, ClientError> {
        let mut items = Vec::new();
        let mut page_params = params.clone();
        while *pages < MAX_PAGES {
            let mut page = self.kept(method, page_params).await?;
            *pages += 1;
            let listed = page.get_mut(member).map(Value::take).unwrap_or_default();
            items.extend(typed::<Vec<T>>(method, listed)?);
            if items.len() > MAX_ITEMS {
                break;
            }
            match page.get_mut("nextCursor").map(Value::take) {
                Some(cursor @ Value::String(_)) => {
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
        let mut table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.clear();
        for tool in tools.iter().take(MAX_TOOLS) {
            let said = Said {
                output_schema: tool.output_schema.clone(),
                needs_task: tool.task_support == TaskSupport::Required,
            };
            table.insert(tool.name.clone(), said);
        }
    }

    /// Whether calls of a tool must be tasks (2025-11-25).
    pub(super) fn needs_task(&self, tool: &str) -> bool {
        let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        table.get(tool).is_some_and(|said| said.needs_task)
    }

    /// They may be others now.
    pub(super) fn clear(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Checks structured content against what the tool says of it.
    pub(super) fn check(&self, tool: &str, content: &Value) -> Result<(), ClientError> {
        let schema = {
            let table = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            table.get(tool).and_then(|said| said.output_schema.clone())
        };
        let Some(schema) = schema else {
            return Ok(());
        };
        check_once(&schema, content).map_err(|problem| {
            ClientError::Protocol(format!(
                "the structured content of {tool} is not what its outputSchema says: {problem}"
            ))
        })
    }
}
