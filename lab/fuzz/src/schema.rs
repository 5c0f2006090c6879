//! Schemas: arguments reach a tool exactly if its schema allows them, with what the library says about nulls, and a
//! schema is compiled or refused. The input is JSON: arguments for the tools below, or `{"schema": …, "arguments": …}`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::Validator;
use mcp_proto::jsonrpc::Request;
use mcp_proto::{BuildError, CallToolResult, Context, Json, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::pieces::run as wait;
use super::server::{error, result};

/// A bit of everything that types become.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Trip {
    name: String,
    #[schemars(range(min = 1, max = 9))]
    days: Option<u8>,
    #[serde(default)]
    stops: Vec<Stop>,
    kind: Kind,
    #[serde(default)]
    prices: BTreeMap<String, f64>,
    note: Option<Box<str>>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Stop {
    at: (i32, i32),
    nights: Option<u32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Kind {
    Foot,
    Train { class: Option<i64> },
}

/// See the module.
///
/// # Panics
/// When a rule is broken.
pub fn run(data: &[u8]) {
    let Ok(Value::Object(mut arguments)) = serde_json::from_slice(data) else {
        return;
    };
    if let Some(schema) = arguments.remove("schema") {
        let arguments = arguments.remove("arguments").unwrap_or_default();
        return of_its_own(&schema, &arguments);
    }
    let arguments = Value::Object(arguments);
    static FIXED: OnceLock<(Server, Validator)> = OnceLock::new();
    let (server, validator) = FIXED.get_or_init(|| {
        let server = server(rich()).expect("a good schema");
        (server, validator(&rich()).expect("a good schema"))
    });
    agree(server, validator, &arguments);
    // What a type's schema allows, the type takes, and gives back as its schema says.
    call(server, "typed", &arguments);
}

fn of_its_own(schema: &Value, arguments: &Value) {
    match server(schema.clone()) {
        Ok(server) => {
            let validator = validator(schema).expect("what was compiled compiles");
            agree(&server, &validator, arguments);
        }
        Err(problem) => assert!(!problem.to_string().is_empty()),
    }
}

/// Whether the tool is called is what its schema says, but for nulls, which may count as left out.
fn agree(server: &Server, validator: &Validator, arguments: &Value) {
    let is_called = call(server, "raw", arguments);
    let empty = json!({});
    let arguments = if arguments.is_null() { &empty } else { arguments };
    let is_allowed = arguments.is_object() && validator.is_valid(arguments);
    if is_allowed != is_called {
        assert!(is_called, "refused, but allowed: {arguments}");
        let forgiven = without_nulls(arguments);
        let is_allowed = |one: &Value| validator.is_valid(one);
        assert!(
            forgiven.is_none_or(|ways| ways.iter().any(is_allowed)),
            "called, but not allowed: {arguments}"
        );
    }
}

fn call(server: &Server, tool: &str, arguments: &Value) -> bool {
    let params = json!({ "name": tool, "arguments": arguments });
    let response = wait(server.handle(Request::new(1, "tools/call", params), Context::test()));
    let refused = error(&response).is_some();
    assert!(!refused || !(arguments.is_object() || arguments.is_null()));
    let result = result(&response);
    result.is_some_and(|result| result["isError"] != true)
}

/// The value with each choice of its null members taken out; none for more nulls than can be tried.
fn without_nulls(value: &Value) -> Option<Vec<Value>> {
    let mut nulls = Vec::new();
    find_nulls(value, &mut Vec::new(), &mut nulls);
    let ways = 0..1_u32.checked_shl(nulls.len().try_into().ok()?)?;
    (nulls.len() <= 8).then(|| {
        let without = ways.map(|way| {
            let mut value = value.clone();
            for (number, (path, name)) in nulls.iter().enumerate() {
                let parent = value.pointer_mut(path).and_then(Value::as_object_mut);
                if way & (1 << number) != 0 {
                    parent.expect("it is an object").remove(name);
                }
            }
            value
        });
        without.collect()
    })
}

/// The null members of a value: where the object is, as a JSON Pointer, and the name.
fn find_nulls(value: &Value, path: &mut Vec<String>, nulls: &mut Vec<(String, String)>) {
    let steps: Vec<(String, &Value)> = match value {
        Value::Array(items) => (0..).map(|at: usize| at.to_string()).zip(items).collect(),
        Value::Object(members) => members.iter().map(|(name, one)| (name.clone(), one)).collect(),
        _ => return,
    };
    for (name, one) in steps {
        if one.is_null() && value.is_object() {
            nulls.push((path.concat(), name));
            continue;
        }
        path.push(format!("/{}", name.replace('~', "~0").replace('/', "~1")));
        find_nulls(one, path, nulls);
        path.pop();
    }
}

fn validator(schema: &Value) -> Option<Validator> {
    jsonschema::options().offline().build(schema).ok()
}

fn server(schema: Value) -> Result<Server, BuildError> {
    Server::builder("fuzzed", "1.0.0", ())
        .raw_tool(Tool::new("raw", "Takes it.").with_input_schema(schema), raw)
        .tool(Tool::new("typed", "Says it back."), typed)
        .build()
}

async fn raw((): (), _: Map<String, Value>, _: Context) -> Result<CallToolResult, ToolError> {
    Ok(CallToolResult::text("called"))
}

async fn typed(trip: Trip) -> Json<Trip> {
    Json(trip)
}

/// A bit of everything that people write.
fn rich() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": { "type": "string", "minLength": 1, "maxLength": 8, "pattern": "^[a-zé]+$" },
            "days": { "type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 0.5 },
            "kind": { "oneOf": [{ "const": { "by": "foot" } }, { "$ref": "#/$defs/train" }] },
            "stops": {
                "type": "array", "maxItems": 3, "uniqueItems": true,
                "items": {
                    "type": "object", "additionalProperties": false,
                    "properties": {
                        "at": { "type": "array", "prefixItems": [{ "type": "integer" }, { "enum": [1, "1", null] }], "items": false },
                        "nights": { "type": ["integer", "string"] },
                    },
                },
            },
            "tree": { "$ref": "#/$defs/tree" },
        },
        "patternProperties": { "^x-": { "not": { "type": "string" } } },
        "propertyNames": { "maxLength": 12 },
        "dependentRequired": { "days": ["stops"] },
        "if": { "properties": { "name": { "const": "a" } } },
        "then": { "maxProperties": 2 },
        "else": { "anyOf": [{ "required": ["kind"] }, { "required": ["stops"] }, { "maxProperties": 4 }] },
        "$defs": {
            "train": { "type": "object", "required": ["by"], "properties": { "by": { "const": "train" }, "class": { "type": "number" } }, "unevaluatedProperties": false },
            "tree": { "type": "object", "properties": { "left": { "$ref": "#/$defs/tree" }, "right": { "$ref": "#/$defs/tree" } }, "additionalProperties": false },
        },
    })
}
