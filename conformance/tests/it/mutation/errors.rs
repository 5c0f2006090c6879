//! Broken errors: REQ-MCP-14 to 16.

use std::sync::atomic::{AtomicBool, Ordering};

use mcp_conformance::Frame;
use serde_json::json;

use super::{Answer, BOTH, Mutation, answer, command_event, frame, instead, restate, row};

/// Tool results that are errors are changed.
fn errors(tool: &'static str, change: fn(&mut serde_json::Value)) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is_call(tool) && answer.body["result"]["isError"] == true {
            change(&mut answer.body["result"]);
        }
    })
}

/// Tool errors become errors of JSON-RPC.
fn thrown(tool: &'static str) -> super::Fault {
    answer(move |asked, answer| {
        if asked.is_call(tool) && answer.body["result"]["isError"] == true {
            let error = json!({"code": -32603, "message": "universe not found: u-missing"});
            answer.body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "error": error});
        }
    })
}

/// After the first request of this kind, every request that fits is answered 500, as by a server that has crashed.
fn dies_after(trigger: fn(&super::Asked) -> bool, fits: fn(&super::Asked) -> bool) -> super::Fault {
    let dead = AtomicBool::new(false);
    instead(move |asked| {
        let was_dead = dead.fetch_or(trigger(asked), Ordering::Relaxed);
        (was_dead && fits(asked)).then(|| Answer::new(500, json!({"error": "crashed"})))
    })
}

fn fails(asked: &super::Asked) -> bool {
    asked.body["params"]["arguments"]["command"]["dt"] == 666
}

fn unmarked(result: &mut serde_json::Value) {
    result["isError"] = false.into();
}

fn anonymous(result: &mut serde_json::Value) {
    restate(result, |said| {
        said["error"]["message"] = "universe not found".into()
    });
}

pub(crate) fn table() -> Vec<Mutation> {
    let mut table = vec![
        row(
            "REQ-MCP-14",
            BOTH,
            "a missing universe is a success",
            "get_universe_state: isError",
            || errors("get_universe_state", unmarked),
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "a missing universe is an error of the protocol",
            "get_universe_state: isError",
            || thrown("get_universe_state"),
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "the message does not say what is wrong",
            "get_universe_state: isError",
            || {
                errors("get_universe_state", |result| {
                    restate(result, |said| {
                        said["error"]["message"] = "error with u-missing".into()
                    });
                })
            },
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "the code is another",
            "send_universe_command: the same",
            || {
                errors("send_universe_command", |result| {
                    restate(result, |said| said["error"]["code"] = "INTERNAL".into())
                })
            },
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "commands to a missing universe succeed",
            "send_universe_command: the same",
            || errors("send_universe_command", unmarked),
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "a missing universe has a listing",
            "list_universe_commands: the same",
            || errors("list_universe_commands", unmarked),
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "a command creates its universe",
            "did not create it",
            || {
                instead(|asked| {
                    asked
                        .is("GET", "/universes/u-missing")
                        .then(|| Answer::new(200, json!({"id": "u-missing"})))
                })
            },
        ),
        row(
            "REQ-MCP-14",
            BOTH,
            "deleted universes live on",
            "a deleted universe",
            || {
                errors("get_universe_state", |result| {
                    if !result["content"][0]["text"]
                        .as_str()
                        .unwrap()
                        .contains("u-missing")
                    {
                        unmarked(result);
                    }
                })
            },
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a broken command is answered 500",
            "without id and payload",
            || {
                instead(|asked| {
                    let broken = asked.body["params"]["arguments"]["command"]["type"] == "addStar";
                    broken.then(|| Answer::new(500, json!({"error": "internal server error"})))
                })
            },
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a broken command is a success",
            "without its snapshot",
            || unmarked_if(|command| command["type"] == "replaceSnapshot"),
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a broken command has no message",
            "without its map",
            || {
                answer(|asked, answer| {
                    if asked.body["params"]["arguments"]["command"]["type"] == "setNebulae" {
                        answer.body["result"]["content"][0]["text"] = "Error".into();
                    }
                })
            },
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a dt of text is taken",
            "a dt that is no number",
            || unmarked_if(|command| command["dt"].is_string()),
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "an unknown type is taken",
            "an unknown type",
            || unmarked_if(|command| command["type"] == "noSuchCommand"),
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a broken command changes the state",
            "none of them changed",
            || {
                answer(|asked, answer| {
                    if asked.is("GET", "/universes/*") {
                        answer.body["state"]["time"] = json!(null);
                    }
                })
            },
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a broken command stops commands",
            "the server remains operational",
            || {
                dies_after(
                    |asked| asked.body["params"]["arguments"]["command"]["type"] == "noSuchCommand",
                    |asked| asked.body["params"]["arguments"]["command"]["type"] == "tick",
                )
            },
        ),
        row(
            "REQ-MCP-15",
            BOTH,
            "a broken command stops the server",
            "for every tool",
            || {
                dies_after(
                    |asked| asked.body["params"]["arguments"]["command"]["type"] == "noSuchCommand",
                    |asked| asked.is_call("get_universe_state"),
                )
            },
        ),
        row(
            "REQ-MCP-16",
            BOTH,
            "get_universe_state names no universe",
            "get_universe_state names u-42",
            || errors("get_universe_state", anonymous),
        ),
        row(
            "REQ-MCP-16",
            BOTH,
            "list_universe_commands names no universe",
            "list_universe_commands names u-42",
            || errors("list_universe_commands", anonymous),
        ),
        row(
            "REQ-MCP-16",
            BOTH,
            "send_universe_command names no universe",
            "send_universe_command names u-42",
            || errors("send_universe_command", anonymous),
        ),
        row(
            "REQ-MCP-16",
            BOTH,
            "a refusal names no universe",
            "of a refusal names",
            || {
                errors("send_universe_command", |result| {
                    if !result["content"][0]["text"]
                        .as_str()
                        .unwrap()
                        .contains("u-42")
                    {
                        result["content"][0]["text"] = "starNotFound: nowhere".into();
                    }
                })
            },
        ),
    ];
    table.extend(failures("REQ-MCP-15-store"));
    table.extend(failures("REQ-MCP-15-reducer"));
    table.extend([
        row(
            "REQ-MCP-15-store",
            BOTH,
            "the failure names no universe",
            "becomes isError",
            || {
                errors("send_universe_command", |result| {
                    restate(result, |said| said["error"]["message"] = "it failed".into())
                })
            },
        ),
        row(
            "REQ-MCP-15-reducer",
            BOTH,
            "the failure tells internals",
            "becomes isError",
            || {
                errors("send_universe_command", |result| {
                    restate(result, |said| {
                        said["error"]["message"] = "panicked at src/reduce.rs:7".into()
                    });
                })
            },
        ),
    ]);
    table
}

