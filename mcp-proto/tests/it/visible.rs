//! What a server shows to some callers alone: in lists, and as unknown in every request of others, over HTTP and stdio
//! in both eras.

use http::Method;
use mcp_proto::jsonrpc::Request;
use mcp_proto::scopes::{Guarded, Wanted};
use mcp_proto::stdio::StdioConfig;
use mcp_proto::{
    CallToolResult, Completion, CompletionRequest, Context, GetPromptResult, Principal, Prompt,
    RequestError, Resource, ResourceContents, ResourceTemplate, ResourceUri, Server,
    StreamableHttpService, Tool, ToolError,
};
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::common::{Raw, open_session, request, with_meta};

async fn note((): (), asked: ResourceUri, _: Context) -> Result<ResourceContents, RequestError> {
    Ok(ResourceContents::text(asked.uri, "secret"))
}

async fn ask(
    (): (),
    _: std::collections::BTreeMap<String, String>,
    _: Context,
) -> Result<GetPromptResult, RequestError> {
    Ok(GetPromptResult::text("ask"))
}

async fn complete(
    (): (),
    asked: CompletionRequest,
    _: Context,
) -> Result<Completion, RequestError> {
    Ok(Completion::matching(&asked, ["one"]))
}

fn server() -> Server {
    let tool = |name: &str| {
        let region = json!({"type": "string", "x-mcp-header": "Region"});
        let schema = json!({"type": "object", "properties": {"region": region}});
        Tool::new(name, "").with_input_schema(schema)
    };
    let done = async |(), _: Map<String, Value>, _: Context| Ok(CallToolResult::text("done"));
    let argument = mcp_proto::PromptArgument::optional("topic", "");
    let secret = async |(), _: Context| Ok(ResourceContents::text("secret://plan", "plan"));
    Server::builder("s", "1", ())
        .raw_tool(tool("open"), done)
        .raw_tool(tool("secret"), done)
        .resource(Resource::new("open://door", "door"), secret)
        .resource(Resource::new("secret://plan", "plan"), secret)
        .resource_template(ResourceTemplate::new("secret://notes/{name}", "notes"), note)
        .raw_prompt(Prompt::new("open", "").with_argument(argument.clone()), ask)
        .raw_prompt(Prompt::new("secret", "").with_argument(argument), ask)
        .complete_prompt("secret", "topic", complete)
        .complete_template("secret://notes/{name}", "name", complete)
        .subscriptions()
        .visible_to(|wanted, context| {
            let is_secret = matches!(wanted, Wanted::Prompt("secret", _));
            !is_secret || context.principal() == Some("ada")
        })
        .visible_on(Guarded::Tool("secret".into()), |context| context.principal() == Some("ada"))
        .visible_on(Guarded::Resources("secret:".into()), |context| {
            context.principal() == Some("ada")
        })
        .build()
        .unwrap()
}

/// The result or the error of a request of a caller, over HTTP.
async fn asked(service: &StreamableHttpService, raw: Raw, who: &str) -> Value {
    let mut request = raw.request();
    request.extensions_mut().insert(Principal(who.to_owned()));
    let body = service.handle(request).await.into_body();
    let text = http_body_util::BodyExt::collect(body).await.unwrap();
    serde_json::from_slice(&text.to_bytes()).unwrap()
}

