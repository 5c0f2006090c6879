//! Annotations of parameters that headers repeat (`x-mcp-header`): which a server is built with.

use mcp_proto::{CallToolResult, Server, Tool};
use serde_json::{Value, json};

#[test]
fn what_clients_would_reject_is_refused_when_the_server_is_built() {
    let text = |name: Value| json!({"type": "string", "x-mcp-header": name});
    let with = |properties: Value| json!({"type": "object", "properties": properties});
    let problem = |schema: Value| {
        let tool = Tool::new("t", "").with_input_schema(schema);
        let built = Server::builder("s", "1", ())
            .raw_tool(tool, async |(), _, _| Ok(CallToolResult::text("x")))
            .build();
        built.err().map(|error| error.to_string())
    };
    let token = "must be 1 to 128 characters of";
    let kind = "\"type\" is \"string\", \"integer\" or \"boolean\"";
    let place = "must stand on a property that \"properties\" alone lead to";
    let twice = "stands on two properties";
    let below = |keyword: &str| {
        let mut schema = with(json!({"x": {"type": "string"}}));
        schema[keyword] = with(json!({"x": text(json!("X"))}));
        schema
    };
    let many = (0..33).map(|index| (format!("p{index}"), text(json!(format!("P{index}")))));
    for (schema, told) in [
        (with(json!({"x": text(json!(""))})), token),
        (with(json!({"x": text(json!("two words"))})), token),
        (with(json!({"x": text(json!("a\r\nb"))})), token),
        (with(json!({"x": text(json!("a:b"))})), token),
        (with(json!({"x": text(json!("a\"b"))})), token),
        (with(json!({"x": text(json!("größe"))})), token),
        (with(json!({"x": text(json!("x".repeat(129)))})), token),
        (with(json!({"x": text(json!(5))})), token),
        (with(json!({"x": text(json!(null))})), token),
        (with(json!({"x": {"type": "number", "x-mcp-header": "X"}})), kind),
        (with(json!({"x": {"type": "object", "x-mcp-header": "X"}})), kind),
        (with(json!({"x": {"type": ["string", "null"], "x-mcp-header": "X"}})), kind),
        (with(json!({"x": {"enum": ["a"], "x-mcp-header": "X"}})), kind),
        (json!({"type": "object", "x-mcp-header": "X"}), place),
        (with(json!({"x": {"type": "array", "items": text(json!("X"))}})), place),
        (
            with(json!({"x": {"type": "array", "items": with(json!({"y": text(json!("X"))}))}})),
            place,
        ),
        (with(json!({"x": {"anyOf": [text(json!("X"))]}})), place),
        (with(json!({"x": {"patternProperties": {"y": text(json!("X"))}}})), place),
        (with(json!({"x": {"additionalProperties": text(json!("X"))}})), place),
        (json!({"type": "object", "$defs": {"x": text(json!("X"))}}), place),
        (json!({"type": "object", "allOf": [with(json!({"x": text(json!("X"))}))]}), place),
        (below("not"), place),
        (below("if"), place),
        (below("then"), place),
        (with(json!({"x": text(json!("Same")), "y": text(json!("sAME"))})), twice),
        (
            with(json!({"x": text(json!("Same")), "y": with(json!({"z": text(json!("Same"))}))})),
            twice,
        ),
        (
            with(json!({"x": {"type": "string", "format": "password", "x-mcp-header": "X"}})),
            "must not stand on a password",
        ),
        (with(Value::Object(many.collect())), "on more than 32 properties"),
    ] {
        let error = problem(schema.clone()).unwrap_or_else(|| panic!("{schema} was built"));
        assert!(error.starts_with("tool \"t\": \"x-mcp-header\""), "{error}");
        assert!(error.contains(told), "{schema}: {error}");
    }
    for schema in [
        with(json!({"x": text(json!("!#$%&'*+-.^_`|~09azAZ"))})),
        with(json!({"x": text(json!("x".repeat(128)))})),
        with(json!({"x": with(json!({"y": with(json!({"z": text(json!("Deep"))}))}))})),
        // Names of properties and values of instances are no keywords.
        with(json!({"x-mcp-header": {"type": "number"}, "x": {"const": {"x-mcp-header": ""}}})),
    ] {
        assert_eq!(problem(schema.clone()), None, "{schema}");
    }
}
