//! Broken resources, subscriptions and prompts.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_conformance::{Frame, SseEvent};
use serde_json::{Value, json};

use super::{
    Answer, Asked, BOTH, Fault, LEGACY, MODERN, Mutation, Overheard, answer, frame, overhear,
    result, row,
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
        let named = params["uri"]
            .as_str()
            .or(params["arguments"]["universe"].as_str());
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

fn is_update(frame: &Frame) -> bool {
    matches!(frame, Frame::Event(event) if event.data.contains("resources/updated"))
}

/// Streams say that the body was updated after a request that fits.
fn also_after(other: fn(&Asked) -> bool) -> Fault {
    overhear(move |stream, request| {
        if !stream.is_listen() || !other(request) {
            return Overheard::Nothing;
        }
        let params = json!({"uri": "universe://u/stars/a"});
        let message = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params});
        Overheard::Says(Frame::Event(SseEvent {
            data: message.to_string(),
            ..SseEvent::default()
        }))
    })
}

/// Of the updates on a stream, the one of this number is told as one of another body.
fn changed(nth: usize) -> Fault {
    let seen = AtomicUsize::new(0);
    frame(move |_, frame| {
        let hit = is_update(&frame) && seen.fetch_add(1, Ordering::Relaxed) + 1 == nth;
        match frame {
            Frame::Event(mut event) if hit => {
                event.data = event.data.replace("/stars/a", "/stars/b");
                vec![Frame::Event(event)]
            }
            frame => vec![frame],
        }
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    let mut table = resources();
    table.extend(subscriptions());
    table.extend(prompts());
    table
}

fn resources() -> Vec<Mutation> {
    let name = "resources";
    vec![
        row(
            name,
            BOTH,
            "a template is missing",
            "each kind of resource",
            || {
                result("resources/templates/list", |result| {
                    drop(result["resourceTemplates"].as_array_mut().unwrap().pop())
                })
            },
        ),
        row(
            name,
            BOTH,
            "the list of universes is not listed",
            "begins with the list",
            || result("resources/list", |result| result["resources"] = json!([])),
        ),
        row(
            name,
            BOTH,
            "the list lacks names",
            "the list of universes tells each",
            || {
                read_json("universe://", |list| {
                    list["universes"]
                        .as_array_mut()
                        .unwrap()
                        .iter_mut()
                        .for_each(|one| one["name"] = "".into())
                })
            },
        ),
        row(
            name,
            BOTH,
            "a state lacks its bodies",
            "a universe is read whole",
            || {
                answer(|asked, answer| {
                    let uri = asked.body["params"]["uri"].as_str().unwrap_or_default();
                    if asked.is_rpc("resources/read")
                        && uri.len() > 12
                        && uri.matches('/').count() == 2
                    {
                        answer.body["result"]["contents"][0]["text"] = "{}".into();
                    }
                })
            },
        ),
        row(
            name,
            BOTH,
            "another body is read",
            "a body is read by its id",
            || read_json("/stars/a", |body| body["id"] = "b".into()),
        ),
        row(
            name,
            BOTH,
            "the outline is JSON",
            "the outline shows",
            || {
                read("/tree", |contents| {
                    contents["mimeType"] = "application/json".into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "the outline is empty",
            "the outline shows",
            || read("/tree", |contents| contents["text"] = "".into()),
        ),
        row(
            name,
            BOTH,
            "the history lacks the events",
            "the history tells",
            || {
                read_json("after=0", |history| {
                    history["entries"][0]["events"] = json!([])
                })
            },
        ),
        row(
            name,
            BOTH,
            "an unknown body has another code",
            "what is not there",
            || {
                error("/stars/nowhere", |answer| {
                    answer.body["error"]["code"] = (-32603).into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "an unknown body is not named",
            "what is not there",
            || {
                error("/stars/nowhere", |answer| {
                    answer.body["error"]["message"] = "not found".into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "it is not said where to look",
            "says where to look",
            || {
                error("REQ-none/tree", |answer| {
                    answer.body["error"]["message"] = "REQ-none".into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "no universe is found",
            "ids of universes are completed",
            || completed("id", |values| *values = json!([])),
        ),
        row(
            name,
            BOTH,
            "other bodies are found",
            "ids of bodies are completed",
            || completed("starId", |values| *values = json!(["b"])),
        ),
    ]
}

fn subscriptions() -> Vec<Mutation> {
    let name = "subscriptions";
    vec![
        row(
            name,
            LEGACY,
            "anything can be subscribed to",
            "what does not exist",
            || {
                error(
                    "REQ-none",
                    |answer| {
                        answer.body =
                            json!({"jsonrpc": "2.0", "id": answer.body["id"], "result": {}})
                    },
                )
            },
        ),
        row(
            name,
            LEGACY,
            "subscribing answers more",
            "a body can be subscribed to",
            || {
                result("resources/subscribe", |result| {
                    result["subscribed"] = true.into()
                })
            },
        ),
        row(
            name,
            MODERN,
            "anything is agreed to",
            "what exists is agreed to",
            || {
                frame(|_, frame| match frame {
                    Frame::Event(mut event) => {
                        event.data = event
                            .data
                            .replace("/stars/a\"]", "/stars/a\",\"universe://REQ-none\"]");
                        vec![Frame::Event(event)]
                    }
                    comment => vec![comment],
                })
            },
        ),
        row(
            name,
            BOTH,
            "ticks are told",
            "other changes are not told",
            || also_after(|asked| asked.body["type"] == "tick"),
        ),
        row(
            name,
            BOTH,
            "other bodies are told",
            "other changes are not told",
            || also_after(|asked| asked.body["id"] == "b" && asked.body["type"] == "updateStar"),
        ),
        row(
            name,
            BOTH,
            "changes by REST are not told",
            "by REST is told",
            || {
                frame(|_, frame| {
                    if is_update(&frame) {
                        vec![]
                    } else {
                        vec![frame]
                    }
                })
            },
        ),
        row(
            name,
            BOTH,
            "changes by MCP are not told",
            "by MCP is told",
            || changed(2),
        ),
        row(
            name,
            BOTH,
            "the end is not told",
            "the end of the universe",
            || changed(3),
        ),
    ]
}

fn prompts() -> Vec<Mutation> {
    let name = "prompts";
    vec![
        row(
            name,
            BOTH,
            "there is a third prompt",
            "there are two prompts",
            || {
                result("prompts/list", |result| {
                    result["prompts"]
                        .as_array_mut()
                        .unwrap()
                        .push(json!({"name": "x"}))
                })
            },
        ),
        row(
            name,
            BOTH,
            "the argument is optional",
            "there are two prompts",
            || {
                result("prompts/list", |result| {
                    result["prompts"][1]["arguments"][0]["required"] = false.into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "the system is not named",
            "names the system",
            || {
                prompt("model_star_system", |messages| {
                    messages[0]["content"]["text"] = "\"type\":\"addStar\"".into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "no commands are shown",
            "names the system",
            || {
                prompt("model_star_system", |messages| {
                    messages[0]["content"]["text"] = "Barnard's Star".into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "the outline is left out",
            "embeds the outline",
            || {
                prompt("explain_universe", |messages| {
                    drop(messages.as_array_mut().unwrap().pop())
                })
            },
        ),
        row(
            name,
            BOTH,
            "an unknown universe is not named",
            "a universe that is not there",
            || {
                error("REQ-none", |answer| {
                    answer.body["error"]["message"] = "no".into()
                })
            },
        ),
        row(
            name,
            BOTH,
            "nothing is completed",
            "argument is completed",
            || completed("universe", |values| *values = json!([])),
        ),
    ]
}
