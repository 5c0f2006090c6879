//! Servers that ask, and both ends of being asked: for the tests of asking the client.

use std::sync::Arc;

use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::{
    CallToolResult, Context, ElicitForm, Field, GetPromptResult, InputConfig, Interrupt, Prompt,
    ReadResourceResult, RequestError, Resource, ResourceContents, Server, ServerBuilder,
    StreamableHttpService, Tool, ToolError,
};
use serde_json::{Map, Value, json};

use crate::common::{Raw, Reply, with_meta};
use crate::peer::Peer;

/// What the handlers of a test do: ask, and say what came of it.
pub(crate) type Ask = Arc<dyn Fn(&Context) -> Result<Value, Interrupt> + Send + Sync>;

/// A server whose tool, prompt and resource do the same.
pub(crate) fn asker(
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> ServerBuilder<Ask> {
    let ask: Ask = Arc::new(ask);
    let tool =
        |name| Tool::new(name, "Asks.").asking().with_input_schema(json!({ "type": "object" }));
    let resource = Resource::new("test://ask", "ask");
    Server::builder("asker", "1.0.0", ask)
        .raw_tool(tool("ask"), by_tool)
        .raw_tool(tool("other"), by_tool)
        .raw_prompt(Prompt::new("ask", "Asks."), async |ask: Ask, _, context| {
            Ok::<_, RequestError>(GetPromptResult::text(ask(&context)?.to_string()))
        })
        .resource(resource, async |ask: Ask, context| {
            let said = ask(&context)?.to_string();
            let contents = ResourceContents::text("test://ask", said);
            Ok::<ReadResourceResult, RequestError>(contents.into())
        })
}

async fn by_tool(
    ask: Ask,
    _: Map<String, Value>,
    context: Context,
) -> Result<CallToolResult, ToolError> {
    CallToolResult::structured(&json!({ "said": ask(&context)? }))
}

/// A name, please.
pub(crate) fn name_form() -> ElicitForm {
    ElicitForm::new("What is your name?").field("name", Field::text().required())
}

/// Everything that a client can declare.
pub(crate) fn all_capabilities() -> Map<String, Value> {
    let all = json!({
        "elicitation": { "form": {}, "url": {} },
        "sampling": { "tools": {} },
        "roots": {},
    });
    all.as_object().unwrap().clone()
}

/// An answer of the right kind to every question.
pub(crate) fn answer_to(question: &Request) -> Result<Value, ErrorObject> {
    let url = question.params.get("mode") == Some(&json!("url"));
    Ok(match question.method.as_str() {
        "elicitation/create" if url => json!({ "action": "accept" }),
        "elicitation/create" => json!({ "action": "accept", "content": { "name": "Ann" } }),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": { "type": "text", "text": "Hi!" },
            "model": "m",
            "stopReason": "endTurn",
        }),
        "roots/list" => json!({ "roots": [{ "uri": "file:///a", "name": "A" }] }),
        other => return Err(ErrorObject::method_not_found(other)),
    })
}

/// The parameters of the question that a handler asks a client of a revision, as they are on the wire.
pub(crate) async fn asked(
    version: &str,
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> Value {
    let server = asker(ask).build().unwrap();
    if version == "2026-07-28" {
        let result = modern(&server, json!({})).await.unwrap();
        assert_eq!(result["resultType"], "input_required", "{result}");
        let question = result["inputRequests"]["q"].clone();
        // A question of the modern era is not a message.
        assert!(question.get("id").is_none() && question.get("jsonrpc").is_none());
        return question["params"].clone();
    }
    let mut peer = legacy(server, version).await;
    let question = peer.next().await;
    assert!(question["id"].is_string(), "{question}");
    question["params"].clone()
}

/// A call of the tool by a client of a legacy revision.
pub(crate) async fn legacy(server: Server, version: &str) -> Peer {
    let mut peer = Peer::new(server);
    peer.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": version,
        "capabilities": all_capabilities(),
        "clientInfo": { "name": "test", "version": "0" },
    } }))
    .await;
    assert_eq!(peer.next().await["result"]["protocolVersion"], version);
    peer.send(&json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "ask" },
    }))
    .await;
    peer
}

