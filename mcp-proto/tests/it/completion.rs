//! Completion of arguments of prompts and variables of templates: by handlers, or from closed sets.

use std::collections::BTreeMap;

use mcp_proto::completion::MAX_COMPLETIONS;
use mcp_proto::{
    BuildError, Completion, CompletionRequest, Context, Era, GetPromptResult, Prompt,
    PromptArgument, RequestError, ResourceContents, ResourceTemplate, ResourceUri, Server,
    ServerBuilder,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::{every_client, refused};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Style {
    Formal,
    Casual,
    Curt,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Typed {
    #[expect(dead_code, reason = "its type is what counts")]
    style: Option<Style>,
}

type Filled = Result<GetPromptResult, RequestError>;

async fn fill((): (), _: BTreeMap<String, String>, _: Context) -> Filled {
    Ok(GetPromptResult::text(""))
}

async fn read((): (), _: ResourceUri, _: Context) -> Result<ResourceContents, RequestError> {
    Ok(ResourceContents::text("x:x", ""))
}

async fn many((): (), asked: CompletionRequest, _: Context) -> Result<Completion, RequestError> {
    let values =
        |count: usize| (0..count).map(|number| format!("v{number:03}")).collect::<Vec<_>>();
    Ok(match asked.value.as_str() {
        "matching" => {
            let asked = {
                let mut asked = asked.clone();
                asked.value = "V".to_owned();
                asked
            };
            Completion::matching(&asked, values(250))
        }
        "all" => Completion::all(values(250)),
        "not counted" => {
            let mut completion = Completion::default();
            completion.values = values(250);
            completion
        }
        "exactly" => Completion::all(values(100)),
        "first" => Completion::first(values(3), Some(7)),
        "first of many" => Completion::first(values(250), None),
        "none" => Completion::default(),
        "fails" => return Err(RequestError::invalid_params("ask for something else")),
        "not found" => return Err(RequestError::not_found("nothing of the kind")),
        "panics" => panic!("the password is 1234"),
        other => Completion::all(vec![format!("{other} {:?}", asked.arguments)]),
    })
}

fn builder() -> ServerBuilder<()> {
    let argument = |name: &str| PromptArgument::optional(name, "");
    Server::builder("s", "1", ())
        .raw_prompt(
            Prompt::new("p", "")
                .with_argument(argument("many"))
                .with_argument(argument("closed").with_values(["Red", "green", "grey"]))
                .with_argument(argument("both").with_values(["one", "two"]))
                .with_argument(argument("open")),
            fill,
        )
        .prompt(Prompt::new("typed", ""), async |(), _: Typed, _| Ok(GetPromptResult::text("")))
        .resource_template(ResourceTemplate::new("x:{a}/{b}", "t"), read)
        .complete_prompt("p", "many", many)
        .complete_prompt("p", "both", async |(), _, _| {
            Ok(Completion::all(vec!["of the handler".to_owned()]))
        })
        .complete_template("x:{a}/{b}", "b", many)
}

fn prompt(name: &str, argument: &str, value: &str) -> Value {
    json!({
        "ref": {"type": "ref/prompt", "name": name},
        "argument": {"name": argument, "value": value},
    })
}

fn template(uri: &str, variable: &str, value: &str) -> Value {
    json!({
        "ref": {"type": "ref/resource", "uri": uri},
        "argument": {"name": variable, "value": value},
    })
}

#[tokio::test]
async fn prompts_and_templates_are_completed_by_handlers_that_see_the_settled_arguments() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    for (how, client) in &clients {
        for params in [prompt("p", "many", "x"), template("x:{a}/{b}", "b", "x")] {
            for (context, told) in [
                (Value::Null, "{}"),
                (json!({}), "{}"),
                (json!({"arguments": {}}), "{}"),
                (json!({"arguments": {"a": "1", "other": ""}}), r#"{"a": "1", "other": ""}"#),
            ] {
                let mut params = params.clone();
                params["context"] = context;
                let result = client.request("completion/complete", params).await.unwrap();
                assert_eq!(
                    result["completion"],
                    json!({"values": [format!("x {told}")], "total": 1}),
                    "{how}"
                );
                let complete = result.get("resultType") == Some(&json!("complete"));
                assert_eq!(complete, client.era() == Era::Modern);
            }
        }
    }
}

#[tokio::test]
async fn there_are_at_most_a_hundred_values_and_it_is_told_that_there_are_more() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    for (how, client) in &clients {
        for (value, count, total, has_more) in [
            ("matching", 100, json!(250), json!(true)),
            ("all", 100, json!(250), json!(true)),
            ("not counted", 100, json!(250), json!(true)),
            ("exactly", 100, json!(100), Value::Null),
            ("first", 3, json!(7), json!(true)),
            ("first of many", 100, Value::Null, json!(true)),
            ("none", 0, Value::Null, Value::Null),
        ] {
            let params = prompt("p", "many", value);
            let result = client.request("completion/complete", params).await.unwrap();
            let completion = &result["completion"];
            let values = completion["values"].as_array().unwrap();
            assert_eq!(values.len(), count, "{how} {value}");
            assert!(values.len() <= MAX_COMPLETIONS);
            let first: Vec<_> = (0..count).map(|number| json!(format!("v{number:03}"))).collect();
            assert_eq!(*values, first, "the best are kept");
            let member = |name: &str| completion.get(name).cloned().unwrap_or_default();
            assert_eq!((member("total"), member("hasMore")), (total, has_more), "{value}");
        }
    }
}

#[tokio::test]
async fn closed_sets_complete_themselves_unless_a_handler_does() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    for (how, client) in &clients {
        for (params, values) in [
            (prompt("p", "closed", ""), json!(["Red", "green", "grey"])),
            (prompt("p", "closed", "GR"), json!(["green", "grey"])),
            (prompt("p", "closed", "blue"), json!([])),
            (prompt("p", "both", "o"), json!(["of the handler"])),
            (prompt("typed", "style", "c"), json!(["casual", "curt"])),
            // There is such an argument, and nothing to say of it.
            (prompt("p", "open", "x"), json!([])),
            (template("x:{a}/{b}", "a", "x"), json!([])),
        ] {
            let result = client.request("completion/complete", params.clone()).await;
            assert_eq!(result.unwrap()["completion"]["values"], values, "{how} {params}");
        }
    }
}

