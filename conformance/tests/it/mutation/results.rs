//! Broken results of reading tools: REQ-MCP-6 and 7. Also what the tables of results share.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{Mutation, answer, both, of, said, tool};

pub(super) const GET: &str = "get_universe_state";
pub(super) const LIST: &str = "list_universe_commands";
pub(super) const SEND: &str = "send_universe_command";

/// What this tool says changes as text only.
pub(super) fn texts(name: &'static str, change: fn(&str) -> String) -> super::Fault {
    tool(name, move |result| {
        let text = result["content"][0]["text"].as_str().unwrap();
        result["content"][0]["text"] = change(text).into();
    })
}

/// The n-th result of a tool (counted from 1) and all after it are changed.
pub(super) fn from_nth(name: &'static str, nth: usize, change: fn(&mut Value)) -> super::Fault {
    let count = AtomicUsize::new(0);
    tool(name, move |result| {
        if count.fetch_add(1, Ordering::Relaxed) + 1 >= nth {
            change(result);
        }
    })
}

/// A record read by REST is changed.
pub(super) fn persisted(change: fn(&mut Value)) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is("GET", "/universes/*") {
            change(&mut answer.body["state"]);
        }
    })
}

/// The answer of REST to a command is changed.
pub(super) fn by_rest(change: fn(&super::SentRequest, &mut super::Answer)) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is("POST", "/universes/*") {
            change(asked, answer);
        }
    })
}

pub(super) fn remove(value: &mut Value, member: &str) {
    value.as_object_mut().unwrap().remove(member);
}

/// Errors are not marked.
pub(super) fn unmarked(result: &mut Value) {
    remove(result, "isError");
}

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-06",
            [
                both("the state is of another universe", "of the universe asked for")
                    .by(|| said(GET, |state| state["time"] = 0.into())),
                both("a member of the state is missing", "of the universe asked for")
                    .by(|| said(GET, |state| remove(state, "belts"))),
                both("the record is told instead of the state", "of the universe asked for")
                    .by(|| said(GET, |state| *state = json!({"id": "u", "state": state.take()}))),
                both("structuredContent differs from the text", "of the universe asked for")
                    .by(|| tool(GET, |result| result["structuredContent"]["time"] = 1.into())),
                both("all universes are told alike", "of no other").by(|| {
                    from_nth(GET, 2, |result| {
                        super::restate(result, |state| state["time"] = 42.5.into())
                    })
                }),
                both("the state is cached", "includes the three stars").by(|| {
                    from_nth(GET, 3, |result| {
                        super::restate(result, |state| state["stars"] = json!({}))
                    })
                }),
                both("persistence lacks a star", "what persistence holds")
                    .by(|| persisted(|state| drop(state["rootIds"].as_array_mut().unwrap().pop()))),
            ],
        ),
        of(
            "REQ-MCP-07",
            [
                both("a category is missing", "all ten categories")
                    .by(|| texts(LIST, |text| text.replace("\"Nebulae\"", "\"Clouds\""))),
                both("a command is missing", "all ten categories")
                    .by(|| texts(LIST, |text| text.replace("\"removeRing\"", "\"ring\""))),
                both("a command stands in the wrong category", "all ten categories").by(|| {
                    texts(LIST, |text| {
                        let swapped = text
                            .replace("\"tick\"", "\"?\"")
                            .replace("\"replaceSnapshot\"", "\"tick\"");
                        swapped.replace("\"?\"", "\"replaceSnapshot\"")
                    })
                }),
                both("the listing depends on the universe", "a universe with another state")
                    .by(|| from_nth(LIST, 2, |result| result["content"][0]["text"] = "{}".into())),
                both("the listing changes with the state", "after the state has changed").by(
                    || {
                        from_nth(LIST, 3, |result| {
                            let text = result["content"][0]["text"].as_str().unwrap();
                            result["content"][0]["text"] = format!("{text} ").into();
                        })
                    },
                ),
            ],
        ),
    ]
    .concat()
}
