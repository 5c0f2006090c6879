//! The callbacks of the client as types, and its tasks, over every transport in both eras.

use std::sync::{Arc, Mutex};

use mcp_proto::input::{CreateMessageResult, ElicitResult, Root};
use mcp_proto::{
    CallToolResult, Context, CreateMessage, ElicitForm, ElicitUrl, Era, Field, Server, TasksConfig,
    Tool,
};
use mcp_proto_client::{Client, ClientConfig, ClientError, Elicitation, ElicitationKind, Started};
use serde_json::{Map, Value, json};

use crate::common::{Served, probe};
use crate::tasks_common;

fn asking(name: &str) -> Tool {
    Tool::new(name, "Asks.").asking().with_input_schema(json!({"type": "object"}))
}

fn server() -> Server {
    Server::builder("s", "1", ())
        .raw_tool(asking("form"), async |(), _, context: Context| {
            let form = ElicitForm::new("Who?")
                .field("name", Field::text().required())
                .field("age", Field::integer().with_default(7));
            let answer = context.elicit("who", &form)?;
            let said = json!({"action": answer.action, "content": answer.content});
            Ok(CallToolResult::text(said.to_string()))
        })
        .raw_tool(asking("url"), async |(), _, context: Context| {
            let page = ElicitUrl::new("Pay.", "https://pay.example/1");
            let action = context.elicit_url("pay", &page)?;
            Ok(CallToolResult::text(json!(action).to_string()))
        })
        .raw_tool(asking("sample"), async |(), _, context: Context| {
            let message = CreateMessage::text("Say hello.", 10).with_system_prompt("Be short.");
            let answer = context.sample("hello", &message)?;
            Ok(CallToolResult::text(answer.text()))
        })
        .raw_tool(asking("roots"), async |(), _, context: Context| {
            let roots = context.list_roots("roots")?;
            let uris: Vec<_> = roots.into_iter().map(|root| root.uri).collect();
            Ok(CallToolResult::text(uris.join(" ")))
        })
        .build()
        .unwrap()
}

/// A client of each transport and era with this configuration.
async fn every(
    server: &Server,
    change: impl Fn(ClientConfig) -> ClientConfig,
) -> (Vec<(String, Client)>, Served) {
    let served = Served::new(server.clone()).await;
    let mut clients = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        let config = || change(ClientConfig::new(era));
        let http = Client::http(&served.url(), config()).await.unwrap();
        clients.push((format!("http {era:?}"), http));
        let memory = Client::memory(server.clone(), config()).await.unwrap();
        clients.push((format!("stdio {era:?}"), memory));
    }
    (clients, served)
}

#[tokio::test]
async fn every_question_is_asked_by_its_callback() {
    let asked = Arc::new(Mutex::new(Vec::<Elicitation>::new()));
    let heard = asked.clone();
    let (clients, _served) = every(&server(), move |config| {
        let heard = heard.clone();
        config
            .with_elicitation(move |asked| {
                heard.lock().unwrap().push(asked.clone());
                async move {
                    match asked.kind {
                        ElicitationKind::Form { .. } => {
                            let name = ("name".to_owned(), json!("Ada"));
                            ElicitResult::accept(Map::from_iter([name]))
                        }
                        _ => ElicitResult::decline(),
                    }
                }
            })
            .with_sampling(async |asked: CreateMessage| {
                assert_eq!(
                    (asked.max_tokens, asked.system_prompt.as_deref()),
                    (10, Some("Be short."))
                );
                Ok(CreateMessageResult::new("m", "Hello!"))
            })
            .with_roots([Root::new("file:///a")])
    })
    .await;
    for (way, client) in clients {
        let text = async |name: &str| client.call_tool(name, json!({})).await.unwrap().text();
        let form: Value = serde_json::from_str(&text("form").await).unwrap();
        assert_eq!(form["content"], json!({"name": "Ada"}), "{way}");
        assert_eq!(text("url").await, "\"decline\"", "{way}");
        assert_eq!(text("sample").await, "Hello!", "{way}");
        assert_eq!(text("roots").await, "file:///a", "{way}");
        client.set_roots([Root::new("file:///b"), Root::new("file:///c")]).await.unwrap();
        assert_eq!(text("roots").await, "file:///b file:///c", "{way}");
        let asked = std::mem::take(&mut *asked.lock().unwrap());
        assert_eq!(asked[0].message, "Who?");
        let ElicitationKind::Form { schema } = &asked[0].kind else {
            panic!("{asked:?}");
        };
        assert_eq!(schema["properties"]["age"]["default"], 7);
        let ElicitationKind::Url { url, .. } = &asked[1].kind else {
            panic!("{asked:?}");
        };
        assert_eq!(url, "https://pay.example/1");
    }
}

