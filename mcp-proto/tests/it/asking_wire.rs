//! Who is asked and by which requests in the modern era, on the wire.

use std::sync::{Arc, Mutex};

use mcp_proto::input::SamplingTool;
use mcp_proto::{
    Completion, Context, CreateMessage, ElicitUrl, Interrupt, Page, Questions, Resource,
    StreamableHttpService,
};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::asking_common::{
    Ask, accept, all_capabilities, asker, asking, call, declaring, greet, raw, said, send,
    service_of, state_for, thrice,
};
use crate::common::{request, subscribe, with_meta};
use crate::peer::Peer;

#[tokio::test]
async fn only_what_the_request_declares_is_asked() {
    type Case = (Value, Vec<Value>, fn(&Context) -> Result<Value, Interrupt>);
    let cases: Vec<Case> = vec![
        (
            json!({ "elicitation": { "form": {} } }),
            vec![
                json!({}),
                json!({ "elicitation": { "url": {} } }),
                json!({ "sampling": {}, "roots": {} }),
                json!({ "elicitation": null }),
            ],
            greet,
        ),
        (
            json!({ "elicitation": { "url": {} } }),
            vec![json!({}), json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } })],
            |context| {
                let url = ElicitUrl::new("?", "https://a.example/");
                Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
            },
        ),
        (
            json!({ "sampling": {} }),
            vec![json!({}), json!({ "elicitation": {}, "roots": {} })],
            |context| Ok(json!(context.sample("q", &CreateMessage::text("?", 9))?.text())),
        ),
        (
            json!({ "sampling": { "tools": {} } }),
            vec![json!({}), json!({ "sampling": {} }), json!({ "sampling": { "context": {} } })],
            |context| {
                let tool = SamplingTool::new("add", "Adds.", json!({ "type": "object" }));
                let message = CreateMessage::text("?", 9).with_tool(tool);
                Ok(json!(context.sample("q", &message)?.text()))
            },
        ),
        (
            json!({ "roots": {} }),
            vec![json!({}), json!({ "sampling": {}, "elicitation": {} })],
            |context| Ok(json!(context.list_roots("q")?)),
        ),
        (json!({ "sampling": {} }), vec![json!({ "roots": {} })], |context| {
            // Not a part of what is asked goes out.
            let questions = Questions::new().roots("q").sample("s", CreateMessage::text("?", 9));
            Ok(json!(context.ask(&questions)?.roots("q")?))
        }),
        (json!({ "sampling": {} }), vec![json!({})], |context| {
            Err(Interrupt::missing_capability(context, &json!({ "sampling": {} })))
        }),
    ];
    for (needed, poor, ask) in cases {
        let service = service_of(ask);
        for declared in &poor {
            for (method, params) in [
                ("tools/call", json!({ "name": "ask" })),
                ("prompts/get", json!({ "name": "ask" })),
                ("resources/read", json!({ "uri": "test://ask" })),
            ] {
                let mut params = params;
                params["_meta"] = declaring(declared);
                let reply = send(&service, method, params).await;
                assert_eq!(reply.refusal(), (400, -32021, Some(json!(7))), "{declared}");
                let data = &reply.json()["error"]["data"];
                assert_eq!(*data, json!({ "requiredCapabilities": needed }));
            }
        }
    }
    // One that declares more is asked, and what it declared is forgotten with the request.
    let service = service_of(greet);
    for declared in
        [json!({ "elicitation": {} }), json!({ "elicitation": { "form": {}, "url": {} } })]
    {
        let params = asking(&json!({ "_meta": declaring(&declared) }));
        state_for(&send(&service, "tools/call", params).await, &["who"]);
        let params = asking(&json!({ "_meta": declaring(&json!({})) }));
        assert_eq!(send(&service, "tools/call", params).await.status, 400);
    }
    // An answer that is there needs no capability.
    let answered = json!({
        "_meta": declaring(&json!({})), "inputResponses": { "who": accept("Ann") },
    });
    assert_eq!(said(&call(&service, &answered).await), "Ann");
}

/// The messages of the library's error lines.
#[derive(Debug, Clone, Default)]
struct Errors(Arc<Mutex<Vec<String>>>);

