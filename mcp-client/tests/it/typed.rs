//! The typed calls of the client, over every transport in both eras.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::{
    Context, Era, GetPromptResult, Json, LogLevel, Prompt, PromptArgument, Resource,
    ResourceContents, ResourceTemplate, Server, Tool,
};
use mcp_proto_client::{CallOptions, Client, ClientConfig, ClientError, Reference, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{builder, every_client, probe};
use crate::fake::Fake;

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    a: i64,
    b: i64,
}

async fn add(two: Two, context: Context) -> Json<Sum> {
    context.log(LogLevel::Info, None, "adding").await;
    context.log(LogLevel::Error, None, "added").await;
    Json(Sum { sum: two.a + two.b })
}

fn server() -> Server {
    Server::builder("s", "1", ())
        .logging()
        .tool(Tool::new("add", "Adds."), add)
        .resource(Resource::new("notes://1", "one"), async |(), _| {
            Ok(ResourceContents::text("notes://1", "first"))
        })
        .resource_template(
            ResourceTemplate::new("notes://{day}", "days"),
            async |(), uri: mcp_proto::ResourceUri, _| {
                Ok(ResourceContents::text(uri.uri, "of a day"))
            },
        )
        .raw_prompt(
            Prompt::new("greet", "Greets.").with_argument(
                PromptArgument::required("name", "Whom.").with_values(["Ada", "Alan"]),
            ),
            async |(), arguments: BTreeMap<String, String>, _| {
                Ok(GetPromptResult::text(format!("Hello, {}!", arguments["name"])))
            },
        )
        .build()
        .unwrap()
}

#[tokio::test]
async fn everything_a_server_offers_is_there_as_types() {
    let (clients, _served) = every_client(&server()).await;
    for (way, client) in clients {
        let told = client.server().await.unwrap();
        assert_eq!(told.info.as_ref().unwrap().name, "s", "{way}");
        client.ping().await.unwrap();
        let tools = client.list_tools().await.unwrap();
        assert_eq!(tools[0].name, "add", "{way}");
        let result = client.call_tool("add", json!({"a": 1, "b": 2})).await.unwrap();
        assert_eq!(result.structured::<Sum>(), Ok(Sum { sum: 3 }), "{way}");
        assert_eq!(result.text(), r#"{"sum":3}"#);
        let failed = client.call_tool("add", json!({"a": 1})).await.unwrap();
        assert!(failed.is_error && failed.text().contains("b"), "{way}");
        assert!(failed.structured::<Sum>().is_err());
        let resources = client.list_resources().await.unwrap();
        assert!(resources.iter().any(|resource| resource.uri == "notes://1"));
        let templates = client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "notes://{day}");
        let read = client.read_resource("notes://monday").await.unwrap();
        assert_eq!(read.contents[0].text.as_deref(), Some("of a day"));
        let missing = client.read_resource("other://1").await.unwrap_err();
        let wanted = match client.era() {
            Era::Legacy => -32_002,
            Era::Modern => -32_602,
        };
        assert_eq!(missing.code(), Some(wanted), "{way}");
        assert_eq!(client.list_prompts().await.unwrap()[0].name, "greet");
        let prompt = client.get_prompt("greet", [("name", "Ada")]).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("Hello, Ada!"));
        let greet = Reference::Prompt("greet".to_owned());
        let completion = client.complete(&greet, "name", "Ad", &[]).await.unwrap();
        assert_eq!(completion.values, ["Ada"], "{way}");
    }
}

#[tokio::test]
async fn log_messages_are_those_of_the_level_that_was_set() {
    let (clients, _served) = every_client(&server()).await;
    for (way, client) in clients {
        client.set_log_level(LogLevel::Warning).await.unwrap();
        let mut all = client.notifications();
        client.call_tool("add", json!({"a": 1, "b": 2})).await.unwrap();
        let heard = all.recv().await.unwrap();
        assert_eq!(heard.params["data"], "added", "{way}");
        assert!(all.try_recv().is_err());
    }
}

