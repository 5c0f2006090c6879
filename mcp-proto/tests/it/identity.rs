//! Who asks: what the embedding service puts into an HTTP request's extensions reaches every kind of handler, in both
//! eras, and what a client says of itself counts for its own request alone.

use http::{Request, Response};
use mcp_proto::http::ResponseBody;
use mcp_proto::jsonrpc::ErrorObject;
use mcp_proto::{
    CallToolResult, Completion, Context, GetPromptResult, Page, Prompt, PromptArgument,
    RequestError, Resource, ResourceContents, ResourceTemplate, Server, StreamableHttpService,
    Tool,
};
use serde_json::{Value, json};

use crate::common::{Raw, open_session, request};
use crate::peer::Peer;

/// Who calls, as an application would have it.
#[derive(Debug, Clone)]
struct Caller(&'static str);

fn caller(context: &Context) -> &'static str {
    context.extension::<Caller>().map_or("nobody", |caller| caller.0)
}

fn server() -> Server {
    let argument = PromptArgument::optional("a", "");
    Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("t", "").with_input_schema(json!({"type": "object"})),
            async |(), _, context| Ok(CallToolResult::text(caller(&context))),
        )
        .resource(Resource::new("x:1", "one"), async |(), context| {
            Ok(ResourceContents::text("x:1", caller(&context)))
        })
        .resource_template(ResourceTemplate::new("y:{a}", "y"), async |(), _, context| {
            Ok(ResourceContents::text("y:1", caller(&context)))
        })
        .list_resources(async |(), _, context| {
            Ok(Page::last(vec![Resource::new("x:own", caller(&context))]))
        })
        .raw_prompt(Prompt::new("p", "").with_argument(argument), async |(), _, context| {
            Ok(GetPromptResult::text(caller(&context)))
        })
        .complete_prompt("p", "a", async |(), _, context| {
            Ok(Completion::all(vec![caller(&context).to_owned()]))
        })
        .complete_template("y:{a}", "a", async |(), _, context| {
            Ok(Completion::all(vec![caller(&context).to_owned()]))
        })
        .on_subscribe(async |(), uri: String, context| match caller(&context) {
            "ada" if uri == "x:1" => Ok(()),
            _ => Err(RequestError::from(ErrorObject::invalid_params("not yours"))),
        })
        .build()
        .unwrap()
}

async fn send(service: &StreamableHttpService, raw: Raw, who: Option<Caller>) -> Value {
    use http_body_util::BodyExt as _;
    let mut request: Request<_> = raw.request();
    if let Some(who) = who {
        request.extensions_mut().insert(who);
    }
    let reply: Response<ResponseBody> = service.handle(request).await;
    let body = reply.into_body().collect().await.unwrap().to_bytes();
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test]
async fn every_handler_sees_who_calls() {
    let service = StreamableHttpService::new(server());
    let session = open_session(&service).await;
    let completed =
        |reference: Value| json!({"ref": reference, "argument": {"name": "a", "value": ""}});
    for (method, params, place) in [
        ("tools/call", json!({"name": "t"}), "/content/0/text"),
        ("resources/read", json!({"uri": "x:1"}), "/contents/0/text"),
        ("resources/read", json!({"uri": "y:1"}), "/contents/0/text"),
        ("resources/list", json!({}), "/resources/1/name"),
        ("prompts/get", json!({"name": "p"}), "/messages/0/content/text"),
        (
            "completion/complete",
            completed(json!({"type": "ref/prompt", "name": "p"})),
            "/completion/values/0",
        ),
        (
            "completion/complete",
            completed(json!({"type": "ref/resource", "uri": "y:{a}"})),
            "/completion/values/0",
        ),
    ] {
        for who in ["ada", "bob", "nobody"] {
            let caller = (who != "nobody").then_some(Caller(who));
            for raw in [Raw::modern(method, params.clone()), Raw::legacy(&session, method, &params)]
            {
                let answer = send(&service, raw, caller.clone()).await;
                let told = answer["result"].pointer(place);
                assert_eq!(told, Some(&json!(who)), "{method}: {answer}");
            }
        }
    }
    for (who, answered) in [("ada", "result"), ("bob", "error")] {
        let raw = Raw::legacy(&session, "resources/subscribe", &json!({"uri": "x:1"}));
        let answer = send(&service, raw, Some(Caller(who))).await;
        assert!(answer.get(answered).is_some(), "{who}: {answer}");
    }
}

#[tokio::test]
async fn requests_of_two_clients_on_one_connection_are_not_mixed_up() {
    let server = Server::builder("s", "1", ())
        .raw_tool(
            Tool::new("who", "").with_input_schema(json!({"type": "object"})),
            async |(), _, context: Context| {
                let name = context.client_info.as_ref().map(|client| client.name.clone());
                let samples = context.client_capabilities.can_sample();
                Ok(CallToolResult::text(format!("{name:?} {samples}")))
            },
        )
        .build()
        .unwrap();
    let mut peer = Peer::new(server);
    for round in 0..3 {
        for (number, client, capabilities, told) in [
            (
                0,
                json!({"name": "one", "version": "1"}),
                json!({"sampling": {}}),
                r#"Some("one") true"#,
            ),
            (1, json!({"name": "two", "version": "1"}), json!({}), r#"Some("two") false"#),
            (2, Value::Null, json!({}), "None false"),
        ] {
            let mut meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
            if !client.is_null() {
                meta["io.modelcontextprotocol/clientInfo"] = client;
            }
            let params = json!({"name": "who", "_meta": meta});
            let id = 3 * round + number;
            peer.send(&request(id, "tools/call", &params)).await;
            let answer = peer.next().await;
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["content"][0]["text"], told);
        }
    }
}
