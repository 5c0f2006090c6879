//! Tools as models meet them: panics, time-outs, arguments that do not fit, nulls, and what results look like.

use std::time::Duration;

use mcp_proto::jsonrpc::Request;
use mcp_proto::{CallToolResult, ContentBlock, Context, Json, Server, Tool, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::common::{PATIENCE, every_client};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Tick {
    /// Which universe.
    universe: String,
    #[schemars(range(min = 1))]
    ticks: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loud: Option<bool>,
    #[serde(default = "one")]
    dt: f64,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Send {
    command: Command,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Command {
    Tick { dt: Option<f64> },
    CreateBody { name: String, mass: f64, color: Option<Color> },
    DeleteBody { id: String },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Color {
    Red,
    Blue,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

fn one() -> f64 {
    1.0
}

fn server() -> Server {
    Server::builder("tools", "1", ())
        .tool(Tool::new("tick", "Ticks."), async |tick: Tick| Json(tick))
        .tool(Tool::new("send", "Sends a command."), async |send: Send| Json(send))
        .tool(Tool::new("panics", "Panics at once."), panics_at_once)
        .tool(Tool::new("panics-later", "Panics when polled."), async || {
            tokio::task::yield_now().await;
            panic_with::<Nothing>("secret of the inside")
        })
        .tool(
            Tool::new("slow", "Takes for ever.").with_timeout(Duration::from_secs(5)),
            async || std::future::pending::<Json<Tick>>().await,
        )
        .tool(Tool::new("fails", "Cannot do it."), async || {
            let error = ToolError::new("UNIVERSE_NOT_FOUND", "no universe \"x\"");
            Err::<Json<Tick>, _>(error.with_data(json!({"id": "x"})))
        })
        .raw_tool(
            Tool::new("raw", "Takes what its schema says.").with_input_schema(json!({
                "type": "object",
                "properties": {"n": {"type": "integer"}, "kept": {"type": ["null", "integer"]}},
                "required": ["n"],
                "additionalProperties": false,
            })),
            raw,
        )
        .build()
        .unwrap()
}

// The compiler cannot see that nothing comes back.
fn panic_with<T>(message: &str) -> Result<Json<Send>, ToolError> {
    assert!(message.is_empty(), "{message} in {}", std::any::type_name::<T>());
    Err(ToolError::internal("nothing to return"))
}

/// Not an async function: the panic must come before the future.
fn panics_at_once(
    _: (),
    _: Nothing,
    _: Context,
) -> impl Future<Output = Result<Json<Send>, ToolError>> + std::marker::Send {
    let result = panic_with::<Nothing>("secret of the inside");
    async { result }
}

async fn raw(
    _: (),
    arguments: Map<String, Value>,
    _: Context,
) -> Result<CallToolResult, ToolError> {
    CallToolResult::structured(&arguments)
}

/// The result of a call without a transport.
async fn call(tool: &str, arguments: Value) -> Value {
    let request = Request::new(1, "tools/call", json!({ "name": tool, "arguments": arguments }));
    let response = server().handle(request, Context::test()).await;
    response.outcome.unwrap().to_value()
}

/// The body of a failure, as the model reads it.
async fn failure(tool: &str, arguments: Value) -> Value {
    let result = call(tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn what_is_wrong_with_arguments_is_told_all_at_once_and_exactly() {
    for (arguments, told) in [
        (json!({}), "\"universe\" is a required property; \"ticks\" is a required property"),
        (
            json!({"universe": "x", "ticks": 0, "loud": "yes"}),
            "/loud: \"yes\" is not of type \"boolean\"; /ticks: 0 is less than the minimum of 1",
        ),
        (json!({"universe": 1, "ticks": 1}), "/universe: 1 is not of type \"string\""),
        (json!({"universe": null, "ticks": 1}), "/universe: null is not of type \"string\""),
        (json!({"universe": "x", "ticks": 1.5}), "/ticks: 1.5 is not of type \"integer\""),
        (
            json!({"universe": "x", "ticks": 4_294_967_296_u64}),
            "/ticks: 4294967296 is greater than the maximum of 4294967295",
        ),
        (json!({"universe": {}, "ticks": 1}), "/universe: the value is not of type \"string\""),
    ] {
        let error = failure("tick", arguments.clone()).await;
        assert_eq!(error["error"]["code"], "INVALID_ARGUMENTS");
        assert_eq!(
            error["error"]["message"],
            format!("invalid arguments for tick: {told}"),
            "{arguments}"
        );
        assert!(!error["error"]["data"]["findings"].as_array().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_vague_finding_gives_way_to_those_inside_it_and_to_no_others() {
    let either = json!({"anyOf": [{"type": "string"}, {"type": "integer"}]});
    let tagged = json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "size": {"type": "integer"}, "of": either}, "required": ["kind"]},
        {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
    ]});
    let schema = json!({
        "type": "object",
        "properties": {"part": either, "parts": {"type": "integer"}, "one": tagged, "two": tagged},
    });
    let server = Server::builder("s", "1", ())
        .raw_tool(Tool::new("t", "").with_input_schema(schema), async |(), _, _| {
            Ok(CallToolResult::text(""))
        })
        .build()
        .unwrap();
    let arguments = json!({
        // A name that only begins alike is another value.
        "part": {}, "parts": "x",
        "one": {"kind": "a", "size": "x", "of": []},
        "two": {},
    });
    let params = json!({ "name": "t", "arguments": arguments });
    let request = Request::new(1, "tools/call", params);
    let result = server.handle(request, Context::test()).await;
    let result = result.outcome.unwrap().to_value();
    let findings = &result["structuredContent"]["error"]["data"]["findings"];
    let paths = findings.as_array().unwrap().iter();
    let paths: Vec<_> = paths.map(|one| one["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/one/of", "/one/size", "/part", "/parts", "/two"]);
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Strict {
    #[expect(dead_code, reason = "only its schema counts")]
    name: String,
    #[schemars(range(max = 3))]
    #[expect(dead_code, reason = "only its schema counts")]
    limit: Option<u32>,
}

#[tokio::test]
async fn an_application_words_what_does_not_fit_itself() {
    let server = Server::builder("strict", "1", ())
        .refuse_arguments(|tool, arguments, findings| {
            let told: Vec<Value> =
                findings.iter().map(|it| json!([it.path, it.member, it.value])).collect();
            ToolError::new("MINE", format!("{tool} {}", arguments["name"])).with_data(told.into())
        })
        .tool(Tool::new("strict", "Strict."), async |_: Strict| "taken")
        .build()
        .unwrap();
    for (arguments, findings) in [
        (json!({"name": "x", "limit": 4}), json!([["/limit", null, "4"]])),
        (json!({"name": 1}), json!([["/name", null, "1"]])),
        (json!({"name": "x", "limit": "y"}), json!([["/limit", null, "y"]])),
        (json!({"name": "x", "limit": [1]}), json!([["/limit", null, null]])),
        (json!({}), json!([["", "name", null]])),
        (json!({"name": "x", "b": 1, "c": 2}), json!([["", "b", null]])),
    ] {
        let params = json!({"name": "strict", "arguments": arguments});
        let request = Request::new(1, "tools/call", params);
        let response = server.handle(request, Context::test()).await;
        let result = response.outcome.unwrap().to_value();
        let body: Value =
            serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            body["error"],
            json!({"code": "MINE", "message": format!("strict {}", arguments["name"]), "data": findings}),
            "{arguments}"
        );
    }
}

#[tokio::test]
async fn a_choice_is_explained_by_the_alternative_that_was_chosen() {
    for (command, told) in [
        (json!({"type": "createBody", "mass": 1}), "/command: \"name\" is a required property"),
        (
            json!({"type": "createBody", "name": "x", "mass": "heavy", "color": "green"}),
            "/command/color: \"green\" is not one of \"red\", \"blue\"; /command/mass: \"heavy\" is not of type \"number\"",
        ),
        (json!({"type": "deleteBody", "id": 1}), "/command/id: 1 is not of type \"string\""),
        (json!({"type": "tick", "dt": "1"}), "/command/dt: \"1\" is not of type \"number\""),
    ] {
        let error = failure("send", json!({ "command": command })).await;
        assert_eq!(
            error["error"]["message"],
            format!("invalid arguments for send: {told}"),
            "{command}"
        );
    }
    // No alternative was chosen: those that there are are named.
    for (command, path) in [
        (json!({"type": "nope"}), "/command/type"),
        (json!({}), "/command"),
        (json!(1), "/command"),
    ] {
        let error = failure("send", json!({ "command": command })).await;
        let finding = &error["error"]["data"]["findings"][0];
        assert_eq!(finding["path"], path, "{command}");
        let message = finding["message"].as_str().unwrap();
        for name in ["tick", "createBody", "deleteBody"] {
            assert!(message.contains(&format!("{name:?}")), "{message}");
        }
    }
}

#[tokio::test]
async fn many_findings_are_bounded_and_long_values_are_not_quoted() {
    let mut arguments = json!({"n": "x".repeat(10_000)});
    let error = failure("raw", arguments.clone()).await;
    assert_eq!(
        error["error"]["message"],
        "invalid arguments for raw: /n: the value is not of type \"integer\""
    );
    for index in 0..1_000 {
        arguments[format!("unknown-{index}")] = index.into();
    }
    let error = failure("raw", arguments).await;
    assert!(error["error"]["data"]["findings"].as_array().unwrap().len() <= 20);
    assert!(error["error"]["message"].as_str().unwrap().len() < 100_000);
}

#[tokio::test]
async fn null_for_an_optional_argument_is_as_good_as_none() {
    let result = call("tick", json!({"universe": "x", "ticks": 1, "loud": null, "dt": null})).await;
    assert_eq!(result["structuredContent"], json!({"universe": "x", "ticks": 1, "dt": 1.0}));
    let command = json!({"type": "createBody", "name": "x", "mass": 1, "color": null});
    let result = call("send", json!({ "command": command })).await;
    assert_eq!(result["structuredContent"]["command"]["name"], "x");
    let result = call("send", json!({"command": {"type": "tick", "dt": null}})).await;
    assert_eq!(result["structuredContent"]["command"]["type"], "tick");
    // A null that the schema allows is the handler's.
    let result = call("raw", json!({"n": 1, "kept": null})).await;
    assert_eq!(result["structuredContent"], json!({"n": 1, "kept": null}));
    let error = failure("raw", json!({"n": null})).await;
    assert_eq!(error["error"]["data"]["findings"][0]["path"], "/n");
}

#[tokio::test]
async fn absent_arguments_are_none() {
    let request = Request::new(1, "tools/call", json!({ "name": "fails" }));
    let response = server().handle(request, Context::test()).await;
    assert_eq!(response.outcome.unwrap().to_value()["isError"], true);
}

#[tokio::test]
async fn a_failure_is_told_with_code_message_and_data() {
    let error = failure("fails", json!({})).await;
    assert_eq!(
        error,
        json!({"error": {"code": "UNIVERSE_NOT_FOUND", "message": "no universe \"x\"", "data": {"id": "x"}}})
    );
}

#[tokio::test]
async fn a_typed_result_is_structured_and_mirrored_as_text() {
    let result = call("tick", json!({"universe": "x", "ticks": 2})).await;
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    assert!(result.get("isError").is_none());
    let block = ContentBlock::text("x");
    assert_eq!(serde_json::to_value(&block).unwrap(), json!({"type": "text", "text": "x"}));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_becomes_a_failure() {
    let start = tokio::time::Instant::now();
    let error = failure("slow", json!({})).await;
    assert_eq!(start.elapsed().as_secs(), 5);
    assert_eq!(error["error"]["code"], "TIMEOUT");
    assert_eq!(error["error"]["message"], "slow did not finish within 5 s");
}

#[tokio::test]
async fn a_panic_is_a_failure_without_the_inside_and_the_server_lives() {
    let (clients, _served) = every_client(&server()).await;
    for (way, client) in clients {
        for tool in ["panics", "panics-later"] {
            let result = client.call_tool_raw(tool, json!({})).await.unwrap();
            assert_eq!(result["isError"], true, "{way}");
            assert!(!result.to_string().contains("secret"), "{result}");
            assert!(result.to_string().contains("INTERNAL_ERROR"), "{result}");
        }
        let tick =
            client.call_tool_raw("tick", json!({"universe": "x", "ticks": 1})).await.unwrap();
        assert_eq!(tick["structuredContent"]["universe"], "x", "{way}");
        let closed = tokio::time::timeout(PATIENCE, client.close()).await;
        closed.unwrap().unwrap();
    }
}

#[tokio::test]
async fn failures_are_the_same_on_every_transport() {
    let (clients, _served) = every_client(&server()).await;
    for (way, client) in clients {
        let result =
            client.call_tool_raw("tick", json!({"universe": "x", "ticks": 0})).await.unwrap();
        assert_eq!(result["isError"], true, "{way}");
        let error = client.call_tool_raw("nope", json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), "the server answered -32602: unknown tool \"nope\"", "{way}");
        let error = client.request("bogus", json!({})).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server answered -32601: unknown method \"bogus\"",
            "{way}"
        );
    }
}