#[tokio::test]
async fn progress_comes_to_the_call_that_asked_for_it() {
    let (probe, _events) = probe();
    let (clients, _served) = every_client(&builder(&probe).build().unwrap()).await;
    for (way, client) in clients {
        let told = |log: &Arc<Mutex<Vec<f64>>>| {
            let log = log.clone();
            CallOptions::default().with_progress(move |progress| {
                log.lock().unwrap().push(progress.progress);
            })
        };
        let (one, two) = (Arc::default(), Arc::default());
        let (options_one, options_two) = (told(&one), told(&two));
        let (first, second) = tokio::join!(
            client.call_tool_with("progress", json!({"steps": 3}), &options_one),
            client.call_tool_with("progress", json!({"steps": 5}), &options_two),
        );
        assert!(first.is_ok() && second.is_ok(), "{way}");
        assert_eq!(one.lock().unwrap().len(), 3, "{way}");
        assert_eq!(two.lock().unwrap().len(), 5, "{way}");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_begins_the_time_anew_up_to_a_maximum() {
    let server = Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("slow", "").with_input_schema(json!({"type": "object"})),
            async |(), arguments: serde_json::Map<String, Value>, context: Context| {
                for step in 1..=arguments["steps"].as_u64().unwrap() {
                    tokio::time::sleep(Duration::from_secs(8)).await;
                    context.progress(step as f64, None, None).await;
                }
                Ok(mcp_proto::CallToolResult::text("done"))
            },
        )
        .build()
        .unwrap();
    for era in [Era::Legacy, Era::Modern] {
        let client = Client::memory(server.clone(), ClientConfig::new(era)).await.unwrap();
        let mut options = CallOptions::default().with_timeout(Duration::from_secs(10));
        let call = |steps, options: CallOptions| {
            let client = client.clone();
            async move { client.call_tool_with("slow", json!({"steps": steps}), &options).await }
        };
        let short = call(5, options.clone()).await;
        assert_eq!(short, Err(ClientError::Timeout(Duration::from_secs(10))));
        options.max_timeout = Some(Duration::from_secs(60));
        assert_eq!(call(5, options.clone()).await.unwrap().text(), "done");
        let begun = tokio::time::Instant::now();
        assert!(call(500, options).await.is_err());
        assert_eq!(begun.elapsed().as_secs(), 60);
    }
}

#[tokio::test]
async fn a_result_that_is_not_what_its_tool_promises_is_refused() {
    let fake = Fake::new(|seen, _| match seen.name() {
        "tools/list" => seen.result(json!({"tools": [{
            "name": "t",
            "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        }]})),
        _ => seen.result(json!({"content": [], "structuredContent": {"n": "one"}})),
    })
    .await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let client = client.unwrap();
    // What was not listed cannot be checked.
    client.call_tool("t", json!({})).await.unwrap();
    client.list_tools().await.unwrap();
    let refused: Result<ToolResult, _> = client.call_tool("t", json!({})).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("outputSchema"), "{error}");
}

#[tokio::test]
async fn a_list_that_never_ends_or_is_none_is_given_up() {
    let fake = Fake::new(|seen, before| match seen.name() {
        "prompts/list" => seen.result(json!({"prompts": [], "nextCursor": before.to_string()})),
        _ => seen.result(json!({"resources": "none"})),
    })
    .await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let client = client.unwrap();
    let error = client.list_prompts().await.unwrap_err();
    assert!(error.to_string().contains("1000 pages"), "{error}");
    let error = client.list_resources().await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
}

#[tokio::test]
async fn a_cursor_that_is_refused_under_way_begins_the_list_again() {
    let fake = Fake::new(|seen, before| match (before, &seen.body["params"]["cursor"]) {
        (0 | 2, Value::Null) => {
            seen.result(json!({"prompts": [], "nextCursor": before.to_string()}))
        }
        (1, _) => seen.error(200, -32_602, json!({})),
        _ => seen.result(json!({"prompts": [{"name": "p"}]})),
    })
    .await;
    let client = Client::http(&fake.url(), ClientConfig::new(Era::Modern)).await;
    let listed = client.unwrap().list_prompts().await.unwrap();
    assert_eq!(listed[0].name, "p");
    assert_eq!(fake.names().len(), 4);
}
