//! The modern era on the wire: `input_required` results, what comes back with the answers, and what does not count.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::{
    Completion, Context, CreateMessage, ElicitUrl, InputConfig, Interrupt, Keys, Page, Principal,
    Questions, Resource, SamplingTool, StreamableHttpService,
};
use serde_json::{Value, json};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::asking::{Ask, all_capabilities, asker, name_form};
use crate::common::{Raw, Reply, request, with_meta};
use crate::peer::Peer;

/// `_meta` of a client that declares these capabilities.
fn declaring(capabilities: &Value) -> Value {
    json!({ "io.modelcontextprotocol/clientCapabilities": capabilities })
}

/// A request of a client that can do everything.
fn raw(method: &str, mut params: Value) -> Raw {
    if params.get("_meta").is_none() {
        params["_meta"] = declaring(&json!(all_capabilities()));
    }
    let uri = params.get("uri").and_then(Value::as_str).map(str::to_owned);
    let raw = Raw::modern(method, params);
    match uri {
        Some(uri) => raw.set("mcp-name", &uri),
        None => raw,
    }
}

async fn send(service: &StreamableHttpService, method: &str, params: Value) -> Reply {
    raw(method, params).send(service).await
}

/// A call of the tool with this in its params besides.
async fn call(service: &StreamableHttpService, more: &Value) -> Reply {
    send(service, "tools/call", asking(more)).await
}

fn asking(more: &Value) -> Value {
    let mut params = json!({ "name": "ask", "arguments": { "a": 1, "b": 2 } });
    let members = params.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    params
}

fn service_of(
    ask: impl Fn(&Context) -> Result<Value, Interrupt> + Send + Sync + 'static,
) -> StreamableHttpService {
    StreamableHttpService::new(asker(ask).build().unwrap())
}

fn with_config(change: impl FnOnce(&mut InputConfig)) -> StreamableHttpService {
    let mut config = InputConfig::default();
    change(&mut config);
    StreamableHttpService::new(asker(greet).input(config).build().unwrap())
}

/// Asks one thing.
fn greet(context: &Context) -> Result<Value, Interrupt> {
    Ok(json!(context.elicit("who", &name_form())?.text("name")))
}

/// Asks three things one after the other.
fn thrice(context: &Context) -> Result<Value, Interrupt> {
    let mut names = Vec::new();
    for key in ["one", "two", "three"] {
        let answer = context.elicit(key, &name_form())?;
        names.push(answer.text("name").unwrap().to_owned());
    }
    Ok(json!(names))
}