/// What may go wrong when the store or the reducer fails.
fn failures(transcript: &'static str) -> [Mutation; 11] {
    [
        row(
            transcript,
            BOTH,
            "commands fail from the start",
            "before the failure",
            errors_of_ticks,
        ),
        row(
            transcript,
            BOTH,
            "the failure is a success",
            "becomes isError",
            || errors("send_universe_command", unmarked),
        ),
        row(
            transcript,
            BOTH,
            "the failure is an error of the protocol",
            "becomes isError",
            || thrown("send_universe_command"),
        ),
        row(
            transcript,
            BOTH,
            "the failure has no message",
            "becomes isError",
            || {
                errors("send_universe_command", |result| {
                    restate(result, |said| said["error"]["message"] = "".into())
                })
            },
        ),
        row(
            transcript,
            BOTH,
            "a failed command is persisted",
            "changes nothing",
            || {
                answer(|asked, answer| {
                    if asked.is("GET", "/universes/*") {
                        answer.body["state"]["time"] = 667.into();
                    }
                })
            },
        ),
        row(
            transcript,
            BOTH,
            "the failure stops commands",
            "operational for the next command",
            || {
                dies_after(fails, |asked| {
                    asked.body["params"]["arguments"]["command"]["dt"] == 2
                })
            },
        ),
        row(
            transcript,
            BOTH,
            "a failed command is broadcast",
            "was not broadcast",
            || {
                frame(|_, frame| match &frame {
                    Frame::Event(event) if event.data.contains("\"dt\":2") => {
                        vec![command_event(&json!({"type": "tick", "dt": 666})), frame]
                    }
                    _ => vec![frame],
                })
            },
        ),
        row(
            transcript,
            BOTH,
            "the failure stops reading",
            "for the other tools",
            || dies_after(fails, |asked| asked.is_call("get_universe_state")),
        ),
        row(
            transcript,
            BOTH,
            "the failure stops the list of tools",
            "for the list of tools",
            || dies_after(fails, |asked| asked.is_rpc("tools/list")),
        ),
        row(
            transcript,
            BOTH,
            "the second failure is a success",
            "again and again",
            || {
                let failed = AtomicBool::new(false);
                answer(move |asked, answer| {
                    if fails(asked) && failed.swap(true, Ordering::Relaxed) {
                        unmarked(&mut answer.body["result"]);
                    }
                })
            },
        ),
        row(
            transcript,
            BOTH,
            "the server dies of several failures",
            "new clients are served",
            || {
                let gets = std::sync::atomic::AtomicUsize::new(0);
                instead(move |asked| {
                    let get = asked.is_call("get_universe_state");
                    (get && gets.fetch_add(1, Ordering::Relaxed) == 1)
                        .then(|| Answer::new(500, json!({})))
                })
            },
        ),
    ]
}

/// Every tick that ought to succeed is marked as an error.
fn errors_of_ticks() -> super::Fault {
    super::tool("send_universe_command", |result| {
        result["isError"] = true.into()
    })
}

fn unmarked_if(fits: fn(&serde_json::Value) -> bool) -> super::Fault {
    answer(move |asked, answer| {
        if fits(&asked.body["params"]["arguments"]["command"]) {
            unmarked(&mut answer.body["result"]);
        }
    })
}
