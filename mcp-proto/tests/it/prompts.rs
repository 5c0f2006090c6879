//! Prompts: listed with their arguments, filled in from arguments that are checked, with content of every kind.

use std::collections::BTreeMap;

use mcp_proto::{
    BuildError, ContentBlock, Era, GetPromptResult, Icon, Prompt, PromptArgument, PromptMessage,
    RequestError, Resource, ResourceContents, Server, ServerBuilder,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::common::{every_client, refused};

#[derive(Deserialize, JsonSchema)]
struct Greeting {
    /// Who is greeted.
    name: String,
    /// In which language.
    language: Option<String>,
    style: Option<Style>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Formal,
    Casual,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Described {
    /// One way.
    One,
    /// Another way.
    Two,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Ways {
    way: Described,
}

fn server() -> Server {
    let mut typed = Prompt::new("greet", "Greets.").with_title("Greeting");
    typed.icons.push(Icon::new("https://example.com/i.png"));
    typed.meta = Some(Map::from_iter([("com.example/a".to_owned(), json!(1))]));
    Server::builder("s", "1", "state")
        .prompt(typed, async |state, asked: Greeting, _| {
            let mut result = GetPromptResult::text(format!(
                "{state} {} {:?} {:?}",
                asked.name, asked.language, asked.style
            ))
            .with_description("A greeting.");
            result.meta = Some(Map::from_iter([("com.example/b".to_owned(), json!(2))]));
            Ok(result)
        })
        .prompt(Prompt::new("ways", "Two ways."), async |_, asked: Ways, _| {
            Ok(GetPromptResult::text(format!("{:?}", asked.way)))
        })
        .raw_prompt(
            Prompt::new("raw", "By hand.")
                .with_argument(PromptArgument::required("one", "The first."))
                .with_argument(PromptArgument::optional("two", "The second."))
                .with_argument(
                    PromptArgument::optional("three", "A choice.").with_values(["x", "y"]),
                ),
            async |_, asked: BTreeMap<String, String>, _| {
                Ok(GetPromptResult::text(format!("{asked:?}")))
            },
        )
        .raw_prompt(Prompt::new("everything", ""), async |_, _, _| {
            let mut link = Resource::new("x:link", "link");
            link.mime_type = Some("text/plain".to_owned());
            Ok(GetPromptResult::new([
                PromptMessage::user(ContentBlock::text("text")),
                PromptMessage::assistant(ContentBlock::image([1, 2, 3], "image/png")),
                PromptMessage::user(ContentBlock::audio([4], "audio/wav")),
                PromptMessage::user(ContentBlock::resource_link(link)),
                PromptMessage::user(ContentBlock::resource(
                    ResourceContents::text("x:1", "inside").with_mime_type("text/plain"),
                )),
                PromptMessage::assistant(ContentBlock::resource(ResourceContents::blob(
                    "x:2",
                    [0],
                ))),
            ]))
        })
        .raw_prompt(Prompt::new("gone", ""), async |_, _, _| {
            Err::<String, _>(RequestError::not_found("it is gone").with_data("since", 1999))
        })
        .raw_prompt(Prompt::new("panic", ""), async |_, _, _| -> String {
            panic!("the password is 1234")
        })
        .build()
        .unwrap()
}

#[tokio::test]
async fn prompts_are_listed_with_arguments_that_are_derived_or_written() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        let listed = client.request("prompts/list", json!({})).await.unwrap();
        let prompts = &listed["prompts"];
        assert_eq!(
            prompts[0],
            json!({
                "name": "greet",
                "title": "Greeting",
                "description": "Greets.",
                "arguments": [
                    {"name": "name", "description": "Who is greeted.", "required": true},
                    {"name": "language", "description": "In which language."},
                    {"name": "style"},
                ],
                "icons": [{"src": "https://example.com/i.png"}],
                "_meta": {"com.example/a": 1},
            }),
            "{how}"
        );
        assert_eq!(
            prompts[2]["arguments"],
            json!([
                {"name": "one", "description": "The first.", "required": true},
                {"name": "two", "description": "The second."},
                {"name": "three", "description": "A choice."},
            ])
        );
        assert_eq!(prompts[3], json!({"name": "everything", "description": ""}));
    }
}

#[tokio::test]
async fn prompts_are_filled_in_and_tell_who_says_what() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        for (name, arguments, told) in [
            (
                "greet",
                json!({"name": "Ada", "style": "casual", "unheard": "of", "more": 1}),
                r#"state Ada None Some(Casual)"#,
            ),
            (
                "greet",
                json!({"name": "", "language": "de", "style": null}),
                r#"state  Some("de") None"#,
            ),
            ("ways", json!({"way": "two"}), "Two"),
            ("raw", json!({"one": "1"}), r#"{"one": "1"}"#),
            (
                "raw",
                json!({"one": "1", "two": "2", "three": "y", "four": "4"}),
                r#"{"one": "1", "three": "y", "two": "2"}"#,
            ),
        ] {
            let params = json!({"name": name, "arguments": arguments});
            let result = client.request("prompts/get", params).await.unwrap();
            assert_eq!(
                result["messages"],
                json!([{"role": "user", "content": {"type": "text", "text": told}}]),
                "{how}"
            );
            if name == "greet" {
                assert_eq!(result["description"], "A greeting.");
                assert_eq!(result["_meta"]["com.example/b"], 2);
            } else {
                assert!(result.get("description").is_none());
            }
            let complete = result.get("resultType") == Some(&json!("complete"));
            assert_eq!(complete, client.era() == Era::Modern);
        }
    }
}

