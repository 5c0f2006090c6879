//! Results that need input: what may be asked, what is done with the answers, and the state that clients keep for the
//! server between two rounds.

mod asking;

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use self::asking::{Round, ask, asking, is_complete, is_refused, round};
use super::super::rule::Probe::Asks;
use super::super::rule::{
    Outcome, Rule, Verdict, another_caller, holds_for, holds_if, inapplicable, unclear,
};
use super::{MODERN, MUST, PRACTICE, SHOULD};
use crate::json::put;
use crate::probe::{Bench, Exchange};

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "rounds.undeclared",
        level: MUST,
        section: "2026-07-28, Multi round-trip requests, Server requirements",
        title: "The server requests only input that the client declares to support",
        fix: "check the client's capabilities in _meta of each request, and refuse with −32021 a call that needs others",
        scope: MODERN,
        probe: Asks(|bench| undeclared(bench).boxed()),
    },
    Rule {
        id: "rounds.missing-answers",
        level: SHOULD,
        section: "2026-07-28, Multi round-trip requests, Error handling",
        title: "A call that is repeated without the answers is not refused: the server asks again",
        fix: "return the result that needs input again",
        scope: MODERN,
        probe: Asks(|bench| missing_answers(bench).boxed()),
    },
    Rule {
        id: "rounds.malformed-answers",
        level: SHOULD,
        section: "2026-07-28, Multi round-trip requests, Error handling",
        title: "A call whose answers are numbers instead of objects is not completed",
        fix: "check inputResponses, and refuse with −32602 values that are not answers",
        scope: MODERN,
        probe: Asks(|bench| malformed_answers(bench).boxed()),
    },
    Rule {
        id: "rounds.unknown-answers",
        level: SHOULD,
        section: "2026-07-28, Multi round-trip requests, Error handling",
        title: "An answer to a question that was not asked is ignored",
        fix: "ignore unknown members of inputResponses",
        scope: MODERN,
        probe: Asks(|bench| unknown_answers(bench).boxed()),
    },
    Rule {
        id: "rounds.altered-state",
        level: SHOULD,
        section: "2026-07-28, Multi round-trip requests, Server requirements (a MUST where the state decides anything)",
        title: "A call that is repeated with an altered requestState is not completed",
        fix: "sign the state, for instance with an HMAC, and refuse with −32602 a state that is not yours",
        scope: MODERN,
        probe: Asks(|bench| altered_state(bench).boxed()),
    },
    Rule {
        id: "rounds.state-of-another-tool",
        level: SHOULD,
        section: "2026-07-28, Multi round-trip requests, Server requirements",
        title: "A call that is repeated with the requestState of another tool is not completed",
        fix: "bind the state to its request, and refuse with −32602 the state of another request",
        scope: MODERN,
        probe: Asks(|bench| state_of_another_tool(bench).boxed()),
    },
    Rule {
        id: "rounds.state-of-another-caller",
        level: SHOULD,
        section: "2026-07-28, Multi round-trip requests, Server requirements",
        title: "A call that is repeated with the requestState of another caller is not completed",
        fix: "bind the state to its caller, and refuse with −32602 the state of another caller",
        scope: MODERN,
        probe: Asks(|bench| state_of_another_caller(bench).boxed()),
    },
    Rule {
        id: "rounds.state-twice",
        level: PRACTICE,
        section: "2026-07-28, Multi round-trip requests, Server requirements (a MUST where it must be used once)",
        title: "If a tool is not idempotent, a requestState completes only one call",
        fix: "remember which states were used until they expire, or annotate the tool with idempotentHint",
        scope: MODERN,
        probe: Asks(|bench| state_twice(bench).boxed()),
    },
];

fn no_state() -> Verdict {
    inapplicable("no tool that may be called needs input and returns a requestState".to_owned())
}

fn was_completed(tool: &str, exchange: &Exchange) -> Outcome {
    let seen = format!("{tool}: the call was completed");
    holds_if(!is_complete(exchange), seen, exchange)
}

async fn undeclared(bench: &mut Bench) -> Outcome {
    let tools = asking(bench).await?;
    for tool in tools {
        for capabilities in [
            json!({}),
            json!({"sampling": {}}),
            json!({"elicitation": {"form": {}}}),
            json!({"roots": {}}),
        ] {
            let exchange = ask(bench, &tool, &capabilities, json!({})).await;
            let Some(round) = Round::of(&tool, &exchange) else {
                continue;
            };
            let mut asked = round.requests.iter().map(|(_, request)| needed(request));
            let more = asked.find(|it| capabilities.pointer(it).is_none());
            let needed = more.unwrap_or_default().trim_start_matches('/').replace('/', ".");
            let seen = format!(
                "{tool} requests input that needs {needed}; the client declares {capabilities}"
            );
            holds_if(more.is_none(), seen, &exchange)?;
        }
    }
    Ok(())
}

