//! The client's side of being asked: what its callback gets, what is sent back, and when it gives up.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::jsonrpc::{ErrorObject, Request};
use mcp_proto::{Era, InputConfig, Questions};
use mcp_proto_client::{Client, ClientConfig, ClientError};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::asking_common::{all_capabilities, answer_to, asker, greet, name_form};
use crate::client::{answer, scripted};
use crate::common::{PATIENCE, Served};

/// A client that can do everything and answers by itself.
fn config(era: Era) -> ClientConfig {
    let mut config =
        ClientConfig::new(era).with_answers(async |question: Request| answer_to(&question));
    config.capabilities = all_capabilities();
    config
}

/// What a modern client makes of these results, one after the other, and the params of its requests.
async fn against(results: Vec<Value>) -> (Result<Value, ClientError>, Vec<Value>) {
    let answers = (1..).zip(results).map(|(id, result)| {
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        answer("200 OK", "application/json", &body.to_string())
    });
    let (url, script) = scripted(answers.collect()).await;
    let client = Client::http(&url, config(Era::Modern)).await.unwrap();
    let result = client.call_tool_raw("ask", json!({ "a": 1 })).await;
    if result.is_err() {
        script.abort();
        return (result, Vec::new());
    }
    let requests = script.await.unwrap().into_iter().enumerate().map(|(index, request)| {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let mut request: Value = serde_json::from_str(body).unwrap();
        // A retry is a request of its own.
        assert_eq!(request["id"], index + 1);
        assert_eq!(request["method"], "tools/call");
        request["params"].take()
    });
    (result, requests.collect())
}

#[tokio::test]
async fn answers_and_state_go_back_as_they_came_and_no_further() {
    let form = json!({ "method": "elicitation/create", "params": { "message": "?", "requestedSchema": {} } });
    let state = " =?{\"nicht\":\"ä\"}\u{0}/+ ";
    let (result, params) = against(vec![
        json!({ "resultType": "input_required", "requestState": state, "inputRequests": {
            "q 1": form, "roots": { "method": "roots/list" },
        } }),
        json!({ "resultType": "input_required", "inputRequests": { "next": form } }),
        // State alone: nothing to ask, so again at once.
        json!({ "resultType": "input_required", "requestState": "" }),
        json!({ "resultType": "complete", "n": 1 }),
    ])
    .await;
    assert_eq!(result.unwrap()["n"], 1);
    let accepted = json!({ "action": "accept", "content": { "name": "Ann" } });
    let expected = [
        (None, None),
        (
            Some(json!({
                "q 1": accepted,
                "roots": { "roots": [{ "uri": "file:///a", "name": "A" }] },
            })),
            Some(json!(state)),
        ),
        (Some(json!({ "next": accepted })), None),
        (None, Some(json!(""))),
    ];
    assert_eq!(params.len(), expected.len());
    for (params, (responses, state)) in params.iter().zip(expected) {
        assert_eq!((&params["name"], &params["arguments"]), (&json!("ask"), &json!({ "a": 1 })));
        assert_eq!(params.get("inputResponses"), responses.as_ref());
        assert_eq!(params.get("requestState"), state.as_ref());
    }
}

#[tokio::test]
async fn a_server_that_asks_wrongly_or_for_ever_is_told() {
    let broken = |result: &ClientError| matches!(result, ClientError::Protocol(_));
    for result in [
        json!({ "resultType": "input_required" }),
        json!({ "resultType": "input_required", "requestState": 1 }),
        json!({ "resultType": "input_required", "inputRequests": [] }),
        json!({ "resultType": "input_required", "inputRequests": { "q": {} } }),
        json!({ "resultType": "input_required", "inputRequests": { "q": { "method": 1 } } }),
    ] {
        let (outcome, _) = against(vec![result.clone()]).await;
        assert!(outcome.as_ref().is_err_and(broken), "{result}: {outcome:?}");
    }
    let again = json!({ "resultType": "input_required", "requestState": "x" });
    let (outcome, _) = against(vec![again; 32]).await;
    assert_eq!(
        outcome,
        Err(ClientError::Protocol("tools/call still needs input after 32 rounds".to_owned()))
    );
}

#[tokio::test]
async fn without_a_callback_the_question_is_seen_as_it_came() {
    let server = asker(greet).build().unwrap();
    let mut silent = ClientConfig::new(Era::Modern);
    silent.capabilities = all_capabilities();
    let silent = Client::memory(server.clone(), silent).await.unwrap();
    let answering = Client::memory(server, config(Era::Modern)).await.unwrap();
    let plain = answering.request("tools/call", json!({ "name": "ask", "arguments": {} })).await;
    for result in [silent.call_tool_raw("ask", json!({})).await, plain] {
        let result = result.unwrap();
        assert_eq!(result["resultType"], "input_required");
        let question = &result["inputRequests"]["who"];
        assert_eq!(question["method"], "elicitation/create");
        // The raw way back.
        let retry = json!({
            "name": "ask",
            "arguments": {},
            "inputResponses": { "who": { "action": "decline" } },
            "requestState": result["requestState"],
        });
        let result = silent.request("tools/call", retry).await.unwrap();
        assert_eq!(result["structuredContent"]["said"], Value::Null);
    }
}

