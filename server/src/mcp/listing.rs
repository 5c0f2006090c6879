//! What `list_universe_commands` answers, from the catalog of the domain.

use mcp_proto::ToolError;
use serde_json::{Value, json};
use universe_core::catalog::{self, Category, CommandSpec};
use universe_core::member::Mode;

/// The listing of one category in full, or of all of them in brief.
pub(super) fn listing(category: Option<&str>) -> Result<Value, ToolError> {
    let Some(wanted) = category.filter(|name| !name.trim().is_empty()) else {
        return Ok(
            json!({ "categories": catalog::categories().iter().map(brief).collect::<Vec<_>>() }),
        );
    };
    let category = Category::find(wanted.trim()).ok_or_else(|| unknown(wanted))?;
    Ok(json!({ "categories": [full(category)] }))
}

/// The schema of the listing.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "categories": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": { "type": "string" },
                        "slug": { "type": "string" },
                        "commands": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "properties": {
                                    "type": { "type": "string", "description": "The command's `type`." },
                                    "description": { "type": "string" },
                                    "fields": { "type": "array", "items": { "type": "object" } },
                                    "schema": { "type": "object", "description": "JSON Schema of the command." },
                                    "example": { "type": "object", "description": "A command as it may be sent." },
                                },
                                "required": ["type", "description", "example"],
                            },
                        },
                    },
                    "required": ["name", "slug", "commands"],
                },
            },
        },
        "required": ["categories"],
    })
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
    let names: Vec<_> = catalog::categories()
        .iter()
        .map(|category| category.name)
        .collect();
    let shown: String = wanted.chars().take(80).collect();
    ToolError::new(
        "UNKNOWN_CATEGORY",
        format!("unknown category {shown:?}; there are {}", names.join(", ")),
    )
    .with_data(json!({ "categories": names }))
}
