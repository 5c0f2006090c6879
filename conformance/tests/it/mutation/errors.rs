//! Broken errors: REQ-MCP-14 to 16.

use std::sync::atomic::{AtomicBool, Ordering};

use mcp_conformance::Frame;
use serde_json::{Value, json};

use super::results::persisted;
use super::{
    Answer, Fault, Mutation, SentRequest, answer, answer_to, both, command_event, frame, instead,
    of, restate,
};

/// Tool results that are errors are changed.
fn errors(tool: &'static str, change: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    answer(move |asked, answer| {
        if asked.is_call(tool) && answer.body["result"]["isError"] == true {
            change(&mut answer.body["result"]);
        }
    })
}

/// Tool errors become errors of JSON-RPC.
fn thrown(tool: &'static str) -> Fault {
    answer(move |asked, answer| {
        if asked.is_call(tool) && answer.body["result"]["isError"] == true {
            let error = json!({"code": -32603, "message": "universe not found: u-missing"});
            answer.body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
        }
    })
}

/// After the first request of this kind, every request that fits is answered 500, as by a server that has crashed.
fn dies_after(trigger: fn(&SentRequest) -> bool, fits: fn(&SentRequest) -> bool) -> Fault {
    let dead = AtomicBool::new(false);
    instead(move |asked| {
        let was_dead = dead.fetch_or(trigger(asked), Ordering::Relaxed);
        (was_dead && fits(asked)).then(|| Answer::new(500, json!({"error": "crashed"})))
    })
}

fn fails(asked: &SentRequest) -> bool {
    command(asked)["dt"] == 666
}

/// The command that is sent, else null.
fn command(asked: &SentRequest) -> &Value {
    &asked.body["params"]["arguments"]["command"]
}

fn unmarked(result: &mut Value) {
    result["isError"] = false.into();
}

/// What tool errors say of themselves is changed.
fn restated(tool: &'static str, member: &'static str, text: &'static str) -> Fault {
    errors(tool, move |result| {
        restate(result, |said| said["error"][member] = text.into());
    })
}

pub(crate) fn table() -> Vec<Mutation> {
    [
        of(
            "REQ-MCP-14",
            [
                both("a missing universe is a success", "get_universe_state: isError")
                    .by(|| errors("get_universe_state", unmarked)),
                both(
                    "a missing universe is an error of the protocol",
                    "get_universe_state: isError",
                )
                .by(|| thrown("get_universe_state")),
                both("the message does not say what is wrong", "get_universe_state: isError")
                    .by(|| restated("get_universe_state", "message", "error with u-missing")),
                both("the code is another", "send_universe_command: the same")
                    .by(|| restated("send_universe_command", "code", "INTERNAL")),
                both("commands to a missing universe succeed", "send_universe_command: the same")
                    .by(|| errors("send_universe_command", unmarked)),
                both("a missing universe has a listing", "list_universe_commands: the same")
                    .by(|| errors("list_universe_commands", unmarked)),
                both("a command creates its universe", "did not create it").by(|| {
                    instead(|asked| {
                        asked
                            .is("GET", "/universes/u-missing")
                            .then(|| Answer::new(200, json!({"id": "u-missing"})))
                    })
                }),
                both("deleted universes live on", "a deleted universe").by(|| {
                    errors("get_universe_state", |result| {
                        if !text(result).contains("u-missing") {
                            unmarked(result);
                        }
                    })
                }),
            ],
        ),
        of(
            "REQ-MCP-15",
            [
                both("a broken command is answered 500", "without id and payload").by(|| {
                    instead(|asked| {
                        let broken = command(asked)["type"] == "addStar";
                        broken.then(|| Answer::new(500, json!({"error": "internal server error"})))
                    })
                }),
                both("a broken command is a success", "without its snapshot")
                    .by(|| unmarked_if(|command| command["type"] == "replaceSnapshot")),
                both("a broken command has no message", "without its map").by(|| {
                    answer_to(
                        |asked| command(asked)["type"] == "setNebulae",
                        |answer| answer.body["result"]["content"][0]["text"] = "Error".into(),
                    )
                }),
                both("a dt of text is taken", "a dt that is no number")
                    .by(|| unmarked_if(|command| command["dt"].is_string())),
                both("an unknown type is taken", "an unknown type")
                    .by(|| unmarked_if(|command| command["type"] == "noSuchCommand")),
                both("a broken command changes the state", "none of them changed")
                    .by(|| persisted(|state| state["time"] = json!(null))),
                both("a broken command stops commands", "the server remains operational").by(
                    || {
                        dies_after(
                            |asked| command(asked)["type"] == "noSuchCommand",
                            |asked| command(asked)["type"] == "tick",
                        )
                    },
                ),
                both("a broken command stops the server", "for every tool").by(|| {
                    dies_after(
                        |asked| command(asked)["type"] == "noSuchCommand",
                        |asked| asked.is_call("get_universe_state"),
                    )
                }),
            ],
        ),
        of(
            "REQ-MCP-16",
            [
                both("get_universe_state names no universe", "get_universe_state names u-42")
                    .by(|| restated("get_universe_state", "message", "universe not found")),
                both(
                    "list_universe_commands names no universe",
                    "list_universe_commands names u-42",
                )
                .by(|| restated("list_universe_commands", "message", "universe not found")),
                both("send_universe_command names no universe", "send_universe_command names u-42")
                    .by(|| restated("send_universe_command", "message", "universe not found")),
                both("a refusal names no universe", "of a refusal names").by(|| {
                    errors("send_universe_command", |result| {
                        if !text(result).contains("u-42") {
                            result["content"][0]["text"] = "starNotFound: nowhere".into();
                        }
                    })
                }),
            ],
        ),
        failures("REQ-MCP-15-store"),
        failures("REQ-MCP-15-reducer"),
        of(
            "REQ-MCP-15-store",
            [both("the failure names no universe", "becomes isError")
                .by(|| restated("send_universe_command", "message", "it failed"))],
        ),
        of(
            "REQ-MCP-15-reducer",
            [both("the failure tells internals", "becomes isError").by(|| {
                restated("send_universe_command", "message", "panicked at src/reduce.rs:7")
            })],
        ),
    ]
    .concat()
}

