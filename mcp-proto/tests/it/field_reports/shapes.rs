//! Numbers, nested types, prompts, progress, media types, hosts and headers as programs and their clients have them.

use http_body_util::BodyExt as _;
use mcp_proto::http::{Hosts, HttpConfig};
use mcp_proto::{
    Context, GetPromptResult, Prompt, PromptArgument, RequestError, Server, StreamableHttpService,
    Tool,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::tools::{everywhere, text};
use crate::common::{Raw, Reply, call, open_session, say, server, service};

#[derive(Debug, Deserialize, JsonSchema)]
struct Find {
    #[serde(default, rename = "maxResults")]
    max_results: usize,
    timeout: Option<i64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Ended,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Query {
    team: String,
    status: Option<Status>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Schedules {
    query: Query,
    others: Vec<Query>,
}

/// Either of two, as arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "lowercase")]
enum Example {
    Kind { kind: String },
    Task { task: String },
}

/// The account that a proxy in front has found, from a header of its own.
#[derive(Debug, Clone)]
struct Account(String);

fn account(context: &Context) -> String {
    context.extension::<Account>().map_or("nobody", |account| &account.0).to_owned()
}

fn finding() -> Server {
    Server::builder("reports", "1", ())
        .tool(Tool::new("find", "Finds."), async |asked: Find| {
            format!("{} {:?}", asked.max_results, asked.timeout)
        })
        .tool(Tool::new("schedules", "Lists them."), async |asked: Schedules| {
            let Query { team, status } = asked.query;
            format!("{team} {status:?} {}", asked.others.len())
        })
        .tool(Tool::new("example", "One by kind or by task."), async |asked: Example| match asked {
            Example::Kind { kind } => format!("kind {kind}"),
            Example::Task { task } => format!("task {task}"),
        })
        .build()
        .unwrap()
}

/// dmtrKovalenko/fff#326, delinoio/oss#130
#[tokio::test]
async fn whole_numbers_may_have_a_point_and_others_are_no_integers() {
    for (arguments, wanted) in [
        (r#"{"maxResults": 30.0, "timeout": -2.0}"#, Some("30 Some(-2)")),
        (r#"{"maxResults": 3e1}"#, Some("30 None")),
        (r#"{"maxResults": 30.5}"#, None),
        (r#"{"timeout": 0.5}"#, None),
        (r#"{"maxResults": -1}"#, None),
        (r#"{"maxResults": "30"}"#, None),
    ] {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let params = json!({"name": "find", "arguments": arguments});
        for result in everywhere(&finding(), "tools/call", &params).await {
            match wanted {
                Some(wanted) => assert_eq!(text(&result), wanted),
                None => assert_eq!(result["isError"], true, "{params}: {result}"),
            }
        }
    }
}

/// github/copilot-cli#1876, basicmachines-co/basic-memory#444, Softeria/ms-365-mcp-server#643, redhat-et/ripwire#48
#[tokio::test]
async fn schemas_of_nested_types_and_of_choices_are_plain() {
    for result in everywhere(&finding(), "tools/list", &json!({})).await {
        let tools = result["tools"].as_array().unwrap();
        assert!(!json!(tools).to_string().contains("$ref"), "{result}");
        for schema in tools.iter().map(|tool| &tool["inputSchema"]) {
            for keyword in ["$defs", "oneOf", "anyOf", "allOf"] {
                assert_eq!(schema.get(keyword), None, "{schema}");
            }
        }
    }
    let schedules = json!({"query": {"team": "a", "status": "ended"}, "others": [{"team": "b"}]});
    for (tool, arguments, wanted) in [
        ("schedules", schedules, "a Some(Ended) 1"),
        ("example", json!({"by": "task", "task": "t"}), "task t"),
    ] {
        let params = json!({"name": tool, "arguments": arguments});
        for result in everywhere(&finding(), "tools/call", &params).await {
            assert_eq!(text(&result), wanted);
        }
    }
    let neither = json!({"name": "example", "arguments": {"by": "kind"}});
    for result in everywhere(&finding(), "tools/call", &neither).await {
        assert!(result["isError"] == true && text(&result).contains("kind"), "{result}");
    }
}

/// saurabhsharma2u/search-console-mcp#112, QwenLM/qwen-code#5322, aws/amazon-q-developer-cli#3018
#[tokio::test]
async fn arguments_of_prompts_are_texts_that_may_be_empty() {
    let fill = async |(): (), found: Find, _: Context| {
        Ok::<_, RequestError>(GetPromptResult::text(format!("{found:?}")))
    };
    let numbers = Server::builder("reports", "1", ()).prompt(Prompt::new("quick-wins", ""), fill);
    let error = numbers.build().unwrap_err().to_string();
    assert!(error.contains("quick-wins") && error.contains("string"), "{error}");

    let prompt = Prompt::new("trail", "")
        .with_argument(PromptArgument::required("name", "Whose."))
        .with_argument(PromptArgument::optional("trail", "Which."));
    let server = Server::builder("reports", "1", ())
        .raw_prompt(prompt, async |(), given, _| {
            let given = serde_json::to_string(&given).unwrap();
            Ok::<_, RequestError>(GetPromptResult::text(given))
        })
        .raw_prompt(Prompt::new("greeting", ""), async |(), _, _| {
            Ok::<_, RequestError>(GetPromptResult::text("hello"))
        })
        .build()
        .unwrap();
    for (params, wanted) in [
        (
            json!({"name": "trail", "arguments": {"name": "", "trail": ""}}),
            r#"{"name":"","trail":""}"#,
        ),
        (json!({"name": "trail", "arguments": {"name": "a"}}), r#"{"name":"a"}"#),
        (json!({"name": "greeting"}), "hello"),
        (json!({"name": "greeting", "arguments": {}}), "hello"),
    ] {
        for result in everywhere(&server, "prompts/get", &params).await {
            assert_eq!(result["messages"][0]["content"]["text"], wanted, "{params}");
        }
    }
}

/// modelcontextprotocol/python-sdk#176, kaeawc/auto-mobile#6118
#[tokio::test]
async fn progress_has_the_token_that_was_sent_or_is_not_sent() {
    let service = service();
    let session = open_session(&service).await;
    for token in [json!(0), json!(""), json!("a"), json!(-3), json!(null)] {
        let mut params = json!({"name": "progress", "arguments": {"steps": 2}});
        if !token.is_null() {
            params["_meta"] = json!({ "progressToken": token });
        }
        let legacy = Raw::legacy(&session, "tools/call", &params);
        for raw in [legacy, Raw::modern("tools/call", params.clone())] {
            let reply = raw.send(&service).await;
            if token.is_null() {
                assert_eq!(reply.result()["structuredContent"]["done"], true);
                continue;
            }
            let mut messages = reply.events();
            assert_eq!(messages.pop().unwrap()["result"]["structuredContent"]["done"], true);
            assert!(!messages.is_empty());
            for message in messages {
                assert_eq!(message["params"]["progressToken"], token);
            }
        }
    }
}

/// arabold/docs-mcp-server#349, modelcontextprotocol/typescript-sdk#1944, honojs/middleware#1799
#[tokio::test]
async fn a_client_that_takes_json_alone_or_says_nothing_gets_json() {
    let service = service();
    let session = open_session(&service).await;
    for accept in [Some("application/json"), Some("application/json;q=0.9"), Some("*/*"), None] {
        let legacy = Raw::legacy(&session, "tools/call", &say("x"));
        for raw in [legacy, Raw::modern("tools/call", say("x"))] {
            let raw = raw.unset("accept");
            let raw = accept.map_or(raw.clone(), |accept| raw.set("accept", accept));
            let result = raw.send(&service).await.result();
            assert_eq!(result["structuredContent"]["text"], "x", "{accept:?}");
        }
    }
}

/// xberg-io/xberg#1306, haymon-ai/dbmcp#133, jmrplens/gitlab-mcp-server#542, genomoncology/biomcp#240,
/// boykush/scraps#647
#[tokio::test]
async fn the_public_name_behind_a_proxy_is_one_setting_and_the_refusal_names_it() {
    let with = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut config = HttpConfig::default();
        config.hosts = Hosts::from_names(&names).unwrap();
        StreamableHttpService::with_config(server(), config)
    };
    for host in ["mcp.example.com", "mcp.example.com:8443", "MCP.EXAMPLE.COM", "localhost"] {
        let raw = Raw::initialize("2025-11-25").set("host", host);
        raw.clone().send(&with(&["mcp.example.com"])).await.result();
        raw.send(&with(&["*"])).await.result();
    }
    let raw = Raw::initialize("2025-11-25").set("host", "other.example.com");
    let refused = raw.send(&with(&["mcp.example.com"])).await;
    assert_eq!(refused.refusal().0, 403);
    let message = refused.json()["error"]["message"].to_string();
    assert!(message.contains("other.example.com") && message.contains("allowed hosts"));
}

/// PrefectHQ/fastmcp-ts#69, php-mcp/server#45, Azure/azure-functions-nodejs-library#370, rekog-labs/MCP-Nest#53
#[tokio::test]
async fn what_a_proxy_says_in_a_header_reaches_tools_lists_and_guards() {
    let server = Server::builder("reports", "1", ())
        .tool(Tool::new("whoami", "Says who calls."), async |context: Context| account(&context))
        .visible_to(|_, context| account(context) == "ann")
        .build()
        .unwrap();
    let mcp = StreamableHttpService::new(server);
    // The code around the endpoint, as a handler of hyper or a layer of tower has it.
    let app = async |raw: Raw| {
        let mut request = raw.request();
        let named = request.headers().get("x-account").and_then(|name| name.to_str().ok());
        if let Some(account) = named.map(|name| Account(name.to_owned())) {
            request.extensions_mut().insert(account);
        }
        let (head, body) = mcp.handle(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: head.status, headers: head.headers, body }
    };
    let reply = app(Raw::initialize("2025-11-25")).await;
    let session = reply.header("mcp-session-id").unwrap().to_owned();
    let legacy = Raw::legacy(&session, "tools/call", &call("whoami"));
    for raw in [legacy, Raw::modern("tools/call", call("whoami"))] {
        for (name, seen) in [(Some("ann"), true), (Some("bob"), false), (None, false)] {
            let raw = name.map_or(raw.clone(), |name| raw.clone().set("x-account", name));
            let answer = app(raw).await.json();
            if seen {
                assert_eq!(text(&answer["result"]), "ann");
            } else {
                assert_eq!(answer["error"]["code"], -32602, "{answer}");
            }
        }
    }
}