#[tokio::test]
async fn the_callback_gets_the_key_of_a_question_in_the_modern_era() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let server = asker(greet).build().unwrap();
    for era in [Era::Legacy, Era::Modern] {
        let seen = seen.clone();
        let mut config = ClientConfig::new(era).with_answers(move |question: Request| {
            seen.lock().unwrap().push(question.id.to_string());
            std::future::ready(answer_to(&question))
        });
        config.capabilities = all_capabilities();
        let client = Client::memory(server.clone(), config).await.unwrap();
        client.call_tool_raw("ask", json!({})).await.unwrap();
    }
    let seen = seen.lock().unwrap();
    // In the legacy era it is the id of the request: unguessable.
    assert_eq!(seen[0].len(), "\"00000000-0000-4000-8000-000000000000\"".len());
    assert_eq!(seen[1], "\"who\"");
}

/// Tells that it was dropped.
struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _test_is_over = self.0.send(());
    }
}

#[tokio::test]
async fn an_answer_that_is_not_needed_any_more_is_given_up() {
    // The second question is refused, so the first is taken back while its answer is on the way.
    let server = asker(|context| {
        let questions = Questions::new().elicit("who", name_form()).roots("where");
        Ok(json!(context.ask(&questions)?.roots("where")?.len()))
    })
    .build()
    .unwrap();
    let served = Served::new(server.clone()).await;
    for over_http in [true, false] {
        for era in [Era::Legacy, Era::Modern] {
            let (sender, mut dropped) = mpsc::unbounded_channel();
            let (begun, begins) = mpsc::unbounded_channel();
            let begins = Arc::new(tokio::sync::Mutex::new(begins));
            let mut config = ClientConfig::new(era).with_answers(move |question: Request| {
                let guard = Guard(sender.clone());
                let (begun, begins) = (begun.clone(), begins.clone());
                async move {
                    if question.method == "roots/list" {
                        std::mem::forget(guard);
                        begins.lock().await.recv().await;
                        return Err(ErrorObject::new(-1, "No."));
                    }
                    begun.send(()).unwrap();
                    std::future::pending::<()>().await;
                    drop(guard);
                    Ok(Value::Null)
                }
            });
            config.capabilities = all_capabilities();
            let client = if over_http {
                Client::http(&served.url(), config).await.unwrap()
            } else {
                Client::memory(server.clone(), config).await.unwrap()
            };
            let result = client.call_tool_raw("ask", json!({})).await;
            match era {
                Era::Legacy => assert_eq!(result.unwrap()["isError"], true),
                Era::Modern => {
                    let refused = ClientError::Refused(ErrorObject::new(-1, "No."));
                    assert_eq!(result, Err(refused));
                }
            }
            let gone = tokio::time::timeout(PATIENCE, dropped.recv()).await;
            gone.expect("the answer is still on its way");
        }
    }
}

#[tokio::test]
async fn an_answer_that_never_comes_ends_with_the_caller_and_not_with_the_time() {
    let mut input = InputConfig::default();
    input.answer_timeout = Duration::from_secs(3_600);
    let server = asker(greet).input(input).build().unwrap();
    let served = Served::new(server.clone()).await;
    for era in [Era::Legacy, Era::Modern] {
        let (sender, mut dropped) = mpsc::unbounded_channel();
        let (begun, mut begins) = mpsc::unbounded_channel();
        let limit = Duration::from_secs(10);
        let mut config = ClientConfig::new(era).with_answers(move |_| {
            let (guard, begun) = (Guard(sender.clone()), begun.clone());
            async move {
                begun.send(()).unwrap();
                std::future::pending::<()>().await;
                drop(guard);
                Ok(Value::Null)
            }
        });
        config.capabilities = all_capabilities();
        config.timeout = limit;
        let client = Client::http(&served.url(), config).await.unwrap();
        let asking = tokio::spawn(async move { client.call_tool_raw("ask", json!({})).await });
        begins.recv().await.unwrap();
        // The time passes at once; from there on it is real again.
        tokio::time::pause();
        tokio::time::advance(limit * 100).await;
        tokio::time::resume();
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert!(!asking.is_finished(), "{era:?}");
        asking.abort();
        let gone = tokio::time::timeout(PATIENCE, dropped.recv()).await;
        gone.expect("the answer is still on its way");
    }
}