impl Subscriber for Errors {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("mcp_proto") && *metadata.level() == Level::ERROR
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        struct Message<'e>(&'e Errors);
        impl Visit for Message<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                if field.name() == "message" {
                    self.0.0.lock().unwrap().push(format!("{value:?}"));
                }
            }
        }
        event.record(&mut Message(self));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn only_three_methods_can_ask() {
    let errors = Errors::default();
    let _here = subscribe(errors.clone());
    let server = asker(greet)
        .raw_prompt(
            mcp_proto::Prompt::new("other", "Has an argument.")
                .with_argument(mcp_proto::PromptArgument::optional("who", "Who.")),
            async |_, _, _| Ok(mcp_proto::GetPromptResult::text("x")),
        )
        .complete_prompt("other", "who", async |ask: Ask, _, context| {
            ask(&context)?;
            Ok(Completion::all(vec!["a".to_owned()]))
        })
        .raw_tool(
            mcp_proto::Tool::new("plain", "Asks all the same.")
                .with_input_schema(json!({ "type": "object" })),
            async |ask: Ask, _, context| {
                ask(&context)?;
                Ok(mcp_proto::CallToolResult::text("x"))
            },
        )
        .list_resources(async |ask: Ask, _, context| {
            ask(&context)?;
            Ok(Page::last(Vec::<Resource>::new()))
        })
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server);
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "other" },
        "argument": { "name": "who", "value": "" },
    });
    let requests = [
        ("completion/complete", complete, true),
        ("resources/list", json!({}), true),
        ("resources/templates/list", json!({}), false),
        ("tools/list", json!({}), false),
        ("prompts/list", json!({}), false),
        ("server/discover", json!({}), false),
    ];
    for (method, params, fails) in requests {
        // Answers mean nothing there.
        let mut answered = params.clone();
        answered["inputResponses"] = json!({ "who": accept("Ann") });
        answered["requestState"] = json!("x");
        for params in [params, answered] {
            let reply = send(&service, method, params).await;
            let logged = std::mem::take(&mut *errors.0.lock().unwrap());
            if fails {
                assert_eq!(reply.refusal(), (200, -32603, Some(json!(7))), "{method}");
                let [logged] = logged.as_slice() else {
                    panic!("{logged:?}");
                };
                assert!(logged.starts_with("a handler asked where the client cannot be asked"));
            } else {
                assert_eq!(reply.result()["resultType"], "complete", "{method}");
                assert!(logged.is_empty(), "{logged:?}");
            }
        }
    }
    // Nor does a tool that did not say so when it was registered.
    let plain = send(&service, "tools/call", json!({ "name": "plain" })).await;
    assert_eq!(plain.refusal(), (200, -32603, Some(json!(7))));
    for (method, params) in [
        ("tools/call", json!({ "name": "ask" })),
        ("prompts/get", json!({ "name": "ask" })),
        ("resources/read", json!({ "uri": "test://ask" })),
    ] {
        state_for(&send(&service, method, params).await, &["who"]);
    }
}

#[tokio::test]
async fn no_request_ever_leaves_a_modern_server() {
    let service = service_of(thrice);
    let events = raw("tools/call", asking(&json!({})))
        .set("accept", "text/event-stream")
        .send(&service)
        .await
        .events();
    let [answer] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(answer["result"]["resultType"], "input_required");

    let mut peer = Peer::new(asker(thrice).build().unwrap());
    let mut more = json!({ "_meta": declaring(&json!(all_capabilities())) });
    for key in ["one", "two", "three"] {
        peer.send(&request(key, "tools/call", &with_meta(asking(&more)))).await;
        let answer = peer.next().await;
        assert_eq!((answer.get("method"), &answer["id"]), (None, &json!(key)));
        let result = &answer["result"];
        assert_eq!(result["inputRequests"][key]["method"], "elicitation/create");
        more["requestState"] = result["requestState"].clone();
        more["inputResponses"] = json!({ key: accept(key) });
    }
    peer.send(&request(4, "tools/call", &with_meta(asking(&more)))).await;
    assert_eq!(peer.next().await["result"]["structuredContent"]["said"][2], "three");
    assert!(peer.end().await.is_empty());
}