/// The capability that a client needs to answer a request.
fn needed(request: &Value) -> &'static str {
    let is_by_url = request.pointer("/params/mode") == Some(&json!("url"));
    match request.get("method").and_then(Value::as_str) {
        Some("elicitation/create") if is_by_url => "/elicitation/url",
        Some("elicitation/create") => "/elicitation",
        Some("sampling/createMessage") => "/sampling",
        // What is not one of the three is a misfit of its schema.
        Some("roots/list") => "/roots",
        _ => "",
    }
}

/// The first round of the first tool that asks something.
async fn first(bench: &mut Bench) -> Result<Round, Verdict> {
    for tool in asking(bench).await? {
        let round = round(bench, &tool).await;
        if let Some(round) = round.filter(|it| !it.requests.is_empty()) {
            return Ok(round);
        }
    }
    Err(inapplicable("no tool that may be called asks the client for anything"))
}

async fn missing_answers(bench: &mut Bench) -> Outcome {
    let round = first(bench).await?;
    let exchange = round.again(bench, json!({})).await;
    holds_for(!is_refused(&exchange), round.tool, &exchange)
}

async fn malformed_answers(bench: &mut Bench) -> Outcome {
    let round = first(bench).await?;
    let numbers = round.answers_by(|_| json!(42));
    let exchange = round.again(bench, numbers).await;
    was_completed(&round.tool, &exchange)
}

async fn unknown_answers(bench: &mut Bench) -> Outcome {
    let good = first(bench).await?;
    let taken = good.again(bench, good.answers()).await;
    if is_refused(&taken) {
        return Err(unclear(format!("{} refuses the test's answers", good.tool)));
    }
    let round = round(bench, &good.tool)
        .await
        .ok_or_else(|| unclear(format!("{} does not ask again", good.tool)))?;
    let mut answers = round.answers();
    let more = json!({"action": "accept", "content": {}});
    put(&mut answers, "not-asked-by-this-server", more);
    let exchange = round.again(bench, answers).await;
    holds_for(!is_refused(&exchange), round.tool, &exchange)
}

/// The first rounds of all tools that give a state.
async fn states(bench: &mut Bench) -> Result<Vec<(Round, String)>, Verdict> {
    let mut found = Vec::new();
    for tool in asking(bench).await? {
        let round = round(bench, &tool).await;
        found.extend(round.and_then(|it| Some((it.clone(), it.state?))));
    }
    if found.is_empty() { Err(no_state()) } else { Ok(found) }
}

async fn altered_state(bench: &mut Bench) -> Outcome {
    let states = states(bench).await?;
    for (round, state) in states {
        let Some(altered) = altered(&state) else {
            continue;
        };
        let exchange = round.with(altered).again(bench, round.answers()).await;
        return was_completed(&round.tool, &exchange);
    }
    Err(no_state())
}

/// The state with another letter or digit in its middle: not at its end, where base64 has unused bits.
fn altered(state: &str) -> Option<String> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric();
    let mut bytes = state.as_bytes().to_vec();
    let middle = bytes.len() / 2;
    let index = (middle..bytes.len())
        .chain((0..middle).rev())
        .find(|index| bytes.get(*index).is_some_and(plain))?;
    let byte = bytes.get_mut(index)?;
    *byte = if *byte == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).ok()
}

async fn state_of_another_tool(bench: &mut Bench) -> Outcome {
    let states = states(bench).await?;
    let [(one, _), (_, of_another), ..] = states.as_slice() else {
        return Err(inapplicable("only one tool returns a requestState"));
    };
    let exchange = one.with(of_another.clone()).again(bench, one.answers()).await;
    was_completed(&one.tool, &exchange)
}

async fn state_of_another_caller(bench: &mut Bench) -> Outcome {
    let mut other = another_caller(bench).await?;
    let states = states(bench).await?;
    let (round, _) = states.first().ok_or_else(no_state)?;
    let exchange = round.again(&mut other, round.answers()).await;
    other.end().await;
    was_completed(&round.tool, &exchange)
}

async fn state_twice(bench: &mut Bench) -> Outcome {
    let states = states(bench).await?;
    for (round, _) in states {
        let tools = bench.items("tools/list");
        let tool = tools.iter().find(|it| it.get("name") == Some(&json!(round.tool)));
        let hint = |name: &str| {
            let hint = tool.and_then(|it| it.get("annotations")?.get(name)?.as_bool());
            hint == Some(true)
        };
        if hint("readOnlyHint") || hint("idempotentHint") || round.requests.is_empty() {
            continue;
        }
        if !is_complete(&round.again(bench, round.answers()).await) {
            continue;
        }
        let exchange = round.again(bench, round.answers()).await;
        return was_completed(&round.tool, &exchange);
    }
    Err(inapplicable(
        "no call was completed with a requestState, except of idempotent tools; allow another tool with --call"
            .to_owned(),
    ))
}