/// What every caller gets for a request over each transport in each era.
async fn everywhere(method: &str, params: &Value, who: &str) -> Vec<Value> {
    let service = StreamableHttpService::new(server());
    let mut answers = vec![asked(&service, Raw::modern(method, params.clone()), who).await];
    let mut initialize = Raw::initialize("2025-11-25").request();
    initialize.extensions_mut().insert(Principal(who.to_owned()));
    let opened = service.handle(initialize).await;
    let session = opened.headers()["mcp-session-id"].to_str().unwrap();
    answers.push(asked(&service, Raw::legacy(session, method, params), who).await);
    for modern in [true, false] {
        let mut extensions = http::Extensions::new();
        extensions.insert(Principal(who.to_owned()));
        let (near, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let config = StdioConfig::default();
        let served = mcp_proto::stdio::serve_with(server(), reader, writer, config, extensions);
        let served = tokio::spawn(served);
        let (reader, mut writer) = tokio::io::split(near);
        let mut lines = BufReader::new(reader).lines();
        let mut send = async |message: Value| {
            writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            let line = lines.next_line().await.unwrap().unwrap();
            serde_json::from_str::<Value>(&line).unwrap()
        };
        if modern {
            answers.push(send(request(7, method, &with_meta(params.clone()))).await);
        } else {
            let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
            send(request(1, "initialize", &opening)).await;
            answers.push(send(request(7, method, params)).await);
        }
        drop(writer);
        served.abort();
    }
    answers
}

#[tokio::test]
async fn lists_have_what_their_caller_may_see_and_are_its_own() {
    for (method, member, key, all) in [
        ("tools/list", "tools", "name", ["open", "secret"].as_slice()),
        ("prompts/list", "prompts", "name", &["open", "secret"]),
        ("resources/list", "resources", "uri", &["open://door", "secret://plan"]),
        (
            "resources/templates/list",
            "resourceTemplates",
            "uriTemplate",
            &["secret://notes/{name}"],
        ),
    ] {
        for (who, secret) in [("ada", true), ("bob", false)] {
            for answer in everywhere(method, &json!({}), who).await {
                let items = answer["result"][member].as_array().unwrap().iter();
                let names: Vec<_> = items.map(|item| item[key].as_str().unwrap()).collect();
                let seen = all.iter().filter(|name| secret || name.starts_with("open"));
                assert_eq!(names, seen.copied().collect::<Vec<_>>(), "{method} {who}");
                let scope = answer["result"].get("cacheScope");
                assert!(scope.is_none_or(|scope| scope == "private"), "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn what_a_caller_may_not_see_is_unknown_in_every_request() {
    let prompt = |name| json!({"type": "ref/prompt", "name": name});
    let template = |uri| json!({"type": "ref/resource", "uri": uri});
    let complete = |of, argument| json!({"ref": of, "argument": {"name": argument, "value": ""}});
    for (method, hidden, unknown) in [
        (
            "tools/call",
            json!({"name": "secret", "arguments": {"region": "eu"}}),
            json!({"name": "absent", "arguments": {"region": "eu"}}),
        ),
        ("prompts/get", json!({"name": "secret"}), json!({"name": "absent"})),
        ("resources/read", json!({"uri": "secret://plan"}), json!({"uri": "absent://plan"})),
        ("resources/read", json!({"uri": "secret://notes/x"}), json!({"uri": "absent://notes/x"})),
        (
            "completion/complete",
            complete(prompt("secret"), "topic"),
            complete(prompt("absent"), "topic"),
        ),
        (
            "completion/complete",
            complete(template("secret://notes/{name}"), "name"),
            complete(template("absent://notes/{name}"), "name"),
        ),
    ] {
        let hidden_answers = everywhere(method, &hidden, "bob").await;
        let unknown_answers = everywhere(method, &unknown, "bob").await;
        for (hidden, unknown) in hidden_answers.iter().zip(&unknown_answers) {
            let alike = unknown.to_string().replace("absent", "secret");
            assert!(hidden.get("error").is_some(), "{method}: {hidden}");
            assert_eq!(hidden.to_string(), alike, "{method}");
        }
        if method != "tools/call" {
            for answer in everywhere(method, &hidden, "ada").await {
                assert!(answer.get("result").is_some(), "{method}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn headers_are_judged_for_those_who_see_the_tool() {
    let service = StreamableHttpService::new(server());
    let params = json!({"name": "secret", "arguments": {"region": "eu"}});
    let call = || Raw::modern("tools/call", params.clone());
    let text = |answer: &Value| answer["error"]["message"].as_str().unwrap().to_owned();
    let ada = asked(&service, call(), "ada").await;
    assert!(text(&ada).contains("mcp-param-region"), "{ada}");
    let ada = asked(&service, call().set("mcp-param-region", "eu"), "ada").await;
    assert_eq!(ada["result"]["content"][0]["text"], "done");
    // A prompt has no such headers, although it has the tool's name.
    let prompt = Raw::modern("prompts/get", json!({"name": "secret"}));
    let ada = asked(&service, prompt, "ada").await;
    assert!(ada.get("result").is_some(), "{ada}");
    let bob = asked(&service, call(), "bob").await;
    assert_eq!(text(&bob), "unknown tool \"secret\"");
}

#[tokio::test]
async fn nobody_subscribes_to_what_is_hidden() {
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    let raw = Raw::legacy(&session, "resources/subscribe", &json!({"uri": "secret://plan"}));
    assert_eq!(raw.send(&service).await.refusal().1, -32002);
    let wanted = json!({"resourceSubscriptions": ["secret://plan", "open://door"]});
    let mut stream = crate::listen::open(&service, crate::listen::listen(7, &wanted)).await;
    let agreed = crate::listen::next(&mut stream).await;
    let agreed = &agreed["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*agreed, json!(["open://door"]));
    drop(stream);
    let end = Raw::bare(Method::DELETE).set("mcp-session-id", &session);
    assert_eq!(end.send(&service).await.status.as_u16(), 204);
}

#[tokio::test]
async fn a_tool_that_does_not_say_that_it_asks_fails_also_where_some_see_it_alone() {
    let ask = async |context: Context| -> Result<&str, ToolError> {
        Ok(if context.confirm("sure", "Sure?")? { "yes" } else { "no" })
    };
    let offering = || Server::builder("s", "1", ()).tool(Tool::new("ask", ""), ask);
    for builder in [offering(), offering().visible_to(|_, _| true)] {
        let call = Request::new(1, "tools/call", json!({ "name": "ask" }));
        let context = Context::test().with_capability("elicitation", json!({ "form": {} }));
        let answer = builder.build().unwrap().handle(call, context).await;
        assert_eq!(answer.outcome.unwrap_err().code, -32603);
    }
}
