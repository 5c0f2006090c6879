//! Broken resources, subscriptions and prompts.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_conformance::{Frame, SseEvent};
use serde_json::{Value, json};

use super::{
    Answer, Fault, Mutation, Overheard, SentRequest, answer, both, frame, legacy, lost, modern, of,
    overhear, result,
};

/// What is read at a URI that ends so comes changed.
fn read(end: &'static str, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    answer(move |asked, answer| {
        let uri = asked.body["params"]["uri"].as_str().unwrap_or_default();
        let fits = asked.is_rpc("resources/read") && uri.ends_with(end);
        if fits && answer.body.get("result").is_some() {
            change(&mut answer.body["result"]["contents"][0]);
        }
    })
}

/// The same for what is JSON there.
fn read_json(end: &'static str, change: fn(&mut Value)) -> Fault {
    read(end, move |contents| {
        let mut text = serde_json::from_str(contents["text"].as_str().unwrap()).unwrap();
        change(&mut text);
        contents["text"] = text.to_string().into();
    })
}

/// A request that fails, and whose URI or prompt's universe ends so, fails in another way.
fn error(end: &'static str, change: fn(&mut Answer)) -> Fault {
    answer(move |asked, answer| {
        let params = &asked.body["params"];
        let named = params["uri"].as_str().or(params["arguments"]["universe"].as_str());
        let fits = named.is_some_and(|named| named.ends_with(end));
        if fits && answer.body.get("error").is_some() {
            change(answer);
        }
    })
}

/// The values of a completion of this argument come changed.
fn completed(argument: &'static str, change: fn(&mut Value)) -> Fault {
    answer(move |asked, answer| {
        if asked.is_rpc("completion/complete")
            && asked.body["params"]["argument"]["name"] == argument
        {
            change(&mut answer.body["result"]["completion"]["values"]);
        }
    })
}

/// What a prompt gives comes changed.
fn prompt(name: &'static str, change: fn(&mut Value)) -> Fault {
    answer(move |asked, answer| {
        let fits = asked.is_rpc("prompts/get") && asked.body["params"]["name"] == name;
        if fits && answer.body.get("result").is_some() {
            change(&mut answer.body["result"]["messages"]);
        }
    })
}

fn is_update(event: &SseEvent) -> bool {
    event.data.contains("resources/updated")
}

/// Streams say that the body was updated after a request that fits.
fn also_after(other: fn(&SentRequest) -> bool) -> Fault {
    overhear(move |stream, request| {
        if !stream.is_listen() || !other(request) {
            return Overheard::Nothing;
        }
        let params = json!({"uri": "universe://u/stars/a"});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params});
        Overheard::Says(Frame::Event(SseEvent { data: message.to_string(), ..SseEvent::default() }))
    })
}

