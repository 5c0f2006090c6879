//! What each kind of step does.

use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::run::{Fault, Run};
use crate::client::{self, RpcClient, SESSION};
use crate::pattern::{Mismatch, Pattern};
use crate::sse::{Event, Frame};
use crate::target::Body;
use crate::transcript::{
    Action, BodyExpectation, Era, Expect, RpcKind, Send, StreamSource, Wanted,
};
use crate::wire::{Answer, AnswerBody, EventStream, is_event_stream, parse_json, shorten};

impl Run<'_> {
    pub(super) async fn act(&self, action: &Action) -> Result<(), Fault> {
        match action {
            Action::Open {
                client,
                version,
                expect,
            } => self.open(client, version.as_deref(), expect.as_ref()).await,
            Action::Http { send, expect } => self.http(send, expect).await,
            Action::Rpc {
                client,
                kind,
                method,
                params,
                expect,
            } => {
                let client = self.client(client)?;
                let params = params
                    .as_ref()
                    .map(|params| params.fill(&self.vars()))
                    .transpose()?;
                match kind {
                    RpcKind::Request => self
                        .request(&client, method, params, expect)
                        .await
                        .map(drop),
                    RpcKind::Notification => {
                        let response = self.send(client.notification(method, params)?).await?;
                        self.judge(response, expect).await
                    }
                }
            }
            Action::Stream {
                name,
                source,
                expect,
            } => {
                let stream = self.open_stream(source, expect.as_ref()).await?;
                self.put_stream(name, stream);
                Ok(())
            }
            Action::Await {
                stream: name,
                wanted,
            } => {
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
                            "the stream {name} ought to end, but said {event:?}"
                        )));
                    }
                }
                Ok(())
            }
            Action::Close { stream } => self.take_stream(stream).map(drop),
            Action::Check { name, pattern } => {
                let mut vars = self.vars();
                let value = vars.get(name).cloned();
                verdict(name, pattern.compare(value.as_ref(), &mut vars))
            }
            Action::Silent { .. } | Action::Parallel(_) => Ok(()),
        }
    }

    async fn open(
        &self,
        name: &str,
        version: Option<&str>,
        expect: Option<&Expect>,
    ) -> Result<(), Fault> {
        let mut client = RpcClient::new(self.era, self.endpoint, version);
        if self.era == Era::Legacy {
            let default = Expect::result(Pattern::any());
            let params = client.handshake();
            let (headers, result) = self
                .request(
                    &client,
                    "initialize",
                    Some(params),
                    expect.unwrap_or(&default),
                )
                .await?;
            let session = headers
                .get(SESSION)
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned);
            let agreed = result
                .get("protocolVersion")
                .and_then(Value::as_str)
                .unwrap_or_default();
            client = client.in_session(session, agreed);
            let initialized = self
                .send(client.notification("notifications/initialized", None)?)
                .await?;
            self.judge(initialized, &Expect::only_status(202)).await?;
            if let Some(session) = client.session() {
                self.vars().set(&format!("{name}.session"), session.into());
            }
        }
        self.put_client(name, client);
        Ok(())
    }

    async fn http(&self, send: &Send, expect: &Expect) -> Result<(), Fault> {
        let request = send.request(&self.vars())?;
        let response = self.send(request).await?;
        self.judge(response, expect).await
    }

    /// Judges a plain HTTP answer.
    async fn judge(&self, response: Response<Body>, expect: &Expect) -> Result<(), Fault> {
        let answer = self.judge_head(&response, expect).read(response).await?;
        let (pattern, place, actual) = match &expect.body {
            BodyExpectation::Json(pattern) => (pattern, "json", parse_json(text(&answer)?)?),
            BodyExpectation::Text(pattern) => (pattern, "text", text(&answer)?.into()),
            BodyExpectation::Message(pattern) => (pattern, "message", answer.into_message()?.0),
            BodyExpectation::Any | BodyExpectation::Result(_) | BodyExpectation::Error(_) => {
                return Ok(());
            }
        };
        verdict(place, pattern.compare(Some(&actual), &mut self.vars()))
    }

    /// Sends an MCP request, judges the answer, and returns the answer's headers and result.
    async fn request(
        &self,
        client: &RpcClient,
        method: &str,
        params: Option<Value>,
        expect: &Expect,
    ) -> Result<(HeaderMap, Value), Fault> {
        let (request, id) = client.request(method, params)?;
        let response = self.send(request).await?;
        let answer = self.judge_head(&response, expect).read(response).await?;
        let headers = answer.headers.clone();
        let (message, notifications) = answer.into_message()?;
        let result = message.get("result").cloned().unwrap_or_default();
        if let Some(pattern) = &expect.notifications {
            verdict(
                "notifications",
                pattern.compare(Some(&notifications.into()), &mut self.vars()),
            )?;
        }
        let wanted = match &expect.body {
            BodyExpectation::Error(pattern) => ("error", pattern),
            BodyExpectation::Result(pattern) => ("result", pattern),
            _ => return Ok((headers, result)),
        };
        verdict(
            "",
            client::compare(self.era, message, id, wanted, &mut self.vars()),
        )?;
        Ok((headers, result))
    }

    async fn open_stream(
        &self,
        source: &StreamSource,
        expect: Option<&Expect>,
    ) -> Result<EventStream, Fault> {
        let (request, ignored) = match source {
            StreamSource::Http(send) => (send.request(&self.vars())?, Vec::new()),
            StreamSource::Listen {
                client,
                filter,
                ignore,
            } => {
                let client = self.client(client)?;
                let filter = filter.fill(&self.vars())?;
                (client.listen(&filter)?, ignore.clone())
            }
        };
        let response = self.send(request).await?;
        let default = Expect::only_status(200);
        let mut head = self.judge_head(&response, expect.unwrap_or(&default));
        if !is_event_stream(response.headers()) {
            let actual = header(response.headers(), CONTENT_TYPE.as_str());
            head.0.push(Mismatch {
                path: "/headers/content-type".to_owned(),
                expected: json!("text/event-stream"),
                actual,
                reason: None,
            });
        }
        if head.0.is_empty() {
            return Ok(EventStream::new(response.into_body()).ignoring(ignored));
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
                    return Err(Fault::new(format!(
                        "a comment ought to come, not {event:?}"
                    )));
                }
            },
            Wanted::Event(pattern) => (
                "event",
                pattern,
                event_value(stream.next_event().await?.ok_or_else(ended)?),
            ),
            Wanted::Message(pattern) => loop {
                // An event without data primes a client for resumption; it carries no message.
                let event = stream.next_event().await?.ok_or_else(ended)?;
                if !event.data.is_empty() {
                    break ("message", pattern, parse_json(&event.data)?);
                }
            },
        };
        verdict(place, pattern.compare(Some(&actual), &mut self.vars()))
    }

    fn judge_head(&self, response: &Response<Body>, expect: &Expect) -> Head {
        let mut vars = self.vars();
        let mut mismatches = Vec::new();
        if let Some(pattern) = &expect.status {
            let status = json!(response.status().as_u16());
            mismatches.extend(placed("status", pattern.compare(Some(&status), &mut vars)));
        }
        for (name, pattern) in &expect.headers {
            let value = header(response.headers(), name.as_str());
            mismatches.extend(placed(
                &format!("headers/{name}"),
                pattern.compare(value.as_ref(), &mut vars),
            ));
        }
        Head(mismatches)
    }
}