#[tokio::test]
async fn defaults_are_filled_in_where_that_is_wanted_and_the_form_was_accepted() {
    let name = || Map::from_iter([("name".to_owned(), json!("Ada"))]);
    let (clients, _served) = every(&server(), move |config| {
        config
            .with_elicitation(move |_| std::future::ready(ElicitResult::accept(name())))
            .with_defaults()
    })
    .await;
    for (way, client) in clients {
        let said = client.call_tool("form", json!({})).await.unwrap().text();
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["content"], json!({"name": "Ada", "age": 7}), "{way}");
    }
    let (clients, _served) = every(&server(), |config| {
        config.with_elicitation(async |_| ElicitResult::cancel()).with_defaults()
    })
    .await;
    for (way, client) in clients {
        let said = client.call_tool("form", json!({})).await.unwrap().text();
        assert!(said.contains("cancel") && !said.contains("age"), "{way}: {said}");
    }
}

fn able(config: ClientConfig) -> ClientConfig {
    config.with_tasks().with_elicitation(async |asked| {
        let ElicitationKind::Form { schema } = asked.kind else {
            return ElicitResult::decline();
        };
        let fields = schema["properties"].as_object().unwrap().keys();
        ElicitResult::accept(fields.map(|field| (field.clone(), json!("yes"))).collect())
    })
}

#[tokio::test]
async fn a_task_is_started_watched_answered_and_cancelled() {
    let (probe, mut events) = probe();
    let (clients, _served) = every(&tasks_common::server(&probe), able).await;
    for (way, client) in clients {
        let start = async |name: &str| match client.start_tool(name, json!({}), None).await.unwrap()
        {
            Started::Task(task) => task,
            Started::Done(result) => panic!("{way}: {result}"),
        };
        let task = start("gate").await;
        events.expect("started").await;
        let status = task.status().await.unwrap();
        assert_eq!((status.task_id.as_str(), status.status.as_str()), (task.id(), "working"));
        assert!(status.ttl_ms.is_some() && status.poll_interval_ms.is_some(), "{way}");
        probe.gate.notify_one();
        // Found again by its name alone.
        let result = client.task(task.id()).result().await.unwrap();
        assert!(result["content"].is_array(), "{way}: {result}");
        let task = start("both").await;
        let result = task.result().await.unwrap();
        assert_eq!(result["content"][0]["text"], "yes+yes", "{way}");
        let task = start("hang").await;
        events.expect("started").await;
        task.cancel().await.unwrap();
        assert_eq!(task.result().await, Err(ClientError::Cancelled), "{way}");
        while !events.none() {}
        let gone = client.task("no such task").status().await.unwrap_err();
        assert_eq!(gone.code(), Some(-32_602), "{way}");
        let Started::Done(result) =
            client.start_tool("greet", json!({}), None).await.unwrap_or_else(
                // A legacy tool that is never a task refuses to be one.
                |error| Started::Done(json!({"refused": error.code()})),
            )
        else {
            panic!("{way}");
        };
        assert!(result.get("content").is_some() || result["refused"] == -32_601, "{way}: {result}");
        if client.era() == Era::Legacy {
            let listed = client.list_tasks().await.unwrap();
            assert!(listed.iter().any(|other| other.task_id == task.id()), "{way}");
        }
    }
}

#[tokio::test]
async fn a_call_that_becomes_a_task_is_waited_for() {
    let (probe, _events) = probe();
    let config = tasks_common::config(|config: &mut TasksConfig| {
        config.poll_interval = std::time::Duration::from_millis(20);
    });
    let server = tasks_common::builder(&probe, config).build().unwrap();
    let (clients, _served) = every(&server, able).await;
    for (way, client) in clients {
        // A legacy client knows from the list that it must be a task.
        client.list_tools().await.unwrap();
        let result = client.call_tool("job", json!({"ends": "well"})).await.unwrap();
        assert_eq!(result.text(), "done", "{way}");
    }
    let client = Client::memory(server, able(ClientConfig::default())).await.unwrap();
    let result = client.call_tool("confirm", json!({})).await.unwrap();
    assert_eq!(result.text(), "yes");
}
