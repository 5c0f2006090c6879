//! `list_universe_commands`: the catalog of the domain.

use mcp_proto::{CallToolResult, Context, Tool, ToolAnnotations, ToolError};
use serde_json::{Map, Value, json};
use universe_core::catalog::{self, Category, CommandSpec};
use universe_core::member::Mode;

use crate::commands::{CommandService, ServiceError};
use crate::mcp::arguments;
use crate::mcp::results::{Answer, arguments_schema, failure, universe_id_schema};

pub(super) fn tool() -> Tool {
    let properties = json!({
        "universeId": universe_id_schema(),
        "category": {
            "type": "string",
            "description": "One category, such as \"star-hierarchy\". All if absent.",
        },
    });
    Tool::new(
        "list_universe_commands",
        "List the commands that change a universe, in ten categories, each with what it does, its fields and an \
         example. With `category`, only that one, with the full JSON Schema of its commands.",
    )
    .with_title("List commands")
    .with_annotations(ToolAnnotations::read_only())
    .with_input_schema(arguments_schema(&properties, &["universeId"]))
    .with_output_schema(json!({
        "type": "object",
        "properties": { "categories": { "type": "array", "items": { "type": "object" } } },
        "required": ["categories"],
    }))
    .with_whole_results("ask for one `category`")
}

pub(super) async fn call(service: CommandService, given: Map<String, Value>, _: Context) -> Answer {
    let text = |name| given.get(name).and_then(Value::as_str);
    let id = arguments::universe_id(text("universeId").unwrap_or_default())?;
    let listing = listing(text("category"))?;
    // The list is static, but an unknown id is better reported now than with the next command.
    match service.store().record(&id).await {
        Ok(_) => CallToolResult::structured(&listing),
        Err(error) => Err(failure(&service, &id, ServiceError::reading(&id, &error)).await),
    }
}

/// The listing of one category in full, or a short listing of all categories.
fn listing(category: Option<&str>) -> Result<Value, ToolError> {
    let Some(wanted) = category.filter(|name| !name.trim().is_empty()) else {
        return Ok(
            json!({ "categories": catalog::categories().iter().map(brief).collect::<Vec<_>>() }),
        );
    };
    let category = Category::find(wanted.trim()).ok_or_else(|| unknown(wanted))?;
    Ok(json!({ "categories": [full(category)] }))
}

fn brief(category: &Category) -> Value {
    entry(category, |spec| {
        let fields = spec.fields.members.iter().map(|member| {
            json!({ "name": member.name, "required": member.is_required(Mode::New), "description": member.doc })
        });
        json!({
            "type": spec.kind.name(),
            "description": spec.description,
            "fields": fields.collect::<Vec<_>>(),
            "example": spec.example(),
        })
    })
}

fn full(category: &Category) -> Value {
    entry(category, |spec| {
        json!({
            "type": spec.kind.name(),
            "description": spec.description,
            "schema": spec.schema(),
            "example": spec.example(),
        })
    })
}

fn entry(category: &Category, command: impl Fn(&CommandSpec) -> Value) -> Value {
    let commands: Vec<_> = category.commands.iter().map(command).collect();
    json!({ "name": category.name, "slug": category.slug, "commands": commands })
}

fn unknown(wanted: &str) -> ToolError {
    let names: Vec<_> = catalog::categories().iter().map(|category| category.name).collect();
    let shown: String = wanted.chars().take(80).collect();
    ToolError::new(
        "UNKNOWN_CATEGORY",
        format!("unknown category {shown:?}; there are {}", names.join(", ")),
    )
    .with_data(json!({ "categories": names }))
}
