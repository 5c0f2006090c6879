//! What handlers of resources, prompts, pages and completions take and return, in both eras and over both transports.

use std::borrow::Cow;

use mcp_proto::apps::UiResource;
use mcp_proto::{
    Completion, CompletionRequest, ContentBlock, Context, GetPromptResult, Json, Page, PageRequest,
    Prompt, PromptMessage, ReadResourceResult, RequestError, Resource, ResourceContents,
    ResourceTemplate, ResourceUri, Server, ToolError,
};
use mcp_proto_client::ClientError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::every_client;

/// The state.
#[derive(Clone)]
struct Shop(&'static str);

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    part: String,
}

#[derive(Serialize)]
struct Price {
    cents: u32,
}

fn a_file() -> std::io::Result<String> {
    std::fs::read_to_string("/there is no such file")
}

fn sold() -> Result<String, ToolError> {
    Err(ToolError::new("NOT_FOUND", "no bolts are left"))
}

async fn whole(_: Shop, asked: ResourceUri, _: Context) -> Result<String, RequestError> {
    Ok(asked.get("part").unwrap().to_owned())
}

fn resources() -> Server {
    let resource = |name: &str| Resource::new(format!("shop://{name}"), name);
    let template = |name: &str| ResourceTemplate::new(format!("{name}://{{part}}"), name);
    Server::builder("shop", "1", Shop("the corner shop"))
        .resource(resource("text").with_mime_type("text/plain"), async || "a".to_owned())
        .resource(resource("str"), async || "a")
        .resource(resource("cow"), async || Cow::Borrowed("a"))
        .resource(resource("bytes").with_mime_type("image/png"), async || b"png".to_vec())
        .resource(resource("json"), async || Json(Price { cents: 5 }))
        .resource(resource("own-json").with_mime_type("application/geo+json"), async || {
            Ok(Some(Json(Price { cents: 5 })))
        })
        .resource(resource("none"), async || None::<String>)
        .resource(resource("contents"), async || ResourceContents::text("shop://other", "a"))
        .resource(resource("folder"), async || {
            vec![ResourceContents::text("shop://1", "a"), ResourceContents::text("shop://2", "b")]
        })
        .resource(resource("result"), async || ReadResourceResult::from(Vec::new()))
        .resource(resource("broken"), async || Ok(a_file()?))
        .resource(resource("sold"), async || Ok(sold()?))
        .resource(resource("state"), async |shop: Shop| shop.0)
        .resource(resource("context"), async |context: Context| format!("{}", context.request_id))
        .resource(resource("both"), async |shop: Shop, _: Context| shop.0)
        // Without types: there is no other handler of two parameters.
        .resource(resource("untyped"), async |_, _| "a")
        .resource_template(template("uri"), async |asked: ResourceUri| asked.uri)
        .resource_template(template("state"), async |shop: Shop, asked: ResourceUri| {
            format!("{} of {}", asked.get("part").unwrap(), shop.0)
        })
        .resource_template(template("context"), async |asked: ResourceUri, _: Context| asked.uri)
        .resource_template(template("all").with_mime_type("text/x-part"), whole)
        .ui_page(UiResource::new("ui://page", "page"), "<p>")
        .ui_resource(UiResource::new("ui://made", "made"), async |shop: Shop| shop.0)
        .list_resources(async |asked: PageRequest| {
            assert_eq!(asked.after, None);
            Ok(Page::last(vec![Resource::new("uri://bolt", "bolt")]))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_resource_returns_what_it_has() {
    let (clients, served) = every_client(&resources()).await;
    for (name, client) in &clients {
        let read = async |uri: &str| client.read_resource(uri).await.unwrap().contents;
        let contents = |uri: &str, text: &str| ResourceContents::text(uri, text);
        for (uri, text) in [
            ("shop://str", "a"),
            ("shop://cow", "a"),
            ("shop://untyped", "a"),
            ("shop://state", "the corner shop"),
            ("shop://both", "the corner shop"),
            ("uri://bolt", "uri://bolt"),
            ("state://bolt", "bolt of the corner shop"),
            ("context://bolt", "context://bolt"),
        ] {
            assert_eq!(read(uri).await, [contents(uri, text)], "{name}");
        }
        for (uri, text, mime_type) in [
            ("shop://text", "a", "text/plain"),
            ("shop://json", "{\"cents\":5}", "application/json"),
            ("shop://own-json", "{\"cents\":5}", "application/geo+json"),
            ("all://bolt", "bolt", "text/x-part"),
            ("ui://page", "<p>", "text/html;profile=mcp-app"),
            ("ui://made", "the corner shop", "text/html;profile=mcp-app"),
        ] {
            let wanted = contents(uri, text).with_mime_type(mime_type);
            assert_eq!(read(uri).await, [wanted], "{name}");
        }
        let png = ResourceContents::blob("shop://bytes", "png").with_mime_type("image/png");
        assert_eq!(read("shop://bytes").await, [png], "{name}");
        assert_eq!(read("shop://contents").await, [contents("shop://other", "a")], "{name}");
        assert_eq!(read("shop://folder").await.len(), 2, "{name}");
        assert!(!read("shop://context").await[0].text.as_ref().unwrap().is_empty(), "{name}");
        for (uri, told) in [
            ("shop://none", "there is no resource \"shop://none\""),
            ("shop://result", "there is no resource \"shop://result\""),
            ("shop://sold", "no bolts are left"),
            ("shop://broken", "internal error; the server's log has the details"),
        ] {
            let Err(ClientError::Rpc(error)) = client.read_resource(uri).await else {
                panic!("{name} {uri}: it was read");
            };
            assert!(error.message.starts_with(told), "{name} {uri}: {}", error.message);
        }
        let listed = client.list_resources().await.unwrap();
        assert_eq!(listed.last().unwrap().uri, "uri://bolt", "{name}");
    }
    served.ended().await;
}

fn prompts() -> Server {
    let prompt = |name: &str| Prompt::new(name, "");
    let raw = |arguments: &std::collections::BTreeMap<String, String>| arguments.len().to_string();
    Server::builder("shop", "1", Shop("the corner shop"))
        .prompt(prompt("text"), async || "a".to_owned())
        .prompt(prompt("str"), async || "a")
        .prompt(prompt("cow"), async || Cow::Borrowed("a"))
        .prompt(prompt("block"), async || ContentBlock::text("a"))
        .prompt(prompt("message"), async || PromptMessage::user(ContentBlock::text("a")))
        .prompt(prompt("whole"), async || GetPromptResult::text("a"))
        .prompt(prompt("result"), async || Ok("a"))
        .prompt(prompt("messages"), async || {
            [
                PromptMessage::user(ContentBlock::text("a")),
                PromptMessage::assistant(ContentBlock::text("b")),
            ]
        })
        .prompt(prompt("list"), async || {
            Ok(vec![
                PromptMessage::user(ContentBlock::text("a")),
                PromptMessage::assistant(ContentBlock::text("b")),
            ])
        })
        .prompt(prompt("broken"), async || Ok(a_file()?))
        .prompt(prompt("sold"), async || Ok(sold()?))
        .prompt(prompt("state"), async |shop: Shop| shop.0)
        .prompt(prompt("arguments"), async |wanted: Wanted| wanted.part)
        .prompt(prompt("context"), async |_: Context| "a")
        .prompt(prompt("all"), async |shop: Shop, wanted: Wanted, _: Context| {
            format!("{} of {}", wanted.part, shop.0)
        })
        .raw_prompt(prompt("raw"), move |_, arguments, _| std::future::ready(raw(&arguments)))
        .complete_prompt("all", "part", async |typed: CompletionRequest| {
            Ok(Completion::matching(&typed, ["bolt", "nut"]))
        })
        .complete_prompt("arguments", "part", async |_: Shop, typed: CompletionRequest| {
            Ok(Completion::all(vec![typed.value]))
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_prompt_takes_and_returns_what_it_needs() {
    let (clients, served) = every_client(&prompts()).await;
    for (name, client) in &clients {
        let get = async |prompt: &str| {
            let arguments = json!({ "name": prompt, "arguments": { "part": "bolt" } });
            client.request("prompts/get", arguments).await
        };
        for (prompt, text) in [
            ("text", "a"),
            ("str", "a"),
            ("cow", "a"),
            ("block", "a"),
            ("message", "a"),
            ("whole", "a"),
            ("result", "a"),
            ("state", "the corner shop"),
            ("arguments", "bolt"),
            ("context", "a"),
            ("all", "bolt of the corner shop"),
            ("raw", "0"),
        ] {
            let wanted = json!([{ "role": "user", "content": { "type": "text", "text": text } }]);
            assert_eq!(get(prompt).await.unwrap()["messages"], wanted, "{name} {prompt}");
        }
        for prompt in ["messages", "list"] {
            let messages = get(prompt).await.unwrap()["messages"].clone();
            let roles = messages.as_array().unwrap().iter().map(|it| it["role"].clone());
            assert!(roles.eq(["user", "assistant"]), "{name} {prompt}: {messages}");
        }
        for (prompt, told) in [
            ("broken", "internal error; the server's log has the details"),
            ("sold", "no bolts are left"),
        ] {
            let Err(ClientError::Rpc(error)) = get(prompt).await else {
                panic!("{name} {prompt}: it was filled in");
            };
            assert_eq!(error.message, told, "{name} {prompt}");
        }
        let listed = client.list_prompts().await.unwrap();
        let arguments = |name: &str| {
            let prompt = listed.iter().find(|prompt| prompt.name == name).unwrap();
            prompt.arguments.iter().map(|argument| &*argument.name).collect::<Vec<_>>()
        };
        assert_eq!((arguments("all"), arguments("text")), (vec!["part"], vec![]), "{name}");
        for (prompt, values) in [("all", json!(["bolt"])), ("arguments", json!(["b"]))] {
            let params = json!({
                "ref": { "type": "ref/prompt", "name": prompt },
                "argument": { "name": "part", "value": "b" },
            });
            let completed: Value = client.request("completion/complete", params).await.unwrap();
            assert_eq!(completed["completion"]["values"], values, "{name} {prompt}");
        }
    }
    served.ended().await;
}
