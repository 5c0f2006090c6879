//! What each kind of step does.

use http::header::{CONTENT_TYPE, HeaderMap};
use serde_json::{Value, json};

use super::base::described;
use super::fault::Fault;
use super::run::Run;
use super::stream::EventStream;
use crate::error::Problem;
use crate::json::put;
use crate::pattern::{Mismatch, Pattern};
use crate::probe::{Exchange, Incoming, NO_LIMIT, NOT_JSON, Raw, Stop};
use crate::rpc_client::{RpcClient, SESSION};
use crate::shorten::shorten;
use crate::sse::{Event, Frame};
use crate::template::Vars;
use crate::transcript::{
    Action, BodyExpectation, Era, Expect, Opening, RpcKind, Send, SendBody, StreamSource, Wanted,
};

impl Run<'_> {
    pub(super) async fn act(&self, action: &Action) -> Result<(), Fault> {
        match action {
            Action::Open { client, opening, expect } => {
                self.open(client, opening, expect.as_ref()).await
            }
            Action::Http { send, expect } => self.http(send, expect).await,
            Action::Rpc { client, kind, method, params, expect } => {
                let client = self.client(client)?;
                let params = params.as_ref().map(|params| params.fill(&self.vars())).transpose()?;
                match kind {
                    RpcKind::Request => self.request(&client, method, params, expect).await?.2,
                    RpcKind::Notification => {
                        let response = self.send(client.notification(method, params)?).await?;
                        self.judge(response, expect).await
                    }
                }
            }
            Action::Stream { name, source, expect } => {
                let stream = self.open_stream(source, expect.as_ref()).await?;
                self.put_stream(name, stream);
                Ok(())
            }
            Action::Await { stream: name, wanted } => {
                let mut stream = self.take_stream(name)?;
                self.await_next(name, &mut stream, wanted).await?;
                self.put_stream(name, stream);
                Ok(())
            }
            Action::End { stream: name } => {
                let mut stream = self.take_stream(name)?;
                while let Some(event) = stream.next_event().await? {
                    // One without data primes a client for resumption.
                    if !event.data.is_empty() {
                        return Err(Fault::new(format!(
                            "the stream {name} must end, but {event:?} arrived"
                        )));
                    }
                }
                Ok(())
            }
            Action::Close { stream } => self.take_stream(stream).map(drop),
            Action::Check { name, pattern } => {
                let mut vars = self.vars();
                let value = vars.get(name).cloned();
                verdict(name, pattern.compare_and_keep(value.as_ref(), &mut vars))
            }
            Action::Silent { .. } | Action::Parallel(_) => Ok(()),
        }
    }

    /// A handshake with a different result is still completed, so that the rest can be checked.
    async fn open(
        &self,
        name: &str,
        opening: &Opening,
        expect: Option<&Expect>,
    ) -> Result<(), Fault> {
        let mut client = RpcClient::new(self.era, self.endpoint, opening, self.ids.clone());
        let mut judged = Ok(());
        if self.era == Era::Legacy {
            let default = Expect::result(Pattern::any());
            let expect = expect.unwrap_or(&default);
            let params = Some(client.handshake());
            let (headers, result, handshake) =
                self.request(&client, "initialize", params, expect).await?;
            judged = handshake;
            let session =
                headers.get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
            let agreed = result.get("protocolVersion").and_then(Value::as_str);
            client = client.after_handshake(session, agreed.unwrap_or_default());
            let initialized =
                self.send(client.notification("notifications/initialized", None)?).await?;
            let initialized = self.judge(initialized, &Expect::only_status(202)).await;
            judged = judged.and(initialized);
            if let Some(session) = client.session() {
                self.vars().set(&format!("{name}.session"), session.into());
            }
        }
        self.put_client(name, client);
        judged
    }

    async fn http(&self, send: &Send, expect: &Expect) -> Result<(), Fault> {
        let request = filled(send, &self.vars())?;
        let response = self.send(request).await?;
        self.judge(response, expect).await
    }

    /// Judges a plain HTTP answer.
    pub(super) async fn judge(&self, answer: Incoming, expect: &Expect) -> Result<(), Fault> {
        let Incoming { exchange, streams, .. } =
            self.judge_head(&answer.exchange, expect).read(answer).await?;
        let (pattern, place, actual) = match &expect.body {
            BodyExpectation::Json(_) | BodyExpectation::Text(_) if streams => {
                return Err(Fault::new("answered with an event stream instead of a body"));
            }
            BodyExpectation::Json(pattern) => (pattern, "json", json(&exchange)?),
            BodyExpectation::Text(pattern) => (pattern, "text", exchange.received.into()),
            BodyExpectation::Message(pattern) if streams => {
                let problem = "the event stream ended without a JSON-RPC response";
                let response = exchange.response().ok_or_else(|| Fault::new(problem))?;
                (pattern, "message", response.clone())
            }
            BodyExpectation::Message(pattern) => (pattern, "message", json(&exchange)?),
            BodyExpectation::Any | BodyExpectation::Result(_) | BodyExpectation::Error(_) => {
                return Ok(());
            }
        };
        verdict(place, pattern.compare_and_keep(Some(&actual), &mut self.vars()))
    }

    async fn open_stream(
        &self,
        source: &StreamSource,
        expect: Option<&Expect>,
    ) -> Result<EventStream, Fault> {
        let (request, ignored, asked) = match source {
            StreamSource::Http(send) => (filled(send, &self.vars())?, Vec::new(), None),
            StreamSource::Listen { client, filter, ignore } => {
                let client = self.client(client)?;
                let filter = filter.fill(&self.vars())?;
                (client.listen(&filter)?, ignore.clone(), Some(client))
            }
        };
        let response = self.send(request).await?;
        let default = Expect::only_status(200);
        let mut head = self.judge_head(&response.exchange, expect.unwrap_or(&default));
        if !response.streams {
            let actual = header(&response.exchange.headers, CONTENT_TYPE.as_str());
            head.0.push(Mismatch {
                path: "/headers/content-type".to_owned(),
                expected: json!("text/event-stream"),
                actual,
                reason: None,
            });
        }
        if head.0.is_empty() {
            let stream = EventStream::new(response).ignoring(ignored);
            return Ok(match asked {
                Some(client) => self.answering(&client, stream),
                None => stream,
            });
        }
        head.read(response).await?;
        Err(Fault::new("the stream did not open"))
    }

    async fn await_next(
        &self,
        name: &str,
        stream: &mut EventStream,
        wanted: &Wanted,
    ) -> Result<(), Fault> {
        let ended = || Fault::new(format!("the stream {name} ended"));
        let (place, pattern, actual) = match wanted {
            Wanted::Comment(pattern) => match stream.next().await?.ok_or_else(ended)? {
                Frame::Comment(text) => ("comment", pattern, text.into()),
                Frame::Event(event) => {
                    return Err(Fault::new(format!("expected a comment, but {event:?} arrived")));
                }
            },
            Wanted::Event(pattern) => {
                ("event", pattern, event_value(stream.next_event().await?.ok_or_else(ended)?))
            }
            Wanted::Message(pattern) => loop {
                // An event without data primes a client for resumption; it carries no message.
                let event = stream.next_event().await?.ok_or_else(ended)?;
                if !event.data.is_empty() {
                    break ("message", pattern, parse_json(&event.data)?);
                }
            },
        };
        verdict(place, pattern.compare_and_keep(Some(&actual), &mut self.vars()))
    }

    pub(super) fn judge_head(&self, answer: &Exchange, expect: &Expect) -> Head {
        let mut vars = self.vars();
        let mut mismatches = Vec::new();
        if let Some(pattern) = &expect.status {
            let status = json!(answer.status);
            mismatches.extend(placed("status", pattern.compare_and_keep(Some(&status), &mut vars)));
        }
        for (name, pattern) in &expect.headers {
            let value = header(&answer.headers, name.as_str());
            mismatches.extend(placed(
                &format!("headers/{name}"),
                pattern.compare_and_keep(value.as_ref(), &mut vars),
            ));
        }
        Head(mismatches)
    }
}

