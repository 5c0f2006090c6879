//! Asking the client: the same handlers serve both eras over both transports.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::http::{HttpConfig, ServeConfig};
use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::{
    CallToolResult, Context, CreateMessage, ElicitForm, ElicitUrl, Era, Field, Interrupt,
    Questions, Server, Tool,
};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::asking_common::{all_capabilities, answer_to, asker, name_form};
use crate::common::Served;

/// However busy the machine is, only what hangs takes longer.
const HANG: Duration = Duration::from_secs(600);

/// The questions that clients were asked.
type Asked = Arc<Mutex<Vec<Request>>>;

/// A client of each transport and era, all of which answer, and who keeps their server alive.
async fn answering_clients<F>(server: &Server, answers: F) -> (Vec<(String, Client)>, Served, Asked)
where
    F: Fn(&Request) -> Result<Value, ErrorObject> + Clone + Send + Sync + 'static,
{
    // On a busy machine a connection that waits for its next request is not to be ended under that request.
    let mut serving = ServeConfig::default();
    serving.header_timeout = HANG;
    let served = Served::with(server.clone(), HttpConfig::default(), serving).await;
    let asked = Asked::default();
    let mut clients = Vec::new();
    for era in [Era::Legacy, Era::Modern] {
        let config = || {
            let (asked, answers) = (asked.clone(), answers.clone());
            let mut config = ClientConfig::new(era).with_answers(move |question: Request| {
                asked.lock().unwrap().push(question.clone());
                std::future::ready(answers(&question))
            });
            config.capabilities = all_capabilities();
            config.timeout = HANG;
            config
        };
        let http = Client::http(&served.url(), config()).await.unwrap();
        clients.push((format!("http {era:?}"), http));
        let memory = Client::memory(server.clone(), config()).await.unwrap();
        clients.push((format!("stdio {era:?}"), memory));
    }
    (clients, served, asked)
}

/// What the tool, the prompt and the resource of [`asker`] say.
async fn everywhere(client: &Client) -> [Result<Value, ClientError>; 3] {
    let text =
        |text: Option<&Value>| serde_json::from_str(text.unwrap().as_str().unwrap()).unwrap();
    let tool = client.call_tool_raw("ask", json!({})).await;
    let prompt = client.request_in_rounds("prompts/get", json!({ "name": "ask" })).await;
    let read = client.request_in_rounds("resources/read", json!({ "uri": "test://ask" })).await;
    [
        tool.map(|result| match &result["structuredContent"] {
            Value::Object(content) if result["isError"] != true => content["said"].clone(),
            failed => failed.clone(),
        }),
        prompt.map(|result| text(result.pointer("/messages/0/content/text"))),
        read.map(|result| text(result.pointer("/contents/0/text"))),
    ]
}

#[tokio::test]
async fn every_question_is_asked_and_answered_in_both_eras() {
    type Case = (Value, fn(&Context) -> Result<Value, Interrupt>);
    let cases: [Case; 5] = [
        (json!("Ann"), |context| Ok(json!(context.elicit("who", &name_form())?.text("name")))),
        (json!("Accept"), |context| {
            let url = ElicitUrl::new("Please pay.", "https://pay.example/1");
            Ok(json!(format!("{:?}", context.elicit_url("pay", &url)?)))
        }),
        (json!(["Hi!", "m", "endTurn"]), |context| {
            let said = context.sample("greet", &CreateMessage::text("Greet.", 50))?;
            Ok(json!([said.text(), said.model, said.stop_reason]))
        }),
        (json!(["file:///a", "A"]), |context| {
            let roots = context.list_roots("where")?;
            Ok(json!([roots[0].uri, roots[0].name]))
        }),
        (json!(["Ann", "Hi!", 1]), |context| {
            let answers = context.ask(
                &Questions::new()
                    .elicit("who", name_form())
                    .sample("greet", CreateMessage::text("Greet.", 50))
                    .roots("where"),
            )?;
            let name = answers.elicited("who")?;
            let roots = answers.roots("where")?;
            Ok(json!([name.text("name"), answers.sampled("greet")?.text(), roots.len()]))
        }),
    ];
    for (expected, ask) in cases {
        let server = asker(ask).build().unwrap();
        let (clients, _served, asked) = answering_clients(&server, answer_to).await;
        let mut seen: Option<Vec<(String, Option<Value>)>> = None;
        for (which, client) in clients {
            for said in everywhere(&client).await {
                assert_eq!(said.as_ref(), Ok(&expected), "{which}");
            }
            let mut questions: Vec<_> = std::mem::take(&mut *asked.lock().unwrap())
                .into_iter()
                .map(|question| (question.method, question.params.get("message").cloned()))
                .collect();
            // Several at once have no order.
            questions.sort_by(|(one, _), (other, _)| one.cmp(other));
            assert!(!questions.is_empty() && questions.len().is_multiple_of(3));
            assert_eq!(*seen.get_or_insert_with(|| questions.clone()), questions, "{which}");
        }
    }
}

