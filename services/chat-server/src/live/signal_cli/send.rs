//! Sending by signal-cli: each request has a connection of its own, so that what comes in is not held up.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio_util::codec::FramedRead;

use super::envelope;
use super::lines::Lines;
use super::{MAX_LINE_BYTES, SignalCli, open};
use crate::event::Event;
use crate::json::{list, member, number};
use crate::model::{Body, ChatKind, Participant};
use crate::outgoing::{Content, Outgoing, SendError, Sent};

/// How long the daemon may take to send.
const SEND_TIME: Duration = Duration::from_secs(40);

/// The id of the request.
const SEND: u64 = 1;

/// What is said of a message that is not stored.
const UNKNOWN: &str = "it is not stored here, since signal-cli does not say whose account it is: set `account` of the \
    source";

/// The codes of the daemon's errors after which it may have sent something: of its network, and of itself.
const UNCLEAR: [i64; 2] = [-3, -32_603];

impl SignalCli {
    /// Sends something, and waits until the daemon has sent it.
    pub(super) async fn deliver(&self, mut outgoing: Outgoing) -> Result<Sent, SendError> {
        let late = || SendError::Unclear("signal-cli has not answered within 40 s".to_owned());
        let (method, members) = request(&outgoing)?;
        let asking = async {
            if outgoing.me.is_none() {
                outgoing.me = self.owner().await;
            }
            self.ask(method, members).await
        };
        let answer = tokio::time::timeout(SEND_TIME, asking).await.map_err(|_| late())??;
        let mut notes = Vec::from_iter(failures(&answer)?);
        let events = match &outgoing.content {
            Content::Reaction { id, emoji, removed } => outgoing.reacted(id, emoji, *removed),
            Content::Message { text, reply_to } => {
                let sent = number(&answer, "timestamp").zip(outgoing.me.as_ref());
                let sent = sent.and_then(|(at, me)| message(&outgoing, at, me, text, reply_to));
                if sent.is_none() {
                    // Its id would name nobody: a message is known by its author and its time.
                    notes.push(UNKNOWN.to_owned());
                }
                sent.into_iter().collect()
            }
        };
        Ok(Sent { events, note: (!notes.is_empty()).then(|| notes.join("; ")) })
    }

    /// The owner of the account, of which nothing is stored yet: by the configuration, or the only account of the
    /// daemon.
    async fn owner(&self) -> Option<Participant> {
        let number = match &self.account {
            Some(number) => number.clone(),
            None => {
                let accounts = self.ask("listAccounts", Map::new()).await.ok()?;
                let [only] = accounts.as_array()?.as_slice() else { return None };
                member(only, "number")?.to_owned()
            }
        };
        Some(Participant { id: number.clone(), name: number, ..Participant::default() })
    }

    /// One request and its answer.
    async fn ask(&self, method: &str, mut members: Map<String, Value>) -> Result<Value, SendError> {
        let unclear = |error: io::Error| SendError::Unclear(error.to_string());
        let opened = open(&self.address).await;
        let (reader, mut writer) = opened.map_err(|it| SendError::Refused(it.to_string()))?;
        if let Some(account) = &self.account {
            members.insert("account".to_owned(), json!(account));
        }
        let request = json!({"jsonrpc": "2.0", "id": SEND, "method": method, "params": members});
        let line = format!("{request}\n");
        writer.write_all(line.as_bytes()).await.map_err(unclear)?;
        writer.flush().await.map_err(unclear)?;
        let mut lines = FramedRead::new(reader, Lines::new(MAX_LINE_BYTES));
        while let Some(line) = lines.next().await {
            // The daemon sends messages that come in to all its connections.
            let Ok(line) = line.map_err(unclear)? else { continue };
            if let Ok(answer) = serde_json::from_str::<Value>(&line)
                && answer.get("id").and_then(Value::as_u64) == Some(SEND)
            {
                return answered(&answer);
            }
        }
        let problem = "signal-cli has closed the connection before it has answered";
        Err(SendError::Unclear(problem.to_owned()))
    }
}

/// The message as the daemon reports those from other devices of the owner.
fn message(
    to: &Outgoing,
    at: i64,
    me: &Participant,
    text: &str,
    reply_to: &Option<String>,
) -> Option<Event> {
    let me = Participant { is_me: true, ..me.clone() };
    let mut message = envelope::message(at, me, Body::Text(text.to_owned()))?;
    message.reply_to.clone_from(reply_to);
    Some(Event::Message { chat: to.chat.id.clone(), message: Box::new(message) })
}

/// The method and its parameters.
fn request(outgoing: &Outgoing) -> Result<(&'static str, Map<String, Value>), SendError> {
    let mut members = Map::new();
    let mut add = |name: &str, value: Value| drop(members.insert(name.to_owned(), value));
    match outgoing.chat.kind {
        ChatKind::Group => add("groupId", json!(outgoing.chat.id)),
        _ => add("recipient", json!([outgoing.chat.id])),
    }
    // A message is known by its author and its time.
    let target = |id: &str| {
        let found = id.split_once('-').and_then(|(at, of)| Some((at.parse::<i64>().ok()?, of)));
        let (at, author) = found.ok_or_else(|| {
            SendError::Refused("the id of the message is not one of Signal".to_owned())
        })?;
        Ok::<_, SendError>((json!(at), json!(author)))
    };
    match &outgoing.content {
        Content::Message { text, reply_to } => {
            add("message", json!(text));
            if let Some(id) = reply_to {
                let (at, author) = target(id)?;
                add("quoteTimestamp", at);
                add("quoteAuthor", author);
            }
            Ok(("send", members))
        }
        Content::Reaction { id, emoji, removed } => {
            let (at, author) = target(id)?;
            add("targetTimestamp", at);
            add("targetAuthor", author);
            add("emoji", json!(emoji));
            add("remove", json!(removed));
            Ok(("sendReaction", members))
        }
    }
}

fn answered(answer: &Value) -> Result<Value, SendError> {
    if let Some(result) = answer.get("result") {
        return Ok(result.clone());
    }
    let text = answer.pointer("/error/message").and_then(Value::as_str);
    let problem = format!("signal-cli answers: {}", text.unwrap_or("no reason is given"));
    match answer.pointer("/error/code").and_then(Value::as_i64) {
        Some(code) if !UNCLEAR.contains(&code) => Err(SendError::Refused(problem)),
        _ => Err(SendError::Unclear(problem)),
    }
}

/// How many of the recipients it did not reach, and why. An error if it is all of them.
fn failures(answer: &Value) -> Result<Option<String>, SendError> {
    let results: Vec<&str> =
        list(answer, "results").filter_map(|result| member(result, "type")).collect();
    let failed = || results.iter().copied().filter(|result| *result != "SUCCESS");
    let why: Vec<&str> = failed().collect::<BTreeSet<_>>().into_iter().collect();
    let (count, of) = (failed().count(), results.len());
    let note = format!("it has not reached {count} of {of} ({})", why.join(", "));
    match count {
        0 => Ok(None),
        _ if count == of => Err(SendError::Unclear(note)),
        _ => Ok(Some(note)),
    }
}