/// What is wrong with the head of an answer.
struct Head(Vec<Mismatch>);

impl Head {
    /// Reads the body: to be judged if the head was right, else to be shown. A stream with a wrong head is left alone,
    /// for it might never end.
    async fn read(self, response: Response<Body>) -> Result<Answer, Fault> {
        if self.0.is_empty() {
            return Answer::read(response).await;
        }
        let status = response.status();
        let said = if is_event_stream(response.headers()) {
            "with an event stream".to_owned()
        } else {
            shown(response).await
        };
        Err(Fault {
            problem: format!("answered {} {said}", described(status)),
            mismatches: self.0,
        })
    }
}

async fn shown(response: Response<Body>) -> String {
    match Answer::read(response).await {
        Ok(Answer {
            body: AnswerBody::Text(text),
            ..
        }) if !text.is_empty() => format!("with {}", shorten(&text, 300)),
        _ => "with no readable body".to_owned(),
    }
}

fn described(status: StatusCode) -> String {
    format!(
        "{} {}",
        status.as_u16(),
        status.canonical_reason().unwrap_or_default()
    )
    .trim_end()
    .to_owned()
}

fn text(answer: &Answer) -> Result<&str, Fault> {
    match &answer.body {
        AnswerBody::Text(text) => Ok(text),
        AnswerBody::Messages(_) => Err(Fault::new(
            "answered with an event stream instead of a body",
        )),
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<Value> {
    headers.get(name).map(|value| {
        String::from_utf8_lossy(value.as_bytes())
            .into_owned()
            .into()
    })
}

/// An event as transcripts write it; the name that is not said is `message`.
fn event_value(event: Event) -> Value {
    let mut value =
        json!({"event": event.event.as_deref().unwrap_or("message"), "data": event.data});
    if let Some(members) = value.as_object_mut() {
        members.extend(event.id.map(|id| ("id".to_owned(), id.into())));
        members.extend(event.retry.map(|retry| ("retry".to_owned(), retry.into())));
    }
    value
}

fn placed(place: &str, mismatches: Vec<Mismatch>) -> impl Iterator<Item = Mismatch> {
    mismatches.into_iter().map(move |mismatch| Mismatch {
        path: format!("/{place}{}", mismatch.path),
        ..mismatch
    })
}

fn verdict(place: &str, mismatches: Vec<Mismatch>) -> Result<(), Fault> {
    if mismatches.is_empty() {
        return Ok(());
    }
    let mismatches = if place.is_empty() {
        mismatches
    } else {
        placed(place, mismatches).collect()
    };
    Err(Fault {
        problem: "it is not what the transcript expects".to_owned(),
        mismatches,
    })
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
