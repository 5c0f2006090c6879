//! One connection under load: requests made once, sent with another id each time, and answers looked at.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http::request::Parts;
use serde_json::Value;
use tokio::time::timeout;

use super::call::Call;
use crate::probe::{Bench, Endpoint, Incoming, NO_LIMIT, Stop, request};
use crate::replay::base::{Sent, breach};
use crate::shorten::shorten;
use crate::sse::Frame;
use crate::target::Target;

/// The most characters of a failure that a report shows.
const SHOWN: usize = 160;

/// A connection, or a program on stdio.
pub(super) struct Connection {
    bench: Bench,
    requests: Vec<Prepared>,
    /// The session is its own, not shared.
    owns_session: bool,
    allows_errors: bool,
    next_id: u64,
    next_call: usize,
}

/// A request but for its id.
struct Prepared {
    method: String,
    /// The line and the headers over HTTP.
    head: Option<Parts>,
    before_id: String,
    is_tool: bool,
}

impl Connection {
    pub(super) fn new(
        bench: Bench,
        calls: &[Call],
        owns_session: bool,
        allows_errors: bool,
    ) -> Self {
        let requests = calls.iter().map(|call| Prepared::new(&bench, call));
        Self {
            requests: requests.collect(),
            bench,
            owns_session,
            allows_errors,
            // Those below were used for opening it.
            next_id: 1_000,
            next_call: 0,
        }
    }

    /// Asks each call once, so that both sides are ready.
    pub(super) async fn warm(&mut self) {
        for _ in 0..self.requests.len() {
            // What is wrong will be wrong again when it counts.
            let _ = self.ask().await;
        }
    }

    /// Which call is next.
    pub(super) fn upcoming(&self) -> usize {
        self.next_call
    }

    /// Sends the next call and waits for its whole answer.
    ///
    /// # Errors
    /// What is wrong with the answer.
    pub(super) async fn ask(&mut self) -> Result<(), String> {
        let index = self.next_call;
        self.next_call = (index + 1) % self.requests.len().max(1);
        let id = self.next_id;
        self.next_id += 1;
        let request = self.requests.get(index).ok_or("there is nothing to ask")?;
        let patience = self.bench.patience;
        let late = |_| format!("no answer within {} s", patience.as_secs_f64());
        let (status, message) = match &self.bench.endpoint {
            Endpoint::Http(target) => {
                timeout(patience, over_http(target, request, id)).await.map_err(late)??
            }
            Endpoint::Command(..) => {
                let body = request.body(id);
                let process = self.bench.process().map_err(|error| error.to_string())?;
                if !process.write(&body, patience).await {
                    return Err("the program does not read, or has ended".to_owned());
                }
                let own = async {
                    while let Some(line) = process.next().await {
                        let message: Value = serde_json::from_slice(&line)
                            .map_err(|error| format!("a line is not JSON: {error}"))?;
                        // Answers to what was given up, and what answers nothing, are passed over.
                        if message.get("method").is_none() && is_own(&message, id) {
                            return Ok((200, message));
                        }
                    }
                    Err("the program closed its stdout".to_owned())
                };
                timeout(patience, own).await.map_err(late)??
            }
        };
        self.judge(index, id, status, &message)
    }

    fn judge(&self, index: usize, id: u64, status: u16, message: &Value) -> Result<(), String> {
        let request = self.requests.get(index).ok_or("there is nothing to ask")?;
        let sent = Sent::request(&request.method, id, self.bench.revision.is_modern());
        // The ids are left out: what is wrong is counted by its kind.
        if message.get("id").is_some_and(|own| !own.is_null() && *own != id) {
            return Err(format!("{}: the answer has another id", request.method));
        }
        if let Some(breach) = breach(message, &sent, status) {
            return Err(breach);
        }
        if self.allows_errors {
            return Ok(());
        }
        if let Some(error) = message.get("error") {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let text = error.get("message").and_then(Value::as_str);
            let text = shorten(text.unwrap_or_default(), SHOWN);
            return Err(format!("{}: error {code}: {text}", request.method));
        }
        if !(200..300).contains(&status) {
            return Err(format!("{}: status {status}", request.method));
        }
        let result = message.get("result");
        if request.is_tool && result.and_then(|it| it.get("isError")) == Some(&Value::Bool(true)) {
            let text = result.and_then(|it| it.pointer("/content/0/text"));
            let text = shorten(text.and_then(Value::as_str).unwrap_or_default(), SHOWN);
            return Err(format!("the tool failed: {text}"));
        }
        Ok(())
    }

    /// The process on the other end of the pipes.
    pub(super) fn process(&mut self) -> Option<u32> {
        self.bench.process().ok()?.id()
    }

    /// Ends its session, or its program.
    pub(super) async fn end(&mut self) {
        if !self.owns_session {
            self.bench.join(None);
        }
        // A server that no longer answers keeps its session.
        let _ = timeout(Duration::from_secs(3), self.bench.end()).await;
    }
}

fn is_own(message: &Value, id: u64) -> bool {
    message.get("id").and_then(Value::as_u64) == Some(id)
}

impl Prepared {
    fn new(bench: &Bench, call: &Call) -> Self {
        let params = bench.with_meta(call.params.clone());
        let message =
            serde_json::json!({"jsonrpc": "2.0", "method": call.method, "params": params});
        let head = match &bench.endpoint {
            Endpoint::Http(target) => request(target, bench.framed(&message)).ok(),
            Endpoint::Command(..) => None,
        };
        let mut before_id = message.to_string();
        before_id.pop();
        before_id.push_str(",\"id\":");
        Self {
            method: call.method.clone(),
            head: head.map(|it| it.into_parts().0),
            before_id,
            is_tool: call.method == "tools/call",
        }
    }

    fn body(&self, id: u64) -> Bytes {
        format!("{}{id}}}", self.before_id).into()
    }
}

/// The status and the response of an exchange. The body is read to its end, so that the connection can be used again; a
/// body that is not a stream has at most 16 MiB, and a stream as much in one event.
async fn over_http(target: &Target, prepared: &Prepared, id: u64) -> Result<(u16, Value), String> {
    let head = prepared.head.clone().ok_or("the request cannot be sent")?;
    let opened = Incoming::open(target, Request::from_parts(head, prepared.body(id))).await;
    let mut open = opened.map_err(|error| error.to_string())?;
    let status = open.exchange.status.unwrap_or_default();
    if open.streams {
        let mut answer = None;
        while let Some(frame) = open.next().await? {
            let Frame::Event(event) = frame else { continue };
            let message: Option<Value> = serde_json::from_str(&event.data).ok();
            // Notifications and questions before the response are not measured.
            answer = message.filter(|it| it.get("method").is_none()).or(answer);
        }
        return Ok((status, answer.ok_or("the event stream ended without a response")?));
    }
    if let Err(Stop::Problem(problem)) = open.read(NO_LIMIT, |_| false).await {
        return Err(problem);
    }
    match open.exchange.messages.pop() {
        Some(message) if open.exchange.messages.is_empty() => Ok((status, message)),
        _ if !(200..300).contains(&status) => Err(format!("status {status}")),
        _ => Err("the body is not one message".to_owned()),
    }
}
