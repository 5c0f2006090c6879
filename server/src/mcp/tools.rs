//! The tools, in the order they are listed in.

mod entities;
mod listing;
mod places;
mod send;
mod state;
mod universes;

use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::{Context, ServerBuilder, Tool};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::results::Answer;
use super::{arguments, picture, scopes};
use crate::commands::CommandService;
use crate::requests;

/// The set of tools that are offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// The three of the requirements (REQ-MCP-1).
    Core,
    /// The core tools and further ones, which together can do everything that REST can do.
    Extra,
}

/// Adds the tools.
pub(super) fn add(
    builder: ServerBuilder<CommandService>,
    set: ToolSet,
) -> ServerBuilder<CommandService> {
    let mut tools = Tools { builder, schemas: HashMap::new(), reading: Vec::new() }
        .add(state::tool(), state::call)
        .add(listing::tool(), listing::call)
        .add(send::tool(), send::call);
    if set == ToolSet::Extra {
        tools = tools
            .add(send::tool_for_many(), send::call_many)
            .add(entities::tool(), entities::call)
            .add(universes::list_tool(), universes::list)
            .add(universes::create_tool(), universes::create)
            .add(universes::rename_tool(), universes::rename)
            .add(universes::delete_tool(), universes::delete)
            .add(universes::undo_tool(), universes::undo)
            .add(universes::history_tool(), universes::history)
            .add(picture::tool(), picture::call);
    }
    let Tools { builder, schemas, reading } = tools;
    scopes::add(builder, reading).refuse_arguments(move |tool, arguments, findings| {
        arguments::refuse(schemas.get(tool), arguments, findings)
    })
}

/// The tools that are being added, and the schemas of their arguments.
struct Tools {
    builder: ServerBuilder<CommandService>,
    schemas: HashMap<String, Value>,
    /// The names of the tools that only read.
    reading: Vec<String>,
}

impl Tools {
    fn add<A, F, R>(mut self, tool: Tool, call: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(CommandService, A, Context) -> R + Copy + Send + Sync + 'static,
        R: Future<Output = Answer> + Send + 'static,
    {
        let name: Arc<str> = tool.name.as_str().into();
        self.schemas.insert(tool.name.clone(), tool.input_schema.clone());
        let hints = tool.annotations.as_ref();
        if hints.is_some_and(|hints| hints.read_only_hint == Some(true)) {
            self.reading.push(tool.name.clone());
        }
        self.builder = self.builder.raw_tool(tool, move |service, arguments, context| {
            let service = scopes::within(&service, &context);
            let called = async move { call(service, arguments::read(arguments)?, context).await };
            requests::call(Arc::clone(&name), called)
        });
        self
    }
}