/// The request of a step with its variables filled in.
fn filled(send: &Send, vars: &Vars) -> Result<Raw, Problem> {
    let mut raw = Raw::bare(send.method.clone()).at(&send.path.fill(vars)?);
    match &send.body {
        SendBody::Empty => {}
        SendBody::Json(template) => {
            raw.body = template.fill(vars)?.to_string().into();
            raw = raw.with("content-type", "application/json");
        }
        SendBody::Text(text) => raw.body = text.fill(vars)?.into(),
    }
    for (name, value) in &send.headers {
        raw = raw.with(name.as_str(), &value.fill(vars)?);
    }
    Ok(raw)
}

/// What is wrong with the head of an answer.
pub(super) struct Head(Vec<Mismatch>);

impl Head {
    /// Reads the body: to be judged if the head was right, else to be shown. A stream with a wrong head is left alone,
    /// for it might never end.
    async fn read(self, answer: Incoming) -> Result<Incoming, Fault> {
        if self.is_right() {
            return whole(answer).await;
        }
        Err(self.shown(answer).await)
    }

    pub(super) fn is_right(&self) -> bool {
        self.0.is_empty()
    }

    /// What was answered instead.
    pub(super) async fn shown(self, answer: Incoming) -> Fault {
        let status = answer.exchange.status.unwrap_or_default();
        let body = if answer.streams {
            "with an event stream".to_owned()
        } else {
            let text = whole(answer).await.map(|it| it.exchange.received).unwrap_or_default();
            if text.is_empty() {
                "with no readable body".to_owned()
            } else {
                format!("with {}", shorten(&text, 300))
            }
        };
        let mut fault = Fault::new(format!("answered {} {body}", described(status)));
        fault.mismatches = self.0;
        fault
    }
}

