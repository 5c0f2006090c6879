//! The state of a request that takes several rounds: what it is good for, and what comes back with it.

use std::time::Duration;

use mcp_proto::{Keys, Principal, Questions, StreamableHttpService};
use serde_json::{Value, json};

use crate::asking_common::{
    UNREADABLE, accept, all_capabilities, asker, asking, call, declaring, greet, name_form, raw,
    refused, said, service_of, state_for, thrice, with_config,
};
use crate::common::Reply;

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
        refused(&with(json!(String::from_utf8(bytes).unwrap())).await, UNREADABLE);
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
        Reply { status: head.status, headers: head.headers, body: body.to_bytes() }
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
            refused(&send_as(owner, "tools/call", back(&other)).await, UNREADABLE);
        }
        // The same request in other words.
        let spelt = json!({ "arguments": { "b": 2.0, "a": 1 }, "name": "ask" });
        assert_eq!(said(&send_as(owner, "tools/call", back(&spelt)).await), "Ann");
        let mut meta = declaring(&json!(all_capabilities()));
        meta["progressToken"] = json!("p");
        let traced = back(&asking(&json!({ "_meta": meta })));
        assert_eq!(said(&send_as(owner, "tools/call", traced).await), "Ann");

        for (method, params) in [
            // In the same words as the call of the tool.
            ("prompts/get", asking(&json!({}))),
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
        "params.requestState has expired; send the request again without it",
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
        "params.requestState has been used already; send the request again without it",
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
    assert_eq!(reply.message(), "too many requests were continued of late; try again later");
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
    refused(&call(&serve(&Keys::new([2; 32])), &answers).await, UNREADABLE);

    // A key that was replaced still opens, and is forgotten after three more.
    let service = serve(&keys);
    for key in 2..=4 {
        keys.rotate([key; 32]);
        state_for(&call(&service, &answers).await, &["two"]);
    }
    keys.rotate([5; 32]);
    refused(&call(&service, &answers).await, UNREADABLE);
    let state = state_for(&call(&service, &json!({})).await, &["one"]);
    refused(&call(&restarted, &json!({ "requestState": state })).await, UNREADABLE);
}

#[tokio::test]
async fn what_is_missing_is_asked_again_and_what_is_unknown_is_passed_over() {
    let service = service_of(|context| {
        let questions = Questions::new().elicit("who", name_form()).roots("where");
        let answers = context.ask(&questions)?;
        Ok(json!([answers.elicited("who")?.text("name"), answers.roots("where")?.len()]))
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
    for no_answer in [json!(null), json!([]), json!(42), json!("Ann"), json!({ "action": "ok" })] {
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
