//! Published schemas: in the plain form that clients accept, pinned by a snapshot, and refused at `build()` where they
//! cannot be served.

use std::collections::BTreeMap;

use mcp_proto::{BuildError, CallToolResult, Context, Json, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A body of the catalogue.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Body {
    /// Its name.
    name: String,
    mass: f64,
    moons: u8,
    parent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    color: Option<Color>,
    #[serde(default)]
    orbits: Vec<Orbit>,
    #[serde(default)]
    tags: BTreeMap<String, Option<i64>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Color {
    Red,
    Blue,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Orbit {
    Circle { radius: f64 },
    Fixed,
}

/// Members of any kind.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Loose {
    any: Value,
    maybe: Option<Value>,
    several: Vec<Value>,
    pair: (Value, i32),
    nested: Vec<BTreeMap<String, Vec<Value>>>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Tree {
    children: Vec<Self>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
enum Choice {
    One { x: i32 },
    Two,
}

async fn same<T>(_: (), value: T, _: Context) -> Json<T> {
    Json(value)
}

async fn raw(_: (), _: Map<String, Value>, _: Context) -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::text("x"))
}

fn tools(server: &Server) -> Vec<Tool> {
    let request = mcp_proto::jsonrpc::Request::new(1, "tools/list", json!({}));
    let response = futures_util::FutureExt::now_or_never(server.handle(request, Context::test()));
    let list = response.unwrap().outcome.unwrap().to_value();
    serde_json::from_value(list["tools"].clone()).unwrap()
}

/// What some client or other is known to reject.
fn not_plain(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if schema["type"] != "object" {
        faults.push("the root is not an object".to_owned());
    }
    if !schema["properties"].is_object() {
        faults.push("the root has no properties".to_owned());
    }
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                for keyword in ["$ref", "$defs", "$schema"] {
                    if members.contains_key(keyword) {
                        faults.push(keyword.to_owned());
                    }
                }
                if members.get("type").is_some_and(|name| name.is_array() || name == "null") {
                    faults.push(format!("{value}"));
                }
                let parts = [members.get("properties"), members.get("prefixItems")];
                let parts = parts.into_iter().flatten();
                let mut parts: Vec<_> = parts
                    .flat_map(|parts| match parts {
                        Value::Object(named) => named.values().collect(),
                        Value::Array(listed) => listed.iter().collect(),
                        _ => vec![parts],
                    })
                    .collect();
                parts.extend(members.get("items"));
                faults.extend(
                    parts.iter().filter(|part| part.is_boolean()).map(|_| format!("{value}")),
                );
                let format = members.get("format").and_then(Value::as_str).unwrap_or_default();
                if format.starts_with("uint") || format.starts_with("int") || format == "double" {
                    faults.push(format.to_owned());
                }
                open.extend(members.values());
            }
            _ => {}
        }
    }
    faults
}

#[test]
fn derived_schemas_are_plain() {
    let server = Server::builder("s", "1", ())
        .tool(Tool::new("body", ""), same::<Body>)
        .tool(Tool::new("loose", ""), same::<Loose>)
        .tool(Tool::new("nothing", ""), async || Ok(CallToolResult::text("")))
        .build()
        .unwrap();
    for tool in tools(&server) {
        assert_eq!(not_plain(&tool.input_schema), Vec::<String>::new());
        for schema in tool.output_schema.iter() {
            assert_eq!(not_plain(schema), Vec::<String>::new());
        }
    }
    // The checker itself can fail.
    assert_eq!(
        not_plain(&json!({"type": ["object", "null"], "$ref": "#", "format": "uint8"})).len(),
        5
    );
    assert_eq!(
        not_plain(&json!({"type": "object", "properties": {"a": true, "b": {"items": true}}}))
            .len(),
        2
    );
}

#[test]
fn a_derived_schema_is_what_it_was() {
    let server =
        Server::builder("s", "1", ()).tool(Tool::new("body", ""), same::<Body>).build().unwrap();
    let tool = tools(&server).remove(0);
    let orbits = json!({
        "type": "array",
        "items": {"oneOf": [
            {
                "type": "object",
                "properties": {"kind": {"type": "string", "const": "circle"}, "radius": {"type": "number"}},
                "required": ["kind", "radius"],
            },
            {"type": "object", "properties": {"kind": {"type": "string", "const": "fixed"}}, "required": ["kind"]},
        ]},
    });
    let color = json!({"type": "string", "enum": ["red", "blue"]});
    let mut input = json!({
        "type": "object",
        "description": "A body of the catalogue.",
        "properties": {
            "name": {"type": "string", "description": "Its name."},
            "mass": {"type": "number"},
            "moons": {"type": "integer", "minimum": 0, "maximum": 255},
            "parent": {"type": "string"},
            "color": color,
            "orbits": orbits,
            "tags": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["name", "mass", "moons"],
    });
    input["properties"]["orbits"]["default"] = json!([]);
    input["properties"]["tags"]["default"] = json!({});
    assert_eq!(tool.input_schema, input);
    // A result may be null where the type says so, and then nothing is promised of it.
    let output = tool.output_schema.unwrap();
    assert_eq!(output["properties"]["parent"], json!({}));
    assert_eq!(output["properties"]["color"], color);
    assert_eq!(output["properties"]["tags"]["additionalProperties"], json!({}));
    assert_eq!(output["required"], json!(["name", "mass", "moons", "parent", "orbits", "tags"]));
}

#[tokio::test]
async fn results_fit_the_schema_that_is_published_of_them() {
    let server =
        Server::builder("s", "1", ()).tool(Tool::new("body", ""), same::<Body>).build().unwrap();
    let schema = tools(&server).remove(0).output_schema.unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for arguments in [
        json!({"name": "x", "mass": 1, "moons": 0}),
        json!({"name": "x", "mass": 1, "moons": 2, "parent": "y", "color": "red", "tags": {"a": 1},
               "orbits": [{"kind": "fixed"}, {"kind": "circle", "radius": 2}]}),
    ] {
        let params = json!({"name": "body", "arguments": arguments});
        let request = mcp_proto::jsonrpc::Request::new(1, "tools/call", params);
        let result = server.handle(request, Context::test()).await.outcome.unwrap().to_value();
        assert!(result.get("isError").is_none(), "{result}");
        assert!(validator.is_valid(&result["structuredContent"]), "{result}");
    }
}

#[test]
fn hand_written_schemas_are_published_as_they_are() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"n": {"$anchor": "number", "type": ["integer", "null"]}},
        "properties": {"n": {"$ref": "#number"}},
        "if": {"required": ["n"]},
        "then": {"minProperties": 1},
        "else": false,
    });
    let server = Server::builder("s", "1", ())
        .raw_tool(Tool::new("raw", "").with_input_schema(schema.clone()), raw)
        .build()
        .unwrap();
    assert_eq!(tools(&server)[0].input_schema, schema);
}

