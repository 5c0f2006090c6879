//! Arguments that are wrong and large: what is told of them is bounded, and so is the work of telling it.

use std::pin::pin;

use futures_util::FutureExt as _;
use mcp_proto::jsonrpc::Request;
use mcp_proto::{
    CallToolResult, Context, GetPromptResult, Prompt, Resource, ResourceContents, Server, Tool,
};
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
                "propertyNames": {},
                "properties": {
                    "list": {"type": "array", "items": {"type": "object", "required": &names}},
                },
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("simple", "").with_input_schema(json!({
                "type": "object",
                "properties": {"texts": texts, "name": {"type": "string"}},
                "additionalProperties": texts,
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            // Not simple, so that the validator explains it.
            Tool::new("take", "").with_input_schema(json!({
                "type": "object",
                "propertyNames": {},
                "properties": {"texts": texts, "name": {"type": "string"}},
                "additionalProperties": texts,
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("named", "").with_input_schema(json!({
                "type": "object",
                "properties": {
                    "list": {"additionalProperties": {"type": "object", "required": names}},
                },
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("closed", "").with_input_schema(json!({
                "type": "object",
                "properties": {"a": {"type": "integer"}},
                "additionalProperties": false,
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("choose", "").with_input_schema(json!({
                "type": "object",
                "propertyNames": {},
                "properties": {"either": {"anyOf": [texts, numbers]}},
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            Tool::new("unique", "").with_input_schema(json!({
                "type": "object",
                "properties": {"list": {"type": "array", "uniqueItems": true}},
            })),
            async |(), _, _| Ok(CallToolResult::text("unique")),
        )
        .raw_tool(
            Tool::new("distinct", "").with_input_schema(json!({
                "type": "object",
                "propertyNames": {},
                "properties": {"list": {"type": "array", "uniqueItems": true}},
            })),
            async |(), _, _| Ok(CallToolResult::text("unique")),
        )
        .raw_tool(
            // Two alternatives for the same member: looked at twice on each level.
            Tool::new("again", "").with_input_schema(json!({
                "type": "object",
                "properties": {"part": {"$ref": "#/$defs/part"}},
                "$defs": {"part": {"anyOf": [
                    {"type": "object", "properties": {"part": {"$ref": "#/$defs/part"}}, "required": ["part"]},
                    {"type": "object", "properties": {"part": {"$ref": "#/$defs/part"}}, "required": ["part", "x"]},
                    {"type": "string"},
                ]}},
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            // The same by its address, which is not followed when the schema is judged.
            Tool::new("address", "").with_input_schema(json!({
                "$id": "https://example.com/part",
                "type": "object",
                "anyOf": [
                    {"properties": {"part": {"$ref": "https://example.com/part"}}, "required": ["part"]},
                    {"properties": {"part": {"$ref": "https://example.com/part"}}, "required": ["x"]},
                ],
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .raw_tool(
            // Once on each level, whichever the member is.
            Tool::new("tree", "").with_input_schema(json!({
                "type": "object",
                "properties": {"left": {"$ref": "#"}, "part": {"$ref": "#"}},
            })),
            async |(), arguments, _| CallToolResult::structured(&arguments),
        )
        .build()
        .unwrap()
}

/// A value so deep in members `part`.
fn nested(depth: usize, innermost: Value) -> Value {
    (0..depth).fold(innermost, |inner, _| json!({ "part": inner }))
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
async fn a_simple_schema_is_explained_whatever_the_size() {
    let mut zeros = vec![json!("x"); 100_000];
    zeros[3] = json!(0);
    zeros[99_999] = json!(null);
    let message = |given: &str| format!("{given} is not of type \"string\"");
    let wanted =
        [("/texts/3".to_owned(), message("0")), ("/texts/99999".to_owned(), message("null"))];
    assert_eq!(findings("simple", json!({ "texts": zeros })).await, wanted);
    let found = findings("simple", json!({ "texts": vec![0; 100_000] })).await;
    assert_eq!(found.len(), 20);
    let found = findings("simple", json!({"k".repeat(1_000_000): [0, 1]})).await;
    assert_eq!(found.len(), 2);
    assert!(found[1].0.starts_with("/kkk") && found[1].0.len() < 1_100);
    let arguments = json!({ "texts": vec!["x"; 100_000], "name": null });
    let result = call("simple", arguments.clone()).await;
    assert_eq!(result["structuredContent"], arguments);
}

#[tokio::test]
async fn alternatives_that_all_fail_are_not_explained_above_the_bound() {
    let mixed: Vec<Value> = (0..EXPLAINED).map(|n| json!([n])).collect();
    let told = findings("choose", json!({ "either": mixed })).await;
    let message = "too large to be explained in full (more than 10000 values): some value in it is not what the schema says";
    assert_eq!(told, [(String::new(), message.to_owned())]);
}

#[tokio::test]
async fn a_schema_that_refers_back_in_alternatives_is_explained_as_deep_as_that_is_quick() {
    // Each level would double the work: an answer at all is the test.
    let message =
        "nested too deep to be explained in full: some value in it is not what the schema says";
    let vague = [(String::new(), message.to_owned())];
    for tool in ["again", "address"] {
        assert_eq!(findings(tool, nested(100, json!(1))).await, vague, "{tool}");
        assert_ne!(findings(tool, nested(2, json!(1))).await, vague, "{tool}");
    }
    let fine = nested(100, json!("x"));
    let result = call("again", fine.clone()).await;
    assert_eq!(result["structuredContent"], fine);
    let told = findings("tree", nested(100, json!(1))).await;
    let message = "1 is not of type \"object\"".to_owned();
    assert_eq!(told, [("/part".repeat(100), message)]);
}

#[tokio::test]
async fn items_that_must_differ_are_compared_in_bounded_work() {
    // Arrays of arrays alone, each another; compared each with each they would take minutes.
    let brackets = |number: u32| {
        (0..16).fold(json!([]), |inner, bit| match number >> bit & 1 {
            0 => json!([inner]),
            _ => json!([inner, []]),
        })
    };
    let list: Vec<Value> = (0..40_000).map(brackets).collect();
    for tool in ["unique", "distinct"] {
        let result = call(tool, json!({ "list": list })).await;
        assert_eq!(result["content"][0]["text"], "unique");
        let mut list = list.clone();
        list.push(brackets(0));
        let told = findings(tool, json!({ "list": list })).await;
        assert_eq!(told[0].0, "/list");
        assert!(told[0].1.ends_with("has non-unique elements"), "{told:?}");
        let text = |list: Value| async move {
            let result = call(tool, json!({ "list": list })).await;
            result["content"][0]["text"].as_str().unwrap().to_owned()
        };
        for same in [
            json!([1, 1.0]),
            json!([{"a": 1, "b": [2]}, {"b": [2], "a": 1}]),
            json!([null, "", null]),
        ] {
            let told = text(same).await;
            assert!(told.contains("the value has non-unique elements"), "{told}");
        }
        let large: Vec<_> = (0..3_000).map(|number| (1_u64 << 63) + number).collect();
        for other in [json!([]), json!([0, false, null, "", "0", [], {}, [[]]]), json!(large)] {
            assert_eq!(text(other).await, "unique");
        }
    }
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
async fn long_names_are_not_told_in_full() {
    let long = "k".repeat(400_000);
    // One place of many findings, and one finding of many names.
    let list = json!({ &*long: {} });
    let told = findings("named", json!({ "list": list })).await;
    assert_eq!(told.len(), 20);
    for (path, _) in &told {
        assert!(path.starts_with("/list/kkk") && path.len() < 2_000);
    }
    let told = findings("closed", json!({ &*long: 1 })).await;
    let [(_, message)] = told.as_slice() else {
        panic!("{}", told.len());
    };
    assert!(message.contains("kkk") && message.len() < 2_000, "{}", message.len());
}

#[tokio::test]
async fn what_does_not_exist_is_not_told_in_full() {
    // Each is longer when it is quoted.
    let long = "\u{7f}".repeat(100_000);
    for (method, params) in [("tools/call", json!({ "name": long })), (&*long, json!({}))] {
        let request = Request::new(1, method, params);
        let refused = server().handle(request, Context::test()).await.outcome;
        let message = refused.unwrap_err().message;
        assert!(message.starts_with("unknown"), "{}", message.len());
        assert!(message.len() < 2_000, "{}", message.len());
    }
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
    assert_eq!(result["structuredContent"], json!({"name": null, "texts": ["x"]}));
    // A null that is accepted excuses nothing else, and is no finding.
    let told = findings("take", json!({"name": null, "texts": [1]})).await;
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0, "/texts/0");
}

/// The answers that a server with large and small things gives while no blocking thread is free, at once or not.
#[test]
fn what_is_large_is_written_where_it_holds_nobody_up() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let text = |uri: &str| "x".repeat(if uri == "x:large" { 1_000_000 } else { 1_000 });
    let read = move |uri: &'static str| async move { Ok(ResourceContents::text(uri, text(uri))) };
    let tool = |name: &str| Tool::new(name, "").with_input_schema(json!({"type": "object"}));
    let server = Server::builder("s", "1", ())
        .resource(Resource::new("x:large", "l"), move |(), _| read("x:large"))
        .resource(Resource::new("x:small", "s"), move |(), _| read("x:small"))
        .raw_tool(tool("x.large"), move |(), _, _| async move {
            Ok(CallToolResult::text(text("x:large")))
        })
        .raw_tool(tool("x.small"), move |(), _, _| async move {
            Ok(CallToolResult::text(text("x:small")))
        })
        .raw_prompt(Prompt::new("x.large", ""), move |(), _, _| async move {
            Ok(GetPromptResult::text(text("x:large")))
        })
        .raw_prompt(Prompt::new("x.small", ""), move |(), _, _| async move {
            Ok(GetPromptResult::text(text("x:small")))
        })
        .build()
        .unwrap();
    runtime.block_on(async {
        for method in ["resources/read", "tools/call", "prompts/get"] {
            let (free, taken) = std::sync::mpsc::channel::<()>();
            let thread = tokio::task::spawn_blocking(move || taken.recv().is_err());
            let ask = |name: &str| {
                let request =
                    Request::new(1, method, json!({ "name": name.replace(':', "."), "uri": name }));
                server.handle(request, Context::test())
            };
            let mut large = pin!(ask("x:large"));
            assert!(large.as_mut().now_or_never().is_none(), "{method}");
            let small = ask("x:small").now_or_never().expect(method);
            assert!(small.outcome.unwrap().as_str().len() < 2_000);
            drop(free);
            let large = large.await.outcome.unwrap();
            assert!(large.as_str().len() > 1_000_000, "{method}");
            assert!(thread.await.unwrap());
        }
    });
    // Without a runtime there is nobody to hold up.
    let request = Request::new(1, "resources/read", json!({ "uri": "x:large" }));
    let read = server.handle(request, Context::test()).now_or_never();
    assert!(read.unwrap().outcome.is_ok());
}
