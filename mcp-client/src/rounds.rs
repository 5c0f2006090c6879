//! Requests that take several rounds (2026-07-28, "Multi round-trip requests"), from the client's side.

use futures_util::future::try_join_all;
use mcp_proto::Era;
use mcp_proto::jsonrpc::{Request, RequestId};
use serde_json::{Map, Value, json};

use super::answering::Answers;
use super::{CallOptions, Client, ClientError, Result};

/// How often one request is sent again.
const MAX_ROUNDS: usize = 32;

/// The largest number of questions in one result: each may open a dialog for a user. The library's own server asks at
/// most 32.
const MAX_QUESTIONS: usize = 64;

impl Client {
    /// [`Client::request`] with all the rounds that its result needs: if the server needs input, the configured
    /// callback is called, and the request is sent again with its answers. Each round may take
    /// [`ClientConfig::timeout`](super::ClientConfig::timeout); an answer takes as long as its callback.
    ///
    /// The callback gets each question as a request whose id is the question's key. Without a callback the
    /// `input_required` result is returned unchanged, as [`Client::request`] always does.
    ///
    /// # Errors
    /// As for [`Client::request`]; [`ClientError::Refused`] when the callback refuses, and [`ClientError::Protocol`]
    /// for a server that still asks after 32 rounds, or more than 64 questions at once.
    pub async fn request_in_rounds(&self, method: &str, params: Value) -> Result<Value> {
        self.in_rounds(method, params, &CallOptions::default()).await
    }

    pub(super) async fn in_rounds(
        &self,
        method: &str,
        params: Value,
        options: &CallOptions,
    ) -> Result<Value> {
        let counted = self.count_rounds(method, params, options).await;
        counted.map(|(result, _)| result)
    }

    /// The result, and the number of rounds that it took.
    pub(super) async fn count_rounds(
        &self,
        method: &str,
        params: Value,
        options: &CallOptions,
    ) -> Result<(Value, usize)> {
        let answers = &self.0.config.answers;
        if answers.is_empty() || self.era() == Era::Legacy {
            return Ok((self.request_with(method, params, options).await?, 1));
        }
        let mut round = params.clone();
        for count in 1..=MAX_ROUNDS {
            let result = self.request_with(method, round, options).await?;
            if result.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok((result, count));
            }
            round = params.clone();
            let answered = self.answer(answers, &result).await?;
            if let Some(members) = round.as_object_mut() {
                members.extend(answered);
            }
        }
        Err(ClientError::Protocol(format!("{method} still needs input after {MAX_ROUNDS} rounds")))
    }

    /// The additional members of the next round's request.
    pub(super) async fn answer(
        &self,
        answers: &Answers,
        result: &Value,
    ) -> Result<Map<String, Value>> {
        let broken = || ClientError::Protocol(format!("an input_required result is {result}"));
        let mut round = Map::new();
        if let Some(requests) = result.get("inputRequests") {
            let requests = requests.as_object().ok_or_else(broken)?;
            if requests.len() > MAX_QUESTIONS {
                return Err(ClientError::Protocol(format!(
                    "it asks {} questions at once; at most {MAX_QUESTIONS} are answered",
                    requests.len()
                )));
            }
            let answered = requests.iter().map(|(key, question)| async move {
                let method = question.get("method").and_then(Value::as_str);
                let params = question.get("params").cloned().unwrap_or_else(|| json!({}));
                let id = RequestId::String(key.as_str().into());
                let question = Request::new(id, method.ok_or_else(broken)?, params);
                let answer = answers.ask(question).await.map_err(ClientError::Refused)?;
                Ok((key.clone(), answer))
            });
            let answered = try_join_all(answered).await?.into_iter().collect();
            round.insert("inputResponses".to_owned(), Value::Object(answered));
        }
        match result.get("requestState") {
            Some(state @ Value::String(_)) => {
                round.insert("requestState".to_owned(), state.clone());
            }
            None if !round.is_empty() => {}
            _ => return Err(broken()),
        }
        Ok(round)
    }
}