#[test]
fn what_cannot_be_served_is_refused_when_the_server_is_built() {
    let object = || json!({"type": "object"});
    let built = |name: &str, schema: Value| {
        let tool = Tool::new(name, "").with_input_schema(schema);
        Server::builder("s", "1", ()).raw_tool(tool, raw).build().err()
    };
    let mut deep = object();
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"x": deep}});
    }
    let wide: Map<String, Value> =
        (0..30_000).map(|index| (index.to_string(), json!(true))).collect();
    let named = "1 to 128 of A-Z a-z 0-9 _ . -";
    for (name, schema, told) in [
        ("", object(), named),
        ("with space", object(), named),
        ("ä", object(), named),
        ("a/b", object(), named),
        (&"x".repeat(129), object(), named),
        ("no-schema", Value::Null, "\"type\": \"object\""),
        ("array", json!({"type": "array"}), "\"type\": \"object\""),
        ("nonsense", json!({"type": "object", "properties": 1}), "does not compile"),
        (
            "bad-regex",
            json!({"type": "object", "properties": {"x": {"pattern": "("}}}),
            "does not compile",
        ),
        (
            "network",
            json!({"type": "object", "properties": {"x": {"$ref": "http://canary.invalid/x.json"}}}),
            "does not compile",
        ),
        (
            "file",
            json!({"type": "object", "properties": {"x": {"$ref": "file:///etc/passwd"}}}),
            "does not compile",
        ),
        (
            "mirrored",
            json!({"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}),
            "\"x-mcp-header\": \"X\" must stand on a property whose \"type\" is",
        ),
        ("deep", deep, "deeper than"),
        ("wide", json!({"type": "object", "properties": wide}), "more than 20000 nodes"),
    ] {
        let error = built(name, schema).unwrap_or_else(|| panic!("{name} was built")).to_string();
        assert!(error.contains(told), "{name}: {error}");
        assert!(error.starts_with(&format!("tool {name:?}: ")), "{error}");
    }
    assert_eq!(built(&"x".repeat(128), object()), None);
    // A property of that name, or a value that has it, promises nothing.
    let named =
        json!({"type": "object", "properties": {"x-mcp-header": {"const": {"x-mcp-header": 1}}}});
    assert_eq!(built("named", named), None);
}

#[test]
fn types_that_have_no_plain_schema_are_refused_when_the_server_is_built() {
    fn problem(built: Result<Server, BuildError>) -> String {
        match built {
            Err(BuildError::Tool { problem, .. }) => problem.to_string(),
            other => panic!("{other:?}"),
        }
    }
    let with = || Server::builder("s", "1", ());
    let told = problem(with().tool(Tool::new("tree", ""), same::<Tree>).build());
    assert!(told.contains("contains itself"), "{told}");
    // Objects that a member tells apart are laid out as one.
    let choice = with().tool(Tool::new("choice", ""), same::<Choice>);
    choice.build().unwrap();
    let told = problem(with().tool(Tool::new("unit", ""), same::<()>).build());
    assert!(
        told.contains("must be a struct; a handler that takes no arguments leaves them out"),
        "{told}"
    );
    let told = problem(with().tool(Tool::new("text", ""), same::<String>).build());
    assert!(told.contains("must be a struct"), "{told}");
    // What is written by hand would be lost.
    let object = || json!({"type": "object"});
    for written in [
        Tool::new("body", "").with_input_schema(object()),
        Tool::new("body", "").with_output_schema(object()),
    ] {
        let told = problem(with().tool(written, same::<Body>).build());
        assert!(told.contains("derived"), "{told}");
    }
    let written = Tool::new("body", "").with_input_schema(object());
    let content = with().tool(written, async |_: Body| Ok(mcp_proto::CallToolResult::text("")));
    let told = problem(content.build());
    assert!(told.contains("derived"), "{told}");
    let twice =
        with().tool(Tool::new("body", ""), same::<Body>).tool(Tool::new("body", ""), same::<Body>);
    assert_eq!(problem(twice.build()), "another tool has the same name");
}

#[test]
fn names_are_told_apart_by_case() {
    let server = Server::builder("s", "1", ())
        .tool(Tool::new("body", ""), same::<Body>)
        .tool(Tool::new("Body", ""), same::<Body>)
        .build()
        .unwrap();
    assert_eq!(tools(&server).len(), 2);
}