fn accept(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// The state of an answer that asks for exactly these keys.
#[track_caller]
fn state_for(reply: &Reply, keys: &[&str]) -> String {
    let result = reply.result();
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().unwrap();
    assert_eq!(requests.keys().collect::<Vec<_>>(), keys);
    assert!(result["_meta"]["io.modelcontextprotocol/serverInfo"].is_object());
    result["requestState"].as_str().unwrap().to_owned()
}

#[track_caller]
fn said(reply: &Reply) -> Value {
    let result = reply.result();
    assert_eq!(result["resultType"], "complete", "{result}");
    result["structuredContent"]["said"].clone()
}

#[track_caller]
fn refused(reply: &Reply, why: &str) {
    assert_eq!(reply.refusal(), (200, -32602, Some(json!(7))), "{why}");
    assert!(reply.message().contains(why), "{}", reply.message());
}

const UNREADABLE: &str = "requestState is not one that this server gave for this request";

#[tokio::test]
async fn each_round_has_a_state_of_its_own_that_carries_the_answers_so_far() {
    let service = service_of(thrice);
    let first = state_for(&call(&service, &json!({})).await, &["one"]);
    let answers = |key: &str, state: &str| json!({ "inputResponses": { key: accept(key) }, "requestState": state });
    let reply = call(&service, &answers("one", &first)).await;
    let second = state_for(&reply, &["two"]);
    let reply = call(&service, &answers("two", &second)).await;
    let third = state_for(&reply, &["three"]);
    assert!(first != second && second != third && first != third);
    let reply = call(&service, &answers("three", &third)).await;
    assert_eq!(said(&reply), json!(["one", "two", "three"]));

    // Nobody can read the answers in it.
    let sealed = data_encoding::BASE64URL_NOPAD.decode(third.as_bytes());
    let sealed = sealed.unwrap();
    assert!(!sealed.windows(3).any(|bytes| bytes == b"two"));

    // What was answered with its state stays as it was answered.
    let mut again = answers("three", &third);
    again["inputResponses"]["one"] = accept("other");
    let reply = call(&service, &again).await;
    assert_eq!(said(&reply), json!(["one", "two", "three"]));

    // All at once, without a state: nothing is left to ask.
    let all = json!({ "one": accept("a"), "two": accept("b"), "three": accept("c") });
    let reply = call(&service, &json!({ "inputResponses": all })).await;
    assert_eq!(said(&reply), json!(["a", "b", "c"]));
}

#[tokio::test]
async fn a_state_that_was_touched_is_refused() {
    let service = service_of(greet);
    let state = state_for(&call(&service, &json!({})).await, &["who"]);
    let with = async |state: Value| {
        let answers = json!({ "inputResponses": { "who": accept("Ann") }, "requestState": state });
        call(&service, &answers).await
    };
    assert_eq!(said(&with(json!(state)).await), "Ann");
    for at in 0..state.len() {
        let mut bytes = state.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        refused(
            &with(json!(String::from_utf8(bytes).unwrap())).await,
            UNREADABLE,
        );
    }
    for touched in [
        String::new(),
        format!("{state}-TAMPERED"),
        format!("{state}="),
        format!(" {state}"),
        state[1..].to_owned(),
        state[..state.len() - 1].to_owned(),
        "x".repeat(100_000),
        "ä".to_owned(),
    ] {
        refused(&with(json!(touched)).await, UNREADABLE);
    }
    for no_text in [json!(null), json!(42), json!([state]), json!({})] {
        refused(&with(no_text).await, "params.requestState must be a string");
    }
    // Also without answers.
    let reply = call(&service, &json!({ "requestState": format!("{state}x") })).await;
    refused(&reply, UNREADABLE);
}

#[tokio::test]
async fn a_state_is_good_for_its_request_and_its_caller_alone() {
    let service = service_of(greet);
    let send_as = async |who: Option<&str>, method: &str, params: Value| {
        let mut request = raw(method, params).request();
        if let Some(who) = who {
            request.extensions_mut().insert(Principal(who.to_owned()));
        }
        let (head, body) = service.handle(request).await.into_parts();
        let body = http_body_util::BodyExt::collect(body).await.unwrap();
        Reply {
            status: head.status,
            headers: head.headers,
            body: body.to_bytes(),
        }
    };
    for owner in [None, Some("ann"), Some("")] {
        let first = send_as(owner, "tools/call", asking(&json!({}))).await;
        let state = state_for(&first, &["who"]);
        let back = |params: &Value| {
            let mut params = params.clone();
            params["requestState"] = json!(state);
            params["inputResponses"] = json!({ "who": accept("Ann") });
            params
        };
        let same = back(&asking(&json!({})));
        for who in [None, Some("ann"), Some(""), Some("bob")] {
            let reply = send_as(who, "tools/call", same.clone()).await;
            if who == owner {
                assert_eq!(said(&reply), "Ann");
            } else {
                refused(&reply, UNREADABLE);
            }
        }
        for other in [
            json!({ "name": "other", "arguments": { "a": 1, "b": 2 } }),
            json!({ "name": "ask", "arguments": { "a": 1, "b": 3 } }),
            json!({ "name": "ask", "arguments": { "a": 1 } }),
            json!({ "name": "ask", "arguments": { "a": "1", "b": 2 } }),
            json!({ "name": "ask" }),
            json!({ "name": "ask", "arguments": { "a": 1, "b": 2 }, "more": true }),
        ] {
            refused(
                &send_as(owner, "tools/call", back(&other)).await,
                UNREADABLE,
            );
        }
        // The same request in other words.
        let spelt = json!({ "arguments": { "b": 2.0, "a": 1 }, "name": "ask" });
        assert_eq!(
            said(&send_as(owner, "tools/call", back(&spelt)).await),
            "Ann"
        );
        let mut meta = declaring(&json!(all_capabilities()));
        meta["progressToken"] = json!("p");
        let traced = back(&asking(&json!({ "_meta": meta })));
        assert_eq!(said(&send_as(owner, "tools/call", traced).await), "Ann");

        for (method, params) in [
            ("prompts/get", json!({ "name": "ask", "arguments": {} })),
            ("resources/read", json!({ "uri": "test://ask" })),
        ] {
            refused(&send_as(owner, method, back(&params)).await, UNREADABLE);
            let first = send_as(owner, method, params.clone()).await;
            let mut good = back(&params);
            good["requestState"] = json!(state_for(&first, &["who"]));
            let reply = send_as(owner, method, good).await;
            assert_eq!(reply.result()["resultType"], "complete");
        }
    }
}

#[tokio::test]
async fn a_state_expires() {
    let service = with_config(|config| config.state_lifetime = Duration::ZERO);
    let state = state_for(&call(&service, &json!({})).await, &["who"]);
    let answers = json!({ "inputResponses": { "who": accept("Ann") }, "requestState": state });
    refused(
        &call(&service, &answers).await,
        "params.requestState has expired; make the request anew without it",
    );
    // A lifetime that no clock reaches is no overflow.
    let service = with_config(|config| config.state_lifetime = Duration::MAX);
    let state = state_for(&call(&service, &json!({})).await, &["who"]);
    let answers = json!({ "inputResponses": { "who": accept("Ann") }, "requestState": state });
    assert_eq!(said(&call(&service, &answers).await), "Ann");
}

#[tokio::test]
async fn answers_may_be_bound_to_the_state_of_their_question() {
    let unasked = json!({ "inputResponses": { "who": accept("Ann") } });
    let service = with_config(|config| config.require_state = true);
    let state = state_for(&call(&service, &unasked).await, &["who"]);
    let mut answers = unasked.clone();
    answers["requestState"] = json!(state);
    for _ in 0..2 {
        assert_eq!(said(&call(&service, &answers).await), "Ann");
    }

    let service = with_config(|config| config.single_use = true);
    let state = state_for(&call(&service, &unasked).await, &["who"]);
    answers["requestState"] = json!(state);
    assert_eq!(said(&call(&service, &answers).await), "Ann");
    refused(
        &call(&service, &answers).await,
        "params.requestState has been used already; make the request anew without it",
    );
    // Nor does it help to leave the state out.
    state_for(&call(&service, &unasked).await, &["who"]);
    // One that was refused for another reason was not used.
    let state = state_for(&call(&service, &json!({})).await, &["who"]);
    answers["requestState"] = json!(state);
    let mut other = answers.clone();
    other["arguments"] = json!({});
    refused(&call(&service, &other).await, UNREADABLE);
    assert_eq!(said(&call(&service, &answers).await), "Ann");
}

#[tokio::test]
async fn used_states_are_remembered_in_bounds() {
    let service = with_config(|config| {
        config.single_use = true;
        config.max_used_states = 1;
    });
    let fresh = async || {
        let state = state_for(&call(&service, &json!({})).await, &["who"]);
        json!({ "inputResponses": { "who": accept("Ann") }, "requestState": state })
    };
    assert_eq!(said(&call(&service, &fresh().await).await), "Ann");
    let reply = call(&service, &fresh().await).await;
    assert_eq!(reply.refusal(), (200, -32603, Some(json!(7))));
    assert_eq!(
        reply.message(),
        "too many requests were continued of late; try again later"
    );
}

#[tokio::test]
async fn a_request_goes_on_at_any_server_with_the_same_keys() {
    let serve =
        |keys: &Keys| StreamableHttpService::new(asker(thrice).keys(keys.clone()).build().unwrap());
    let keys = Keys::new([1; 32]);
    let state = state_for(&call(&serve(&keys), &json!({})).await, &["one"]);
    let answers = json!({ "inputResponses": { "one": accept("Ann") }, "requestState": state });
    // Each round at a server that was just started.
    let restarted = serve(&Keys::new([1; 32]));
    state_for(&call(&restarted, &answers).await, &["two"]);
    refused(
        &call(&serve(&Keys::new([2; 32])), &answers).await,
        UNREADABLE,
    );

    // A key that was replaced still opens, and is forgotten after three more.
    let service = serve(&keys);
    for key in 2..=4 {
        keys.rotate([key; 32]);
        state_for(&call(&service, &answers).await, &["two"]);
    }
    keys.rotate([5; 32]);
    refused(&call(&service, &answers).await, UNREADABLE);
    let state = state_for(&call(&service, &json!({})).await, &["one"]);
    refused(
        &call(&restarted, &json!({ "requestState": state })).await,
        UNREADABLE,
    );
}

#[tokio::test]
async fn what_is_missing_is_asked_again_and_what_is_unknown_is_passed_over() {
    let service = service_of(|context| {
        let questions = Questions::new().elicit("who", name_form()).roots("where");
        let answers = context.ask(&questions)?;
        Ok(json!([
            answers.elicited("who")?.text("name"),
            answers.roots("where")?.len()
        ]))
    });
    let roots = json!({ "roots": [] });
    let state = state_for(&call(&service, &json!({})).await, &["where", "who"]);
    for nothing in [
        json!({ "requestState": state }),
        json!({ "requestState": state, "inputResponses": {} }),
        json!({ "inputResponses": {} }),
        json!({ "inputResponses": { "wrong": accept("Ann"), "": 42 } }),
        json!({ "requestState": state, "inputResponses": { "wrong": null } }),
    ] {
        state_for(&call(&service, &nothing).await, &["where", "who"]);
    }
    // Half an answer is kept, with its state and without.
    for half in [
        json!({ "requestState": state, "inputResponses": { "who": accept("Ann") } }),
        json!({ "inputResponses": { "who": accept("Ann"), "wrong": [] } }),
    ] {
        let state = state_for(&call(&service, &half).await, &["where"]);
        let rest = json!({ "requestState": state, "inputResponses": { "where": roots, "x": 1 } });
        assert_eq!(said(&call(&service, &rest).await), json!(["Ann", 0]));
    }
}

#[tokio::test]
async fn answers_of_the_wrong_form_are_refused() {
    let service = service_of(greet);
    for no_object in [json!(null), json!([]), json!(42), json!("who"), json!(true)] {
        let reply = call(&service, &json!({ "inputResponses": no_object })).await;
        refused(&reply, "params.inputResponses must be an object");
    }
    let state = state_for(&call(&service, &json!({})).await, &["who"]);
    for no_answer in [
        json!(null),
        json!([]),
        json!(42),
        json!("Ann"),
        json!({ "action": "ok" }),
    ] {
        for state in [None, Some(&state)] {
            let mut answers = json!({ "inputResponses": { "who": no_answer } });
            if let Some(state) = state {
                answers["requestState"] = json!(state);
            }
            refused(
                &call(&service, &answers).await,
                "params.inputResponses[\"who\"]: an object whose action is accept, decline or cancel is wanted",
            );
        }
    }
    let answers = json!({ "inputResponses": { "who": accept("x") } });
    assert_eq!(said(&call(&service, &answers).await), "x");
    let mut wrong = answers;
    wrong["inputResponses"]["who"]["content"]["name"] = json!({ "secret": "s".repeat(5_000) });
    let reply = call(&service, &wrong).await;
    refused(&reply, "params.inputResponses[\"who\"]: content.name: ");
    assert!(reply.message().len() < 200, "{}", reply.message());
}

#[tokio::test]
async fn answers_that_no_state_can_carry_are_told() {
    let service = service_of(thrice);
    let long = "x".repeat(60_000);
    // What is not asked for is not carried.
    let answers = json!({ "inputResponses": { "one": accept("a"), "x": long } });
    let state = state_for(&call(&service, &answers).await, &["two"]);
    assert!(state.len() < 1_000);
    let answer = async |key: &str, name: &str, state: &str| {
        let answers = json!({ "inputResponses": { key: accept(name) }, "requestState": state });
        call(&service, &answers).await
    };
    refused(&answer("two", &long, &state).await, "at most 49");
    // The last answers need not be carried.
    let state = state_for(&answer("two", "b", &state).await, &["three"]);
    let reply = answer("three", &long, &state).await;
    assert_eq!(said(&reply), json!(["a", "b", long]));
}

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
            vec![
                json!({}),
                json!({ "elicitation": {} }),
                json!({ "elicitation": { "form": {} } }),
            ],
            |context| {
                let url = ElicitUrl::new("?", "https://a.example/");
                Ok(json!(format!("{:?}", context.elicit_url("q", &url)?)))
            },
        ),
        (
            json!({ "sampling": {} }),
            vec![json!({}), json!({ "elicitation": {}, "roots": {} })],
            |context| {
                Ok(json!(
                    context.sample("q", &CreateMessage::text("?", 9))?.text()
                ))
            },
        ),
        (
            json!({ "sampling": { "tools": {} } }),
            vec![
                json!({}),
                json!({ "sampling": {} }),
                json!({ "sampling": { "context": {} } }),
            ],
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
        (
            json!({ "sampling": {} }),
            vec![json!({ "roots": {} })],
            |context| {
                // Not a part of what is asked goes out.
                let questions = Questions::new()
                    .roots("q")
                    .sample("s", CreateMessage::text("?", 9));
                Ok(json!(context.ask(&questions)?.roots("q")?))
            },
        ),
        (json!({ "sampling": {} }), vec![json!({})], |context| {
            Err(Interrupt::missing_capability(
                context,
                &json!({ "sampling": {} }),
            ))
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
    for declared in [
        json!({ "elicitation": {} }),
        json!({ "elicitation": { "form": {}, "url": {} } }),
    ] {
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
    let _here = tracing::subscriber::set_default(errors.clone());
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
                assert_eq!(logged, ["a handler asked where the client cannot be asked"]);
            } else {
                assert_eq!(reply.result()["resultType"], "complete", "{method}");
                assert!(logged.is_empty(), "{logged:?}");
            }
        }
    }
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
    let [answer] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(answer["result"]["resultType"], "input_required");

    let mut peer = Peer::new(asker(thrice).build().unwrap());
    let mut more = json!({ "_meta": declaring(&json!(all_capabilities())) });
    for key in ["one", "two", "three"] {
        peer.send(&request(key, "tools/call", &with_meta(asking(&more))))
            .await;
        let answer = peer.next().await;
        assert_eq!((answer.get("method"), &answer["id"]), (None, &json!(key)));
        let result = &answer["result"];
        assert_eq!(result["inputRequests"][key]["method"], "elicitation/create");
        more["requestState"] = result["requestState"].clone();
        more["inputResponses"] = json!({ key: accept(key) });
    }
    peer.send(&request(4, "tools/call", &with_meta(asking(&more))))
        .await;
    assert_eq!(
        peer.next().await["result"]["structuredContent"]["said"][2],
        "three"
    );
    assert!(peer.end().await.is_empty());
}
