//! Schemas written by hand: published member for member, in the dialects that are served, bounded, and never fetched;
//! results of any kind.

use std::io::ErrorKind;
use std::net::TcpListener;

use mcp_proto::{CallToolResult, Era, Json, ProtocolVersion, Server, ServerBuilder, Tool};
use mcp_proto_client::{Client, ClientConfig};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::common::every_client;

fn raw(tool: Tool) -> ServerBuilder<()> {
    Server::builder("s", "1", ())
        .raw_tool(tool, async |(), arguments, _| CallToolResult::structured(&arguments))
}

fn problem(schema: Value) -> Option<String> {
    let tool = Tool::new("t", "").with_input_schema(schema);
    raw(tool).build().err().map(|error| error.to_string())
}

/// Every keyword of 2020-12 that makes a schema more than a list of members.
fn free_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://example.com/contact",
        "$comment": "kept",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
            "node": {"$dynamicAnchor": "node", "type": ["string", "null"]},
        },
        "properties": {
            "name": {"type": "string", "minLength": 1, "examples": ["x"], "readOnly": false},
            "address": {"$ref": "#/$defs/address"},
            "other": {"$ref": "#addressDef"},
            "node": {"$dynamicRef": "#node"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string", "format": "email"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"const": 2.5}], "items": false},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "oneOf": [true, {"required": ["none"]}],
        "not": {"required": ["never"]},
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "dependentRequired": {"phone": ["name"]},
        "unevaluatedProperties": false,
        "additionalProperties": false,
        "x-own": {"anything": [1, null, "$ref"]},
    })
}

/// The schema that the official suite wants to get back unchanged.
fn contact_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn a_schema_written_by_hand_arrives_member_for_member() {
    let tool = Tool::new("free", "").with_input_schema(free_schema());
    let tool = tool.with_output_schema(free_schema());
    let contact = Tool::new("contact", "").with_input_schema(contact_schema());
    let server = raw(tool).raw_tool(contact, async |(), _, _| Ok(CallToolResult::text("x")));
    let (clients, _served) = every_client(&server.build().unwrap()).await;
    let text = |schema: &Value| serde_json::to_string(schema).unwrap();
    for (name, client) in &clients {
        let list = client.request("tools/list", json!({})).await.unwrap();
        let [free, contact] = [0, 1].map(|index| &list["tools"][index]);
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(text(&free[schema]), text(&free_schema()), "{name} {schema}");
        }
        assert_eq!(text(&contact["inputSchema"]), text(&contact_schema()), "{name}");
    }
    // And it is what is enforced.
    let (_, client) = &clients[0];
    let call = async |arguments: Value| client.call_tool_raw("free", arguments).await.unwrap();
    let good = json!({"contactMethod": "phone", "phone": "1", "name": "x"});
    assert_eq!(call(good.clone()).await["structuredContent"], good);
    for bad in [
        json!({"contactMethod": "phone", "email": "e", "name": "x"}),
        json!({"phone": "1", "email": "e"}),
        json!({"email": "e", "address": {"street": 5}}),
        json!({"email": "e", "other": {"city": 5}}),
        json!({"email": "e", "node": 5}),
        json!({"email": "e", "pair": ["a", 2.5, 3]}),
        json!({"email": "e", "unknown": 1}),
        json!({}),
    ] {
        assert_eq!(call(bad.clone()).await["isError"], true, "{bad}");
    }
}

#[tokio::test]
async fn draft_07_is_served_in_its_own_meaning() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": {"n": {"$id": "#number", "type": "integer"}},
        "properties": {
            "n": {"$ref": "#/definitions/n"},
            // The list form of `items`, which 2020-12 does not have.
            "pair": {"type": "array", "items": [{"type": "string"}, {"type": "integer"}], "additionalItems": false},
        },
        "dependencies": {"n": ["pair"]},
    });
    let server = raw(Tool::new("old", "").with_input_schema(schema.clone()));
    let client = Client::memory(server.build().unwrap(), ClientConfig::new(Era::Modern));
    let client = client.await.unwrap();
    assert_eq!(client.list_tools().await.unwrap()[0].input_schema, schema);
    for (arguments, good) in [
        (json!({"n": 1, "pair": ["a", 1]}), true),
        (json!({"n": 1}), false),
        (json!({"pair": ["a", "b"]}), false),
        (json!({"pair": ["a", 1, 2]}), false),
        (json!({"n": "x", "pair": []}), false),
    ] {
        let result = client.call_tool_raw("old", arguments.clone()).await.unwrap();
        assert_eq!(result.get("isError").is_none(), good, "{arguments}: {result}");
    }
}