#[tokio::test]
async fn messages_have_content_of_every_kind() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        let params = json!({"name": "everything"});
        let result = client.request("prompts/get", params).await.unwrap();
        let said = |role: &str, content: Value| json!({"role": role, "content": content});
        assert_eq!(
            result["messages"],
            json!([
                said("user", json!({"type": "text", "text": "text"})),
                said(
                    "assistant",
                    json!({"type": "image", "data": "AQID", "mimeType": "image/png"})
                ),
                said("user", json!({"type": "audio", "data": "BA==", "mimeType": "audio/wav"})),
                said(
                    "user",
                    json!({"type": "resource_link", "uri": "x:link", "name": "link", "mimeType": "text/plain"})
                ),
                said(
                    "user",
                    json!({"type": "resource", "resource": {"uri": "x:1", "mimeType": "text/plain", "text": "inside"}})
                ),
                said(
                    "assistant",
                    json!({"type": "resource", "resource": {"uri": "x:2", "blob": "AA=="}})
                ),
            ]),
            "{how}"
        );
    }
}

#[tokio::test]
async fn what_is_wrong_with_the_params_is_told_with_what_would_be_right() {
    let (clients, _served) = every_client(&server()).await;
    for (how, client) in &clients {
        for (params, code, told) in [
            (json!({}), -32602, "prompts/get needs params.name"),
            (json!({"name": 1}), -32602, "prompts/get needs params.name"),
            (json!({"name": "no"}), -32602, "unknown prompt \"no\""),
            (json!({"name": "GREET"}), -32602, "unknown prompt"),
            (json!({"name": "greet"}), -32602, "the prompt \"greet\" needs params.arguments.name"),
            (
                json!({"name": "greet", "arguments": {"name": null}}),
                -32602,
                "needs params.arguments.name",
            ),
            (
                json!({"name": "greet", "arguments": {"name": 5}}),
                -32602,
                "params.arguments.name must be a string",
            ),
            (
                json!({"name": "greet", "arguments": {"name": "a", "language": ["de"]}}),
                -32602,
                "params.arguments.language must be a string",
            ),
            (
                json!({"name": "greet", "arguments": {"name": "a", "style": "rude"}}),
                -32602,
                "params.arguments.style must be one of [\"formal\", \"casual\"]",
            ),
            (
                json!({"name": "ways", "arguments": {"way": "Two"}}),
                -32602,
                "params.arguments.way must be one of [\"one\", \"two\"]",
            ),
            (
                json!({"name": "raw", "arguments": {"one": "1", "three": "z"}}),
                -32602,
                "params.arguments.three must be one of [\"x\", \"y\"]",
            ),
            (
                json!({"name": "greet", "arguments": ["Ada"]}),
                -32602,
                "params.arguments must be an object",
            ),
            (json!({"name": "gone"}), -32602, "it is gone"),
            (json!({"name": "panic"}), -32603, ""),
        ] {
            let error = refused(client.request("prompts/get", params.clone()).await);
            assert_eq!(error.code, code, "{how} {params}");
            assert!(error.message.contains(told), "{params}: {}", error.message);
            assert!(!error.message.contains("1234"));
            if params["name"] == "gone" {
                assert_eq!(error.data, Some(json!({"since": 1999})));
            }
            if params["name"] == "no" {
                assert_eq!(error.data.unwrap()["prompts"][0], "greet");
            }
        }
    }
}

#[test]
fn what_cannot_be_served_is_refused_when_the_server_is_built() {
    #[derive(Deserialize, JsonSchema)]
    struct Counted {
        #[expect(dead_code, reason = "its type is what counts")]
        count: u32,
    }
    let fails = |builder: ServerBuilder<()>| match builder.build().unwrap_err() {
        BuildError::Prompt { problem, .. } => problem,
        other => panic!("{other}"),
    };
    async fn fill((): (), _: BTreeMap<String, String>, _: mcp_proto::Context) -> Filled {
        Ok(GetPromptResult::text(""))
    }
    type Filled = Result<GetPromptResult, RequestError>;
    let new = || Server::builder("s", "1", ());
    let named = |name: &str| Prompt::new(name, "");
    for name in ["", &"x".repeat(129), "a\nb"] {
        let problem = fails(new().raw_prompt(named(name), fill));
        assert!(problem.starts_with("names of prompts"), "{problem}");
    }
    let twice = new().raw_prompt(named("a"), fill).raw_prompt(named("a"), fill);
    assert_eq!(fails(twice), "another prompt has the same name");
    let argument = || PromptArgument::optional("a", "");
    let twice = named("a").with_argument(argument()).with_argument(argument());
    let problem = fails(new().raw_prompt(twice, fill));
    assert_eq!(problem, "two arguments have the same name");
    let counted = new().prompt(named("a"), async |(), _: Counted, _| Ok(GetPromptResult::text("")));
    let problem = fails(counted);
    assert!(problem.contains("\"count\" must be a string"), "{problem}");
    let text = new().prompt(named("a"), async |(), _: String, _| Ok(GetPromptResult::text("")));
    let problem = fails(text);
    assert!(problem.contains("must be a struct"), "{problem}");
    // What is written by hand would be lost.
    let written = named("a").with_argument(argument());
    let problem =
        fails(new().prompt(written, async |(), _: Ways, _| Ok(GetPromptResult::text(""))));
    assert!(problem.contains("raw_prompt"), "{problem}");
}