/// The answer, read to its end or, if it is an event stream, to the first JSON-RPC response in it.
pub(super) async fn whole(mut answer: Incoming) -> Result<Incoming, Fault> {
    match answer.read(NO_LIMIT, |it| it.response().is_some()).await {
        // What is not JSON is shown where JSON is wanted.
        Err(Stop::Problem(problem)) if problem != NOT_JSON || answer.streams => {
            Err(Fault::new(problem))
        }
        _ => Ok(answer),
    }
}

/// The body as JSON.
pub(super) fn json(answer: &Exchange) -> Result<Value, Fault> {
    let value = parse_json(&answer.received)?;
    if answer.messages.is_empty() && answer.received.contains(char::REPLACEMENT_CHARACTER) {
        return Err(Fault::new("the body is not valid UTF-8"));
    }
    Ok(value)
}

pub(super) fn parse_json(text: &str) -> Result<Value, Fault> {
    serde_json::from_str(text).map_err(|error| {
        Fault::new(format!("the body is not JSON ({error}): {}", shorten(text, 300)))
    })
}

fn header(headers: &HeaderMap, name: &str) -> Option<Value> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned().into())
}

/// An event as transcripts write it; the default name is `message`.
fn event_value(event: Event) -> Value {
    let mut value =
        json!({"event": event.event.as_deref().unwrap_or("message"), "data": event.data});
    event.id.into_iter().for_each(|id| put(&mut value, "id", id));
    event.retry.into_iter().for_each(|retry| put(&mut value, "retry", retry));
    value
}

fn placed(place: &str, mismatches: Vec<Mismatch>) -> impl Iterator<Item = Mismatch> {
    mismatches
        .into_iter()
        .map(move |mismatch| Mismatch { path: format!("/{place}{}", mismatch.path), ..mismatch })
}

pub(super) fn verdict(place: &str, mismatches: Vec<Mismatch>) -> Result<(), Fault> {
    if mismatches.is_empty() {
        return Ok(());
    }
    let mismatches =
        if place.is_empty() { mismatches } else { placed(place, mismatches).collect() };
    let mut fault = Fault::new("the answer differs from the transcript");
    fault.mismatches = mismatches;
    Err(fault)
}

impl Action {
    /// The step in a few words.
    pub(super) fn summary(&self) -> String {
        match self {
            Self::Open { client, .. } => format!("open {client}"),
            Self::Http { send, .. } => format!("{} {}", send.method, send.path.source()),
            Self::Rpc { client, method, .. } => format!("{method} by {client}"),
            Self::Stream { name, .. } => format!("stream {name}"),
            Self::Await { stream, .. } => format!("await {stream}"),
            Self::Silent { streams, .. } => format!("silent {}", streams.join(", ")),
            Self::End { stream } => format!("end {stream}"),
            Self::Close { stream } => format!("close {stream}"),
            Self::Check { name, .. } => format!("check {name}"),
            Self::Parallel(_) => "parallel".to_owned(),
        }
    }
}