#[tokio::test]
async fn a_handler_asks_as_often_as_it_needs() {
    let server = asker(|context| {
        let mut said = Vec::new();
        for round in 1..=5 {
            let form = ElicitForm::new(format!("{round}")).field("name", Field::text().required());
            let answer = context.elicit(&format!("round {round}"), &form)?;
            said.push(answer.text("name").unwrap().to_owned());
        }
        Ok(json!(said))
    })
    .build()
    .unwrap();
    let (clients, _served, asked) = answering_clients(&server, |question| {
        Ok(json!({ "action": "accept", "content": { "name": question.params["message"] } }))
    })
    .await;
    for (which, client) in clients {
        for said in everywhere(&client).await {
            assert_eq!(said, Ok(json!(["1", "2", "3", "4", "5"])), "{which}");
        }
        // Nothing is asked twice.
        assert_eq!(std::mem::take(&mut *asked.lock().unwrap()).len(), 15, "{which}");
    }
}

#[tokio::test]
async fn a_user_may_decline_and_go_away() {
    let server = asker(|context| {
        let answer = context.elicit("who", &name_form())?;
        assert_eq!(answer.accepted(), None);
        assert!(answer.content.is_empty());
        Ok(json!(format!("{:?}", answer.action)))
    })
    .build()
    .unwrap();
    for (action, expected) in [("decline", "Decline"), ("cancel", "Cancel")] {
        // Content belongs to accepted forms alone; clients do send null, and worse.
        for content in [json!(null), json!({ "name": "Ann" }), json!([])] {
            let (clients, _served, _) = answering_clients(&server, move |_| {
                Ok(json!({ "action": action, "content": content }))
            })
            .await;
            for (which, client) in clients {
                for said in everywhere(&client).await {
                    assert_eq!(said, Ok(json!(expected)), "{which}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_refuses_ends_the_call() {
    let server = asker(|context| Ok(json!(context.list_roots("where")?.len()))).build().unwrap();
    let (clients, _served, _) =
        answering_clients(&server, |_| Err(ErrorObject::new(-1, "The user is asleep."))).await;
    for (which, client) in clients {
        let [tool, prompt, read] = everywhere(&client).await;
        if which.contains("Modern") {
            let refused = Err(ClientError::Refused(ErrorObject::new(-1, "The user is asleep.")));
            assert_eq!([&tool, &prompt, &read], [&refused; 3], "{which}");
            continue;
        }
        let error = tool.unwrap()["error"].clone();
        assert_eq!(error["code"], "CLIENT_REFUSED", "{which}");
        let message = error["message"].as_str().unwrap();
        assert_eq!(message, "the client refused roots/list: The user is asleep. (-1)");
        for refused in [prompt, read] {
            let Err(ClientError::Rpc(error)) = refused else { panic!("{which}: {refused:?}") };
            assert_eq!((error.code, error.message.as_str()), (-32603, message), "{which}");
        }
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
    /// Very large
    Large,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
enum Topping {
    Cheese,
    Olives,
}

/// Everything that a form can hold.
#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Order {
    /// Your name
    #[schemars(length(min = 1, max = 20))]
    name: String,
    #[schemars(email)]
    mail: Option<String>,
    #[schemars(range(min = 1, max = 9))]
    count: u32,
    tip: Option<f64>,
    size: Size,
    second: Option<Topping>,
    toppings: Vec<Topping>,
    #[serde(default)]
    gift: bool,
}

#[tokio::test]
async fn a_type_is_a_form() {
    let server = asker(|context| {
        let order: Option<Order> = context.elicit_typed("order", "Your order?")?;
        Ok(json!(order))
    })
    .build()
    .unwrap();
    let content = json!({
        "name": "Ann", "count": 2.0, "size": "large", "toppings": ["Cheese"], "mail": null, "more": [1],
    });
    let (clients, _served, asked) =
        answering_clients(&server, move |_| Ok(json!({ "action": "accept", "content": content })))
            .await;
    for (which, client) in clients {
        for said in everywhere(&client).await {
            let order: Order = serde_json::from_value(said.unwrap()).unwrap();
            let expected = Order {
                name: "Ann".to_owned(),
                mail: None,
                count: 2,
                tip: None,
                size: Size::Large,
                second: None,
                toppings: vec![Topping::Cheese],
                gift: false,
            };
            assert_eq!(order, expected, "{which}");
        }
    }
    let schema = asked.lock().unwrap()[0].params["requestedSchema"].clone();
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "description": "Your name", "minLength": 1, "maxLength": 20 },
                "mail": { "type": "string", "format": "email" },
                "count": { "type": "integer", "minimum": 1, "maximum": 9 },
                "tip": { "type": "number" },
                "size": { "type": "string", "oneOf": [
                    { "const": "small", "title": "small" },
                    { "const": "large", "title": "Very large" },
                ] },
                "second": { "type": "string", "enum": ["Cheese", "Olives"] },
                "toppings": { "type": "array", "items": { "type": "string", "enum": ["Cheese", "Olives"] } },
                "gift": { "type": "boolean", "default": false },
            },
            "required": ["count", "name", "size", "toppings"],
        })
    );

    // Who declines fills in nothing.
    let (clients, _served, _) =
        answering_clients(&server, |_| Ok(json!({ "action": "decline" }))).await;
    for (which, client) in clients {
        for said in everywhere(&client).await {
            assert_eq!(said, Ok(Value::Null), "{which}");
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct Deep {
    #[expect(dead_code, reason = "its type is what counts")]
    inner: Inner,
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    #[expect(dead_code, reason = "its type is what counts")]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Bytes {
    #[expect(dead_code, reason = "its type is what counts")]
    bytes: Vec<u8>,
}

#[test]
fn a_type_that_is_no_form_is_told_by_its_member() {
    let problem =
        |form: Result<ElicitForm, mcp_proto::schema::SchemaError>| form.unwrap_err().to_string();
    let no_field = "is not a text, number, boolean or enumeration without data";
    assert_eq!(problem(ElicitForm::of::<Deep>("x")), format!("the member \"inner\" {no_field}"));
    assert_eq!(problem(ElicitForm::of::<Bytes>("x")), format!("the member \"bytes\" {no_field}"));
    assert!(ElicitForm::of::<String>("x").is_err());
}

#[tokio::test]
async fn a_thousand_calls_that_ask_at_once_get_their_own_answers() {
    let tool = Tool::new("ask", "Asks.").asking().with_input_schema(json!({ "type": "object" }));
    let server = Server::builder("asker", "1.0.0", ())
        .raw_tool(tool, async |(), arguments: Map<String, Value>, context: Context| {
            let form =
                ElicitForm::new(arguments["n"].to_string()).field("n", Field::integer().required());
            let answer = context.elicit("n", &form)?;
            assert_eq!(answer.content["n"], arguments["n"]);
            CallToolResult::structured(&answer.content)
        })
        .build()
        .unwrap();
    let (clients, _served, _) = answering_clients(&server, |question| {
        let n: u64 = question.params["message"].as_str().unwrap().parse().unwrap();
        Ok(json!({ "action": "accept", "content": { "n": n } }))
    })
    .await;
    for (which, client) in clients {
        // What the library allows one session or connection.
        let calls = (0..1_000).map(|n| {
            let client = client.clone();
            async move { (n, client.call_tool_raw("ask", json!({ "n": n })).await) }
        });
        for (n, result) in futures_util::future::join_all(calls).await {
            let result = result.unwrap_or_else(|error| panic!("{which}: {n}: {error}"));
            assert_eq!(result["structuredContent"]["n"], n, "{which}");
        }
    }
}