/// The result of a modern call with these answers, or its error's code and message.
pub(crate) async fn modern(server: &Server, answers: Value) -> Result<Value, (i64, String)> {
    let params = json!({ "name": "ask", "inputResponses": answers });
    let mut context = Context::test();
    context.client_capabilities = Arc::new(all_capabilities().into());
    let request = Request::new(7, "tools/call", with_meta(params));
    let outcome = server.handle(request, context).await.outcome;
    outcome.map(|payload| payload.to_value()).map_err(|error| (error.code, error.message))
}

/// What a handler gets for this answer to its question, or the refusal.
pub(crate) async fn answered(
    answer: Value,
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> Result<Value, String> {
    let server = asker(ask).build().unwrap();
    match modern(&server, json!({ "q": answer })).await {
        Ok(result) => Ok(result["structuredContent"]["said"].clone()),
        Err((code, message)) => {
            assert_eq!(code, -32602, "{message}");
            let problem = message.strip_prefix("params.inputResponses[\"q\"]: ");
            Err(problem.expect(&message).to_owned())
        }
    }
}

/// `_meta` of a client that declares these capabilities.
pub(crate) fn declaring(capabilities: &Value) -> Value {
    json!({ "io.modelcontextprotocol/clientCapabilities": capabilities })
}

/// A request of a client that can do everything.
pub(crate) fn raw(method: &str, mut params: Value) -> Raw {
    if params.get("_meta").is_none() {
        params["_meta"] = declaring(&json!(all_capabilities()));
    }
    let uri = params.get("uri").and_then(Value::as_str).map(str::to_owned);
    let raw = Raw::modern(method, params);
    match uri {
        Some(uri) => raw.set("mcp-name", &uri),
        None => raw,
    }
}

pub(crate) async fn send(service: &StreamableHttpService, method: &str, params: Value) -> Reply {
    raw(method, params).send(service).await
}

/// A call of the tool with this in its params besides.
pub(crate) async fn call(service: &StreamableHttpService, more: &Value) -> Reply {
    send(service, "tools/call", asking(more)).await
}

pub(crate) fn asking(more: &Value) -> Value {
    let mut params = json!({ "name": "ask", "arguments": { "a": 1, "b": 2 } });
    let members = params.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    params
}

pub(crate) fn service_of(
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> StreamableHttpService {
    StreamableHttpService::new(asker(ask).build().unwrap())
}

pub(crate) fn with_config(change: impl FnOnce(&mut InputConfig)) -> StreamableHttpService {
    let mut config = InputConfig::default();
    change(&mut config);
    StreamableHttpService::new(asker(greet).input(config).build().unwrap())
}

/// Asks one thing.
pub(crate) fn greet(context: &Context) -> Result<Value, Interrupt> {
    Ok(json!(context.elicit("who", &name_form())?.text("name")))
}

/// Asks three things one after the other.
pub(crate) fn thrice(context: &Context) -> Result<Value, Interrupt> {
    let mut names = Vec::new();
    for key in ["one", "two", "three"] {
        let answer = context.elicit(key, &name_form())?;
        names.push(answer.text("name").unwrap().to_owned());
    }
    Ok(json!(names))
}

pub(crate) fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// The state of an answer that asks for exactly these keys.
#[track_caller]
pub(crate) fn state_for(reply: &Reply, keys: &[&str]) -> String {
    let result = reply.result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), keys);
    assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());
    result["requestState"].as_str().unwrap().to_owned()
}

#[track_caller]
pub(crate) fn said(reply: &Reply) -> Value {
    let result = reply.result();
    assert_eq!(result["resultType"], "complete", "{result}");
    result["structuredContent"]["said"].clone()
}

#[track_caller]
pub(crate) fn refused(reply: &Reply, why: &str) {
    assert_eq!(reply.refusal(), (200, -32602, Some(json!(7))), "{why}");
    assert!(reply.message().contains(why), "{}", reply.message());
}

pub(crate) const UNREADABLE: &str =
    "requestState is not one that this server gave for this request";
