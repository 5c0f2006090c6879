//! What is reported of every request: what it named, who sent it, how it ended, over HTTP and stdio in both eras.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::{
    CallToolResult, Context, Era, GetPromptResult, OperationError, Prompt, RequestError, Resource,
    ResourceContents, ResourceTemplate, ResourceUri, Server, StreamableHttpService, Tool,
    ToolError,
};
use serde_json::{Value, json};

use crate::common::{Raw, builder, call, every_client, probe};

/// A report as text, and what can be told of it only roughly.
#[derive(Debug, Clone, PartialEq)]
struct Report {
    text: String,
    client: Option<String>,
    era: Option<Era>,
    error: Option<OperationError>,
    bytes: usize,
}

type Reports = Arc<Mutex<Vec<Report>>>;

fn observed<S: Clone + Send + Sync + 'static>(
    builder: mcp_proto::ServerBuilder<S>,
) -> (Server, Reports) {
    let reports = Reports::default();
    let kept = Arc::clone(&reports);
    let server = builder.observe(move |it| {
        assert!(it.duration < Duration::from_secs(60));
        let names = [&it.tool, &it.prompt, &it.resource, &it.uri, &it.principal];
        let names = names.map(|name| name.as_deref().unwrap_or("-")).join(" ");
        let is_legacy = it.protocol_version.is_some_and(|version| version.era() == Era::Legacy);
        assert!(is_legacy || it.session.is_none(), "{it:?}");
        kept.lock().unwrap().push(Report {
            text: format!("{} {names}", it.method),
            client: it.client.as_ref().map(|client| client.name.clone()),
            era: it.protocol_version.map(|version| version.era()),
            error: it.error,
            bytes: it.result_bytes,
        });
    });
    (server.build().unwrap(), reports)
}

fn offering() -> mcp_proto::ServerBuilder<()> {
    let object = json!({"type": "object"});
    let tool = |name: &str| Tool::new(name, "").with_input_schema(object.clone());
    Server::builder("s", "1", ())
        .raw_tool(tool("good"), async |(), _, _| Ok(CallToolResult::text("done")))
        .raw_tool(tool("bad"), async |(), _, _| Err::<(), _>(ToolError::new("NO", "no")))
        .raw_prompt(Prompt::new("ask", ""), async |(), _, _: Context| {
            Ok::<_, RequestError>(GetPromptResult::text("ask"))
        })
        .resource(Resource::new("memo://one", "one"), async |(), _: Context| {
            Ok(ResourceContents::text("memo://one", "1"))
        })
        .resource_template(
            ResourceTemplate::new("day://{day}", "day"),
            async |(), asked: ResourceUri, _: Context| Ok(ResourceContents::text(asked.uri, "x")),
        )
}

#[tokio::test]
async fn a_report_says_what_was_named_and_how_it_ended() {
    let (server, reports) = observed(offering());
    let (clients, served) = every_client(&server).await;
    reports.lock().unwrap().clear();
    for (name, client) in &clients {
        let mut sent = Vec::new();
        for (method, params, text) in [
            ("tools/call", json!({"name": "good"}), "good - - -"),
            ("tools/call", json!({"name": "bad"}), "bad - - -"),
            ("tools/call", json!({"name": "no such tool"}), "- - - -"),
            ("prompts/get", json!({"name": "ask"}), "- ask - -"),
            ("resources/read", json!({"uri": "memo://one"}), "- - memo://one memo://one"),
            ("resources/read", json!({"uri": "day://a"}), "- - day://{day} day://a"),
            ("resources/read", json!({"uri": "none://a"}), "- - - none://a"),
            ("a/b", json!({}), "- - - -"),
        ] {
            // An unknown method is refused at the head of a modern HTTP request, before it is handled.
            if method == "a/b" && name == "http Modern" {
                continue;
            }
            let answer = client.request(method, params).await;
            let method = if method == "a/b" { "_OTHER" } else { method };
            sent.push((format!("{method} {text} -"), answer));
        }
        let reports: Vec<_> = reports.lock().unwrap().drain(..).collect();
        assert_eq!(reports.len(), sent.len(), "{name}: {reports:?}");
        for (report, (text, answer)) in reports.iter().zip(&sent) {
            assert_eq!(report.text, *text, "{name}");
            assert!(name.ends_with(&format!("{:?}", report.era.unwrap())));
            assert!(report.client.is_some(), "{name}");
            let failed = answer.as_ref().is_ok_and(|answer| answer["isError"] == true);
            let error = match (answer, failed) {
                (Ok(_), false) => None,
                (Ok(_), true) => Some(OperationError::Tool),
                (Err(mcp_proto_client::ClientError::Rpc(error)), _) => {
                    Some(OperationError::Code(error.code))
                }
                (Err(other), _) => panic!("{other}"),
            };
            assert_eq!(report.error, error, "{name} {text}");
            assert_eq!(report.bytes > 0, answer.is_ok(), "{name} {text}");
        }
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_reported_once_as_that() {
    let (probe, mut events) = probe();
    let (server, reports) = observed(builder(&probe));
    let service = StreamableHttpService::new(server.clone());
    // Over HTTP a client cancels by going away,
    let hanging = service.handle(Raw::modern("tools/call", call("hang")).request());
    tokio::select! {
        _ = hanging => panic!("it never answers"),
        () = events.expect("started") => {}
    }
    events.expect("dropped").await;
    // over pipes by saying so.
    let mut pipe = crate::peer::Peer::new(server);
    let params = crate::common::with_meta(call("hang"));
    pipe.send(&crate::common::request(1, "tools/call", &params)).await;
    events.expect("started").await;
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    pipe.send(&cancelled).await;
    events.expect("dropped").await;
    pipe.end().await;
    let reports = reports.lock().unwrap();
    assert_eq!(reports.len(), 2, "{reports:?}");
    for report in reports.iter() {
        assert_eq!(report.text, "tools/call hang - - - -");
        assert_eq!(report.error, Some(OperationError::Cancelled));
    }
}

#[tokio::test]
async fn an_observer_that_panics_harms_nobody() {
    let (server, reports) = observed(offering().observe(|_| panic!("an observer")));
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let answer = client.request("tools/call", call("good")).await.unwrap();
        assert_eq!(answer["content"][0]["text"], Value::from("done"), "{name}");
        // Nor does the next observer miss anything.
        let last = reports.lock().unwrap().pop().unwrap();
        assert_eq!((&*last.text, last.error), ("tools/call good - - - -", None), "{name}");
    }
    drop(clients);
    served.ended().await;
}
