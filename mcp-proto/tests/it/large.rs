//! Arguments that are wrong and large: what is told of them is bounded, and so is the work of telling it.

use mcp_proto::jsonrpc::Request;
use mcp_proto::{CallToolResult, Context, Server, Tool};
use serde_json::{Value, json};

/// The most values of which everything that is wrong is told.
const EXPLAINED: usize = 10_000;

fn server() -> Server {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let numbers = json!({"type": "array", "items": {"type": "number"}});
    let names: Vec<_> = (0..500).map(|index| index.to_string()).collect();
    Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("wide", "").with_input_schema(json!({
                "type": "object",
                "properties": {
                    "list": {"type": "array", "items": {"type": "object", "required": names}},
                },
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("take", "").with_input_schema(json!({
                "type": "object",
                "properties": {"texts": texts, "name": {"type": "string"}},
                "additionalProperties": texts,
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("choose", "").with_input_schema(json!({
                "type": "object",
                "properties": {"either": {"anyOf": [texts, numbers]}},
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .build()
        .unwrap()
}

async fn call(tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let request = Request::new(1, "tools/call", params);
    let response = server().handle(request, Context::test()).await;
    response.outcome.unwrap().to_value()
}

async fn findings(tool: &str, arguments: Value) -> Vec<(String, String)> {
    let result = call(tool, arguments).await;
    let error: Value =
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    error["error"]["data"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (text(&finding["path"]), text(&finding["message"])))
        .collect()
}

#[tokio::test]
async fn up_to_the_bound_each_fault_is_told_and_above_it_the_first_alone() {
    // The arguments and the array are values, too.
    let told = findings("take", json!({"texts": vec![0; EXPLAINED - 2]})).await;
    assert_eq!(told.len(), 20);
    assert_eq!(told[19].0, "/texts/19");
    let mut zeros = vec![json!("x"); EXPLAINED - 1];
    zeros[3] = json!(0);
    let told = findings("take", json!({ "texts": zeros })).await;
    assert_eq!(
        told,
        [(
            "/texts/3".to_owned(),
            "too large to be explained in full (more than 10000 values): 0 is not of type \"string\""
                .to_owned()
        )]
    );
}

#[tokio::test]
async fn alternatives_that_all_fail_are_not_explained_above_the_bound() {
    let mixed: Vec<Value> = (0..EXPLAINED).map(|n| json!([n])).collect();
    let told = findings("choose", json!({ "either": mixed })).await;
    let message = "too large to be explained in full (more than 10000 values): some value in it is not what the schema says";
    assert_eq!(told, [(String::new(), message.to_owned())]);
}

#[tokio::test]
async fn a_schema_with_much_to_say_of_each_value_explains_fewer() {
    let told = findings("wide", json!({ "list": vec![json!({}); 100] })).await;
    assert_eq!(told.len(), 20);
    assert!(told[0].1.contains("required property"), "{}", told[0].1);
    let told = findings("wide", json!({ "list": vec![json!({}); 1_000] })).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].1.starts_with("too large"), "{}", told[0].1);
    assert_eq!(told[0].0, "/list/0");
}

#[tokio::test]
async fn long_paths_count_as_much_as_many_values() {
    let told = findings("take", json!({"k".repeat(1_000_000): [0, 1]})).await;
    assert_eq!(told.len(), 1);
    assert!(told[0].1.starts_with("too large"), "{}", told[0].1);
}

#[tokio::test]
async fn what_is_right_is_accepted_whatever_its_size() {
    let texts = vec!["x"; 10 * EXPLAINED];
    let result = call("take", json!({ "texts": texts })).await;
    assert!(result.get("isError").is_none());
}

#[tokio::test]
async fn a_raw_tool_sees_the_nulls_that_count_as_left_out() {
    let result = call("take", json!({"name": null, "texts": ["x"]})).await;
    assert_eq!(
        result["structuredContent"],
        json!({"name": null, "texts": ["x"]})
    );
    // A null that is accepted excuses nothing else, and is no finding.
    let told = findings("take", json!({"name": null, "texts": [1]})).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0, "/texts/0");
}
