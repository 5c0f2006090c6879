//! A server whose tools ask the client, and what can be wrong with it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::{Mutant, modern, named};
use crate::mutation::{Answer, Fault, SentRequest, instead};

const UNDECLARED: &str = "rounds.undeclared";
const MISSING: &str = "rounds.missing-answers";
const MALFORMED: &str = "rounds.malformed-answers";
const UNKNOWN: &str = "rounds.unknown-answers";
const ALTERED: &str = "rounds.altered-state";
const OF_ANOTHER_TOOL: &str = "rounds.state-of-another-tool";
const OF_ANOTHER_CALLER: &str = "rounds.state-of-another-caller";
const TWICE: &str = "rounds.state-twice";
/// No flaw: what is refused is refused by a result that is an error of the tool.
pub(crate) const BY_RESULT: &str = "by result";

pub(super) fn rounds() -> Vec<Mutant> {
    let flaws = [
        UNDECLARED,
        MISSING,
        MALFORMED,
        UNKNOWN,
        ALTERED,
        OF_ANOTHER_TOOL,
        OF_ANOTHER_CALLER,
        TWICE,
    ];
    flaws.map(|flaw| modern(flaw, asking(flaw))).into()
}

/// Whose a state is: the tool and the caller.
type Owner = (Value, String);

/// Both tools ask who calls, and keep every rule but this one.
pub(crate) fn asking(flaw: &'static str) -> Fault {
    let given = Mutex::new(BTreeMap::<String, Owner>::new());
    instead(move |asked| {
        if !asked.is_call("look") && !asked.is_call("write") {
            return None;
        }
        let meta = &asked.body["params"]["_meta"];
        let capabilities = &meta["io.modelcontextprotocol/clientCapabilities"];
        if flaw != UNDECLARED && capabilities["elicitation"].is_null() {
            return None;
        }
        let mut given = given.lock().unwrap();
        Some(answer(asked, flaw, &mut given))
    })
}

fn answer(asked: &SentRequest, flaw: &str, given: &mut BTreeMap<String, Owner>) -> Answer {
    let params = &asked.body["params"];
    let caller = asked.headers.get("authorization");
    let caller = caller.map_or("", |it| it.to_str().unwrap()).to_owned();
    let own = (params["name"].clone(), caller);
    let Some(state) = params["requestState"].as_str() else {
        let state = format!("state-{}", given.len());
        given.insert(state.clone(), own);
        return question(asked, &state);
    };
    let is_own = match given.get(state) {
        None => flaw == ALTERED && !given.contains_key(&used(state)),
        Some((tool, caller)) => {
            (tool == &own.0 || flaw == OF_ANOTHER_TOOL)
                && (caller == &own.1 || flaw == OF_ANOTHER_CALLER)
        }
    };
    let answers = params["inputResponses"].as_object().unwrap();
    let has_more = answers.keys().any(|key| key != "who");
    let is_malformed = answers.values().any(|it| !it.is_object());
    if !is_own || is_malformed && flaw != MALFORMED || has_more && flaw == UNKNOWN {
        return match flaw {
            BY_RESULT => failure(asked),
            _ => refusal(asked),
        };
    }
    if answers.is_empty() {
        return match flaw {
            MISSING => refusal(asked),
            _ => question(asked, state),
        };
    }
    if flaw != TWICE
        && let Some(owner) = given.remove(state)
    {
        // The number of states stays, so that none comes twice.
        given.insert(used(state), owner);
    }
    result(asked, json!({"resultType": "complete", "content": []}))
}

/// What a state that was used is called.
fn used(state: &str) -> String {
    format!("{state} was used")
}

fn question(asked: &SentRequest, state: &str) -> Answer {
    let question = json!({"method": "elicitation/create", "params": {
        "mode": "form", "message": "Who?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    }});
    let asks = json!({"resultType": "input_required", "inputRequests": {"who": question},
        "requestState": state});
    result(asked, asks)
}

fn result(asked: &SentRequest, mut result: Value) -> Answer {
    result["_meta"] = named();
    asked.answered(result)
}

fn failure(asked: &SentRequest) -> Answer {
    let content = json!([{"type": "text", "text": "no"}]);
    let failed = json!({"resultType": "complete", "content": content, "isError": true});
    result(asked, failed)
}

fn refusal(asked: &SentRequest) -> Answer {
    asked.refused(200, -32602)
}
