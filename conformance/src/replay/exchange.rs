//! What a client does for one request: it answers questions, follows a stream that broke off, sends what was asked for.

use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::run::Run;
use super::step::{json, parse_json, verdict, whole};
use super::stream::EventStream;
use crate::pattern::Pattern;
use crate::probe::{Incoming, request};
use crate::rpc_client::{self, RpcClient};
use crate::transcript::{BodyExpectation, Era, Expect};

/// The most messages one request may be answered with before its response.
const MAX_MESSAGES: usize = 10_000;
/// How often a request is sent again with what the server asked for.
const MAX_ROUNDS: usize = 10;
/// How often a stream is followed after it broke off.
const MAX_RESUMPTIONS: usize = 20;
/// How many pages of tools are read for their headers.
const MAX_PAGES: usize = 20;

/// A JSON-RPC answer, with what came around it.
struct Answered {
    headers: HeaderMap,
    message: Value,
    id: u64,
    notifications: Vec<Value>,
}

impl Run<'_> {
    /// Sends an MCP request, judges the answer, and returns the answer's headers and result, and what was wrong.
    pub(super) async fn request(
        &self,
        client: &RpcClient,
        method: &str,
        params: Option<Value>,
        expect: &Expect,
    ) -> Result<(HeaderMap, Value, Result<(), Fault>), Fault> {
        let pattern = match &expect.body {
            BodyExpectation::Result(pattern) | BodyExpectation::Error(pattern) => Some(pattern),
            _ => None,
        };
        let by_hand = pattern.is_some_and(|pattern| pattern.mentions("resultType"));
        let mut answered = self.ask(client, method, params.clone(), expect).await?;
        let mut notifications = std::mem::take(&mut answered.notifications);
        let rounds = if by_hand || !client.is_asked() { 0 } else { MAX_ROUNDS };
        for _ in 0..rounds {
            let result = answered.message.get("result");
            let more = result.and_then(|result| self.inputs(client, result, params.as_ref()));
            let Some(more) = more else {
                break;
            };
            answered = self.ask(client, method, Some(more), expect).await?;
            notifications.append(&mut answered.notifications);
        }
        let result = answered.message.get("result").cloned().unwrap_or_default();
        if method == "tools/list" {
            client.learn(&result);
        }
        let judged =
            self.judge_answer(client, answered.message, answered.id, notifications, expect);
        Ok((answered.headers, result, judged))
    }

    fn judge_answer(
        &self,
        client: &RpcClient,
        message: Value,
        id: u64,
        notifications: Vec<Value>,
        expect: &Expect,
    ) -> Result<(), Fault> {
        let unscripted = client.unscripted();
        if !unscripted.is_empty() {
            let asked = unscripted.join("; ");
            let problem =
                format!("the server sent requests for which the transcript has no answer: {asked}");
            return Err(Fault::new(problem));
        }
        let mut vars = self.vars();
        let before = match &expect.notifications {
            None => Ok(()),
            Some(pattern) => {
                // Questions among them are answered, and judged by their answers.
                let notifications = notifications.into_iter().filter(|it| it.get("id").is_none());
                let notifications = Value::Array(notifications.collect());
                let differs = pattern.compare_and_keep(Some(&notifications), &mut vars);
                verdict("notifications", differs)
            }
        };
        let wanted: (&'static str, &Pattern) = match &expect.body {
            BodyExpectation::Error(pattern) => ("error", pattern),
            BodyExpectation::Result(pattern) => ("result", pattern),
            _ => return before,
        };
        let answer = message.get(wanted.0).map(|value| (wanted.0, value.clone()));
        let differs = rpc_client::compare(self.era, message, id, wanted, &mut vars);
        let judged = verdict("", differs).map_err(|fault| Fault { answer, ..fault });
        match (before, judged) {
            (Err(mut before), Err(mut after)) => {
                before.mismatches.append(&mut after.mismatches);
                Err(before)
            }
            (before, after) => before.and(after),
        }
    }

    /// The parameters of the next round, if a modern result asks for something.
    fn inputs(&self, client: &RpcClient, result: &Value, params: Option<&Value>) -> Option<Value> {
        if self.era != Era::Modern || result.get("resultType")? != "input_required" {
            return None;
        }
        let asked = result.get("inputRequests").and_then(Value::as_object);
        let mut responses = Map::new();
        for (key, question) in asked.into_iter().flatten() {
            let (member, value) = client.answer(question, &self.vars());
            if member == "result" {
                responses.insert(key.clone(), value);
            }
        }
        let mut more = params.cloned().unwrap_or_else(|| json!({}));
        let members = more.as_object_mut()?;
        members.insert("inputResponses".to_owned(), responses.into());
        members.remove("requestState");
        if let Some(state) = result.get("requestState") {
            members.insert("requestState".to_owned(), state.clone());
        }
        Some(more)
    }

    async fn ask(
        &self,
        client: &RpcClient,
        method: &str,
        params: Option<Value>,
        expect: &Expect,
    ) -> Result<Answered, Fault> {
        let (request, mut id) = client.request(method, params.clone())?;
        let mut response = self.send(request).await?;
        if response.exchange.status == Some(400) && client.could_learn(method) {
            // A client that has not seen the tool cannot know which arguments a header repeats; it looks, and asks
            // again.
            self.learn_tools(client).await?;
            let (request, again) = client.request(method, params)?;
            (response, id) = (self.send(request).await?, again);
        }
        let head = self.judge_head(&response.exchange, expect);
        if !head.is_right() {
            return Err(head.shown(response).await);
        }
        let headers = response.exchange.headers.clone();
        let (message, notifications) = self.read(client, response).await?;
        Ok(Answered { headers, message, id, notifications })
    }

    async fn learn_tools(&self, client: &RpcClient) -> Result<(), Fault> {
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let (request, _) = client.request("tools/list", Some(params.take()))?;
            let response = self.send(request).await?;
            let (message, _) = self.read(client, response).await?;
            let result = message.get("result").cloned().unwrap_or_default();
            client.learn(&result);
            match result.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        Ok(())
    }

    /// Reads up to the answer. Questions before it are answered; a stream that breaks off is followed.
    async fn read(
        &self,
        client: &RpcClient,
        response: Incoming,
    ) -> Result<(Value, Vec<Value>), Fault> {
        if !response.streams {
            return Ok((json(&whole(response).await?.exchange)?, Vec::new()));
        }
        let mut stream = EventStream::new(response);
        let mut notifications = Vec::new();
        let (mut last_event, mut retry) = (None, None);
        for _ in 0..MAX_RESUMPTIONS {
            loop {
                let event = match stream.next_event().await {
                    Ok(Some(event)) => event,
                    Err(fault) if last_event.is_none() => return Err(fault),
                    Ok(None) | Err(_) => break,
                };
                last_event = event.id.or(last_event);
                retry = event.retry.or(retry);
                if event.data.is_empty() {
                    continue;
                }
                let message = parse_json(&event.data)?;
                match (message.get("method").is_some(), message.get("id").is_some()) {
                    (false, _) => return Ok((message, notifications)),
                    (true, true) => self.reply(client, &message).await?,
                    (true, false) if notifications.len() < MAX_MESSAGES => {}
                    (true, false) => {
                        return Err(Fault::new(format!(
                            "more than {MAX_MESSAGES} messages came before the response"
                        )));
                    }
                }
                notifications.push(message);
            }
            let Some(request) = last_event.as_deref().and_then(|id| client.resume(id)) else {
                break;
            };
            tokio::time::sleep(Duration::from_millis(retry.unwrap_or_default())).await;
            let response = self.send(request).await?;
            if !response.streams {
                break;
            }
            stream = EventStream::new(response);
        }
        Err(Fault::new("the event stream ended without a JSON-RPC response"))
    }

    /// Answers a question of the server.
    async fn reply(&self, client: &RpcClient, question: &Value) -> Result<(), Fault> {
        let answer = client.answer(question, &self.vars());
        let response = self.send(client.reply(question, answer)).await?;
        self.judge(response, &Expect::only_status(202)).await
    }

    /// Answers the questions on a stream as they come, even if no step waits on it. Notifications and answers pass
    /// through.
    pub(super) fn answering(
        &self,
        client: &std::sync::Arc<RpcClient>,
        stream: EventStream,
    ) -> EventStream {
        if self.era == Era::Modern || !client.is_asked() {
            return stream;
        }
        let (client, target) = (client.clone(), self.target().clone());
        let (endpoint, vars) = (self.endpoint.to_owned(), self.vars().clone());
        stream.answering(move |question| -> BoxFuture<'static, ()> {
            let answer = client.answer(&question, &vars);
            let place = target.locate(&endpoint, &endpoint);
            let reply = request(&target, client.reply(&question, answer).at(&place));
            let target = target.clone();
            async move {
                if let Ok(reply) = reply {
                    // A server that refuses it continues without; the following steps show it.
                    let _ = target.send(reply).await;
                }
            }
            .boxed()
        })
    }
}