#[test]
fn another_dialect_is_refused_and_told_which_there_are() {
    let in_dialect = |dialect: Value| json!({"type": "object", "$schema": dialect});
    for dialect in [
        json!("http://json-schema.org/draft-04/schema#"),
        json!("http://json-schema.org/draft-06/schema#"),
        json!("https://json-schema.org/draft/2019-09/schema"),
        json!("https://spec.openapis.org/oas/3.1/dialect/base"),
        json!("https://json-schema.org/draft/2020-12/schema/x"),
        json!("draft-07"),
        json!(7),
        json!(null),
    ] {
        let error = problem(in_dialect(dialect.clone())).unwrap_or_else(|| panic!("{dialect}"));
        let told = format!("the dialect \"$schema\": {dialect} is not served");
        assert!(error.contains(&told), "{error}");
        assert!(error.contains("leave it out for JSON Schema 2020-12"), "{error}");
        assert!(error.contains("http://json-schema.org/draft-07/schema#"), "{error}");
    }
    for dialect in [
        "https://json-schema.org/draft/2020-12/schema",
        "https://json-schema.org/draft/2020-12/schema#",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
    ] {
        assert_eq!(problem(in_dialect(json!(dialect))), None, "{dialect}");
    }
    let part = json!({
        "type": "object",
        "properties": {"x": {"$id": "x", "$schema": "http://json-schema.org/draft-07/schema#"}},
    });
    let error = problem(part).unwrap();
    assert!(error.contains("another dialect than the whole"), "{error}");
}

#[test]
fn nothing_is_ever_fetched() {
    let canary = TcpListener::bind("127.0.0.1:0").unwrap();
    canary.set_nonblocking(true).unwrap();
    let url = format!("http://{}/schema.json", canary.local_addr().unwrap());
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, "{}").unwrap();
    let file = format!("file://{}", file.path().display());
    for uri in [url.as_str(), &format!("{url}#/x"), &file, "other.json", "urn:example:x"] {
        for schema in [
            json!({"type": "object", "$ref": uri}),
            json!({"type": "object", "properties": {"x": {"$ref": uri}}}),
            json!({"type": "object", "properties": {"x": {"$dynamicRef": uri}}}),
            json!({"type": "object", "$defs": {"x": {"$ref": uri}}}),
            json!({"type": "object", "$schema": uri}),
            json!({"type": "object", "$id": url, "properties": {"x": {"$ref": "elsewhere.json"}}}),
        ] {
            let as_output = Tool::new("t", "").with_input_schema(json!({"type": "object"}));
            let as_output = raw(as_output.with_output_schema(schema.clone())).build();
            assert!(as_output.is_err(), "{schema}");
            assert!(problem(schema.clone()).is_some(), "{schema}");
        }
    }
    let nobody = canary.accept().map(|_| ()).map_err(|error| error.kind());
    assert_eq!(nobody, Err(ErrorKind::WouldBlock));
}

#[test]
fn references_that_lead_nowhere_are_refused_wherever_they_stand() {
    let defined = |definition: Value| json!({"type": "object", "$defs": {"a": {"$anchor": "here", "type": "string"}, "x/y": definition}});
    for reference in ["#/$defs/b", "#there", "#/nope", "#/$defs/x/y"] {
        for keyword in ["$ref", "$dynamicRef"] {
            let error = problem(defined(json!({keyword: reference}))).unwrap();
            assert!(error.contains("leads nowhere in the schema"), "{reference}: {error}");
        }
    }
    for reference in ["#", "#/$defs/a", "#here", "#/$defs/x~1y", "#/%24defs/a"] {
        assert_eq!(problem(defined(json!({"$ref": reference}))), None, "{reference}");
    }
    // A reference among values is none.
    assert_eq!(problem(defined(json!({"const": {"$ref": "#/nope"}}))), None);
}

#[test]
fn schemas_that_explode_are_refused() {
    let chain = |length: usize, link: fn(Value) -> Value| {
        let next = |index: usize| json!({"$ref": format!("#/$defs/d{index}")});
        let mut defs: Map<_, _> =
            (0..length).map(|index| (format!("d{index}"), link(next(index + 1)))).collect();
        defs.insert(format!("d{length}"), json!({"type": "object"}));
        json!({"type": "object", "$defs": defs, "allOf": [next(0)]})
    };
    let twice = |next: Value| json!({"allOf": [next, next]});
    let error = problem(chain(30, twice)).unwrap();
    assert!(error.contains("more than 1000000 nodes when its references are followed"), "{error}");
    assert_eq!(problem(chain(10, twice)), None);
    let once = |next: Value| json!({"not": next});
    let error = problem(chain(1000, once)).unwrap();
    assert!(error.contains("deeper than 256 levels when its references are followed"), "{error}");
    assert_eq!(problem(chain(50, once)), None);
    // By anchors alike.
    let mut defs: Map<_, _> = (0..30)
        .map(|index| {
            let next = json!({"$ref": format!("#d{}", index + 1)});
            let link = json!({"$anchor": format!("d{index}"), "allOf": [next, next]});
            (format!("d{index}"), link)
        })
        .collect();
    defs.insert("d30".to_owned(), json!({"$anchor": "d30"}));
    assert!(problem(json!({"type": "object", "$defs": defs})).is_some());
    // Recursion is no bomb: the instance ends it.
    let tree = json!({
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}},
    });
    assert_eq!(problem(tree), None);
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: f64 },
}