/// Of the updates on a stream, the one of this number names another body.
fn changed(nth: usize) -> Fault {
    let seen = AtomicUsize::new(0);
    frame(move |_, frame| {
        let Frame::Event(mut event) = frame else {
            return vec![frame];
        };
        if is_update(&event) && seen.fetch_add(1, Ordering::Relaxed) + 1 == nth {
            event.data = event.data.replace("/stars/a", "/stars/b");
        }
        vec![Frame::Event(event)]
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    [resources(), subscriptions(), prompts()].concat()
}

fn resources() -> Vec<Mutation> {
    of(
        "resources",
        [
            both("a template is missing", "each kind of resource").by(|| {
                result("resources/templates/list", |result| {
                    drop(result["resourceTemplates"].as_array_mut().unwrap().pop())
                })
            }),
            both("the list of universes is not listed", "begins with the list")
                .by(|| result("resources/list", |result| result["resources"] = json!([]))),
            both("the list lacks names", "the list of universes tells each").by(|| {
                read_json("universe://", |list| {
                    list["universes"]
                        .as_array_mut()
                        .unwrap()
                        .iter_mut()
                        .for_each(|one| one["name"] = "".into())
                })
            }),
            both("a state lacks its bodies", "a universe is read whole").by(|| {
                answer(|asked, answer| {
                    let uri = asked.body["params"]["uri"].as_str().unwrap_or_default();
                    if asked.is_rpc("resources/read")
                        && uri.len() > 12
                        && uri.matches('/').count() == 2
                    {
                        answer.body["result"]["contents"][0]["text"] = "{}".into();
                    }
                })
            }),
            both("another body is read", "a body is read by its id")
                .by(|| read_json("/stars/a", |body| body["id"] = "b".into())),
            both("the outline is JSON", "the outline shows")
                .by(|| read("/tree", |contents| contents["mimeType"] = "application/json".into())),
            both("the outline is empty", "the outline shows")
                .by(|| read("/tree", |contents| contents["text"] = "".into())),
            both("the history lacks the events", "the history tells")
                .by(|| read_json("after=0", |history| history["entries"][0]["events"] = json!([]))),
            both("an unknown body has another code", "what is not there").by(|| {
                error("/stars/nowhere", |answer| answer.body["error"]["code"] = (-32603).into())
            }),
            both("an unknown body is not named", "what is not there").by(|| {
                error("/stars/nowhere", |answer| {
                    answer.body["error"]["message"] = "not found".into()
                })
            }),
            both("it is not said where to look", "says where to look").by(|| {
                error("REQ-none/tree", |answer| answer.body["error"]["message"] = "REQ-none".into())
            }),
            both("no universe is found", "ids of universes are completed")
                .by(|| completed("id", |values| *values = json!([]))),
            both("other bodies are found", "ids of bodies are completed")
                .by(|| completed("starId", |values| *values = json!(["b"]))),
        ],
    )
}

fn subscriptions() -> Vec<Mutation> {
    of(
        "subscriptions",
        [
            legacy("anything can be subscribed to", "what does not exist").by(|| {
                error("REQ-none", |answer| {
                    answer.body = json!({"jsonrpc": "2.0", "id": answer.body["id"], "result": {}})
                })
            }),
            legacy("subscribing answers more", "a body can be subscribed to")
                .by(|| result("resources/subscribe", |result| result["subscribed"] = true.into())),
            modern("anything is agreed to", "what exists is agreed to").by(|| {
                frame(|_, frame| match frame {
                    Frame::Event(mut event) => {
                        event.data = event
                            .data
                            .replace("/stars/a\"]", "/stars/a\",\"universe://REQ-none\"]");
                        vec![Frame::Event(event)]
                    }
                    comment => vec![comment],
                })
            }),
            both("ticks are told", "other changes are not told")
                .by(|| also_after(|asked| asked.body["type"] == "tick")),
            both("other bodies are told", "other changes are not told").by(|| {
                also_after(|asked| asked.body["id"] == "b" && asked.body["type"] == "updateStar")
            }),
            both("changes by REST are not told", "by REST is told")
                .by(|| lost(|_, event| is_update(event))),
            both("changes by MCP are not told", "by MCP is told").by(|| changed(2)),
            both("the end is not told", "the end of the universe").by(|| changed(3)),
        ],
    )
}

fn prompts() -> Vec<Mutation> {
    of(
        "prompts",
        [
            both("there is a third prompt", "there are two prompts").by(|| {
                result("prompts/list", |result| {
                    result["prompts"].as_array_mut().unwrap().push(json!({"name": "x"}))
                })
            }),
            both("the argument is optional", "there are two prompts").by(|| {
                result("prompts/list", |result| {
                    result["prompts"][1]["arguments"][0]["required"] = false.into()
                })
            }),
            both("the system is not named", "names the system").by(|| {
                prompt("model_star_system", |messages| {
                    messages[0]["content"]["text"] = "\"type\":\"addStar\"".into()
                })
            }),
            both("no commands are shown", "names the system").by(|| {
                prompt("model_star_system", |messages| {
                    messages[0]["content"]["text"] = "Barnard's Star".into()
                })
            }),
            both("the outline is left out", "embeds the outline").by(|| {
                prompt("explain_universe", |messages| drop(messages.as_array_mut().unwrap().pop()))
            }),
            both("an unknown universe is not named", "a universe that is not there")
                .by(|| error("REQ-none", |answer| answer.body["error"]["message"] = "no".into())),
            both("nothing is completed", "argument is completed")
                .by(|| completed("universe", |values| *values = json!([]))),
        ],
    )
}