#[tokio::test]
async fn what_is_unknown_or_malformed_is_refused() {
    let (clients, _served) = every_client(&builder().build().unwrap()).await;
    let with = |member: &str, value: Value| {
        let mut params = prompt("p", "many", "x");
        params[member] = value;
        params
    };
    for (how, client) in &clients {
        for (params, told) in [
            (prompt("no", "many", ""), "unknown prompt \"no\""),
            (prompt("p", "no", ""), "params.argument.name must be one of [\"many\", "),
            (template("x:{other}", "a", ""), "is not a resource template"),
            (template("x:1/2", "a", ""), "is not a resource template"),
            (template("x:{a}/{b}", "c", ""), "must be one of [\"a\", \"b\"]"),
            (json!({}), "params.ref must be"),
            (with("ref", json!({"type": "ref/tool", "name": "p"})), "params.ref must be"),
            (with("ref", json!({"type": "ref/prompt"})), "params.ref must be"),
            (with("ref", json!({"type": "ref/resource", "name": "p"})), "params.ref must be"),
            (with("ref", json!("p")), "params.ref must be"),
            (with("argument", json!("many")), "params.argument must be"),
            (with("argument", json!({"name": "many"})), "params.argument must be"),
            (with("argument", json!({"name": "many", "value": 1})), "params.argument must be"),
            (with("context", json!([1])), "params.context.arguments must be"),
            (with("context", json!({"arguments": [1]})), "params.context.arguments must be"),
            (with("context", json!({"arguments": {"a": 1}})), "params.context.arguments must be"),
            (prompt("p", "many", "fails"), "ask for something else"),
            (prompt("p", "many", "not found"), "nothing of the kind"),
        ] {
            let answer = client.request("completion/complete", params.clone()).await;
            let error = refused(answer);
            assert_eq!(error.code, -32602, "{how} {params}");
            assert!(error.message.contains(told), "{params}: {}", error.message);
        }
        let panics = prompt("p", "many", "panics");
        let error = refused(client.request("completion/complete", panics).await);
        assert_eq!(error.code, -32603);
        assert!(!error.message.contains("1234"));
    }
}

#[test]
fn what_is_completed_must_be_there() {
    let fails = |builder: ServerBuilder<()>| match builder.build().unwrap_err() {
        error @ BuildError::Completion { .. } => error.to_string(),
        other => panic!("{other}"),
    };
    assert_eq!(
        fails(builder().complete_prompt("no", "many", many)),
        "completion of \"many\" of \"no\": there is no such prompt"
    );
    assert_eq!(
        fails(builder().complete_prompt("typed", "no", many)),
        "completion of \"no\" of \"typed\": it has only [\"style\"]"
    );
    assert_eq!(
        fails(builder().complete_template("x:{b}", "b", many)),
        "completion of \"b\" of \"x:{b}\": there is no such template; name it exactly as it was added"
    );
    assert_eq!(
        fails(builder().complete_prompt("p", "many", many)),
        "completion of \"many\" of \"p\": there is another completion for it"
    );
}