/// A server whose typed tools give values of every kind, by name.
fn any_kind() -> Server {
    let tool = |name: &str| Tool::new(name, "");
    Server::builder("s", "1", ())
        .tool(tool("number"), async || Json(4.5))
        .tool(tool("text"), async || Json("x".to_owned()))
        .tool(tool("list"), async || Json(vec![1, 2]))
        .tool(tool("choice"), async || Json(Shape::Circle { radius: 1.0 }))
        .tool(tool("none"), async || Json(None::<u32>))
        .tool(tool("nothing"), async || Json(()))
        .tool(tool("anything"), async || Json(json!([{"a": 1}])))
        .raw_tool(
            tool("raw")
                .with_input_schema(json!({"type": "object"}))
                .with_output_schema(json!({"type": "integer", "minimum": 0})),
            async |(), arguments, _| CallToolResult::structured(&arguments["n"]),
        )
        .build()
        .unwrap()
}

#[tokio::test]
async fn results_of_any_kind_are_structured_in_the_modern_era() {
    let config = ClientConfig::new(Era::Modern);
    let client = Client::memory(any_kind(), config).await.unwrap();
    let tools = client.list_tools().await.unwrap();
    for (name, schema, content) in [
        ("number", json!({"type": "number"}), json!(4.5)),
        ("text", json!({"type": "string"}), json!("x")),
        ("list", json!({"type": "array", "items": {"type": "integer"}}), json!([1, 2])),
        (
            "choice",
            json!({"oneOf": [{
                "type": "object",
                "properties": {"kind": {"type": "string", "const": "Circle"}, "radius": {"type": "number"}},
                "required": ["kind", "radius"],
            }]}),
            json!({"kind": "Circle", "radius": 1.0}),
        ),
        ("none", json!({}), json!(null)),
        ("nothing", json!({"type": "null"}), json!(null)),
        ("anything", json!({}), json!([{"a": 1}])),
    ] {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let mut published = tool.output_schema.clone().unwrap();
        // Widths of integers are of no matter here.
        if let Some(items) = published.get_mut("items") {
            items.as_object_mut().unwrap().retain(|keyword, _| keyword == "type");
        }
        assert_eq!(published, schema, "{name}");
        let result = client.call_tool_raw(name, json!({})).await.unwrap();
        assert_eq!(result.get("structuredContent"), Some(&content), "{name}");
        assert_eq!(result["content"][0]["text"], content.to_string());
        assert!(result.get("isError").is_none());
    }
    for (n, good) in [(json!(5), true), (json!(-5), false), (json!("5"), false)] {
        let result = client.call_tool_raw("raw", json!({"n": n})).await.unwrap();
        assert_eq!(result.get("isError").is_none(), good, "{result}");
        assert_eq!(result.get("structuredContent").is_some(), good);
    }
}

#[tokio::test]
async fn older_clients_are_told_of_objects_alone() {
    for version in ProtocolVersion::ALL {
        if version.era() == Era::Modern {
            continue;
        }
        let mut config = ClientConfig::new(Era::Legacy);
        config.version = Some(version);
        let client = Client::memory(any_kind(), config).await.unwrap();
        for tool in client.list_tools().await.unwrap() {
            assert_eq!(tool.output_schema, None, "{}", tool.name);
            let result = client.call_tool_raw(&tool.name, json!({"n": 1})).await.unwrap();
            match tool.name.as_str() {
                // An object is one, whatever the schema says of others.
                "choice" => assert!(result["structuredContent"].is_object()),
                _ => assert_eq!(result.get("structuredContent"), None, "{}", tool.name),
            }
            assert!(result["content"][0]["text"].is_string());
        }
    }
    let boolean = Tool::new("t", "").with_input_schema(json!({"type": "object"}));
    let error = raw(boolean.with_output_schema(json!(true))).build().unwrap_err();
    assert!(error.to_string().contains("must be an object of keywords"), "{error}");
}