/// What may go wrong when the store or the reducer fails.
fn failures(transcript: &'static str) -> Vec<Mutation> {
    of(
        transcript,
        [
            both("commands fail from the start", "before the failure").by(errors_of_ticks),
            both("the failure is a success", "becomes isError")
                .by(|| errors("send_universe_command", unmarked)),
            both("the failure is an error of the protocol", "becomes isError")
                .by(|| thrown("send_universe_command")),
            both("the failure has no message", "becomes isError")
                .by(|| restated("send_universe_command", "message", "")),
            both("a failed command is persisted", "changes nothing")
                .by(|| persisted(|state| state["time"] = 667.into())),
            both("the failure stops commands", "operational for the next command")
                .by(|| dies_after(fails, |asked| command(asked)["dt"] == 2)),
            both("a failed command is broadcast", "was not broadcast").by(|| {
                frame(|_, frame| match &frame {
                    Frame::Event(event) if event.data.contains("\"dt\":2") => {
                        vec![command_event(&json!({"type": "tick", "dt": 666})), frame]
                    }
                    _ => vec![frame],
                })
            }),
            both("the failure stops reading", "for the other tools")
                .by(|| dies_after(fails, |asked| asked.is_call("get_universe_state"))),
            both("the failure stops the list of tools", "for the list of tools")
                .by(|| dies_after(fails, |asked| asked.is_rpc("tools/list"))),
            both("the second failure is a success", "again and again").by(|| {
                let failed = AtomicBool::new(false);
                answer(move |asked, answer| {
                    if fails(asked) && failed.swap(true, Ordering::Relaxed) {
                        unmarked(&mut answer.body["result"]);
                    }
                })
            }),
            both("the server dies of several failures", "new clients are served").by(|| {
                let gets = std::sync::atomic::AtomicUsize::new(0);
                instead(move |asked| {
                    let get = asked.is_call("get_universe_state");
                    (get && gets.fetch_add(1, Ordering::Relaxed) == 1)
                        .then(|| Answer::new(500, json!({})))
                })
            }),
        ],
    )
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// Every tick that ought to succeed is marked as an error.
fn errors_of_ticks() -> Fault {
    super::tool("send_universe_command", |result| result["isError"] = true.into())
}

fn unmarked_if(fits: fn(&Value) -> bool) -> Fault {
    answer(move |asked, answer| {
        if fits(command(asked)) {
            unmarked(&mut answer.body["result"]);
        }
    })
}
