//! Servers broken on purpose: a layer around a target that spoils requests, answers or streams in one chosen way.

mod commands;
mod errors;
mod formats;
mod identifiers;
mod offers;
mod results;
mod row;
mod sessions;
mod streams;
mod tools;
mod transport;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use mcp_conformance::{Body, BoxError, Decoder, Frame, SseEvent, Target};
use serde_json::{Value, json};
use tokio::sync::broadcast;

pub(crate) use self::row::{Mutation, both, legacy, modern, of};

/// All rows.
pub(crate) fn table() -> Vec<Mutation> {
    [
        tools::table(),
        results::table(),
        commands::table(),
        formats::table(),
        errors::table(),
        transport::table(),
        identifiers::table(),
        sessions::table(),
        streams::table(),
        offers::table(),
    ]
    .concat()
}

/// A request as faults see and change it.
#[derive(Clone)]
pub(crate) struct SentRequest {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    /// The body if it is JSON, else null.
    pub(crate) body: Value,
}

impl SentRequest {
    /// Whether it is a JSON-RPC message of this method.
    pub(crate) fn is_rpc(&self, method: &str) -> bool {
        self.body["method"] == method
    }

    /// Whether it calls this tool.
    pub(crate) fn is_call(&self, tool: &str) -> bool {
        self.is_rpc("tools/call") && self.body["params"]["name"] == tool
    }

    /// Whether it is `method path`; a path that ends in `*` names all that begin like it.
    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        let path_fits =
            path.strip_suffix('*').map_or(self.path == path, |start| self.path.starts_with(start));
        self.method == method && path_fits
    }

    /// Whether it opens the stream for unasked notifications, in either era.
    pub(crate) fn is_listen(&self) -> bool {
        self.is("GET", "/mcp") || self.is_rpc("subscriptions/listen")
    }

    /// Whether it opens a stream of commands.
    pub(crate) fn is_events(&self) -> bool {
        self.method == Method::GET && self.path.ends_with("/events")
    }

    /// The universe it sends a command to, by REST or MCP.
    pub(crate) fn commanded(&self) -> Option<&str> {
        if self.is_call("send_universe_command") {
            return self.body["params"]["arguments"]["universeId"].as_str();
        }
        self.path.strip_prefix("/universes/")?.strip_suffix("/commands")
    }

    pub(crate) fn session(&self) -> Option<&str> {
        self.headers.get("mcp-session-id")?.to_str().ok()
    }

    /// Its answer with this result.
    pub(crate) fn answered(&self, result: impl Into<Value>) -> Answer {
        let result: Value = result.into();
        Answer::new(200, json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result}))
    }

    /// Its answer with an error of this code.
    pub(crate) fn refused(&self, status: u16, code: i64) -> Answer {
        let error = json!({"code": code, "message": "no"});
        Answer::new(status, json!({"jsonrpc": "2.0", "id": self.body["id"], "error": error}))
    }
}

/// A header of an answer that does not end.
pub(crate) const ENDLESS: &str = "x-endless";

/// An answer that is no stream.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    /// The body if it is JSON, else null.
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        let headers = HeaderMap::from_iter([(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        )]);
        Self { status, headers, body }
    }
}

/// What an open stream does when another request has been answered.
pub(crate) enum Overheard {
    Nothing,
    Says(Frame),
    Ends,
}

type Ask = dyn Fn(&mut SentRequest) + Send + Sync;
type Instead = dyn Fn(&SentRequest) -> Option<Answer> + Send + Sync;
type ChangeAnswer = dyn Fn(&SentRequest, &mut Answer) + Send + Sync;
type ChangeFrame = dyn Fn(&SentRequest, Frame) -> Vec<Frame> + Send + Sync;
type React = dyn Fn(&SentRequest, &SentRequest) -> Overheard + Send + Sync;

/// What is wrong with a server. Every part left out does what a sound server does.
#[derive(Default)]
pub(crate) struct Fault {
    ask: Option<Box<Ask>>,
    instead: Option<Box<Instead>>,
    answer: Option<Box<ChangeAnswer>>,
    frame: Option<Box<ChangeFrame>>,
    overhear: Option<Box<React>>,
    endless: bool,
}

/// Requests reach the server changed.
pub(crate) fn ask(change: impl Fn(&mut SentRequest) + Send + Sync + 'static) -> Fault {
    Fault { ask: Some(Box::new(change)), ..Fault::default() }
}

/// Some requests are answered without the server.
pub(crate) fn instead(
    answer: impl Fn(&SentRequest) -> Option<Answer> + Send + Sync + 'static,
) -> Fault {
    Fault { instead: Some(Box::new(answer)), ..Fault::default() }
}

/// Answers come back changed.
pub(crate) fn answer(change: impl Fn(&SentRequest, &mut Answer) + Send + Sync + 'static) -> Fault {
    Fault { answer: Some(Box::new(change)), ..Fault::default() }
}

/// Answers to requests that fit come back changed.
pub(crate) fn answer_to(fits: fn(&SentRequest) -> bool, change: fn(&mut Answer)) -> Fault {
    answer(move |asked, answer| {
        if fits(asked) {
            change(answer);
        }
    })
}

/// Requests that fit are answered with this status and nothing else, without the server.
pub(crate) fn status(status: u16, fits: fn(&SentRequest) -> bool) -> Fault {
    instead(move |asked| fits(asked).then(|| Answer::new(status, Value::Null)))
}

/// The results of a JSON-RPC method come back changed.
pub(crate) fn result(
    method: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Fault {
    answer(move |asked, answer| {
        if asked.is_rpc(method) && answer.body.get("result").is_some() {
            change(&mut answer.body["result"]);
        }
    })
}

/// The results of a tool come back changed.
pub(crate) fn tool(
    name: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Fault {
    answer(move |asked, answer| {
        if asked.is_call(name) && answer.body.get("result").is_some() {
            change(&mut answer.body["result"]);
        }
    })
}

/// What a tool says when it succeeds comes back changed, alike as text and as structured content.
pub(crate) fn said(
    name: &'static str,
    change: impl Fn(&mut Value) + Send + Sync + 'static,
) -> Fault {
    tool(name, move |result| {
        if result["isError"] != true {
            restate(result, &change);
        }
    })
}

/// Changes what a tool result says, alike as text and as structured content.
pub(crate) fn restate(result: &mut Value, change: impl Fn(&mut Value)) {
    let mut value: Value =
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    change(&mut value);
    result["content"][0]["text"] = value.to_string().into();
    if let Some(structured) = result.get_mut("structuredContent") {
        *structured = value;
    }
}

/// Events of streams that fit are lost.
pub(crate) fn lost(
    fits: impl Fn(&SentRequest, &SseEvent) -> bool + Send + Sync + 'static,
) -> Fault {
    frame(move |asked, frame| match &frame {
        Frame::Event(event) if fits(asked, event) => vec![],
        _ => vec![frame],
    })
}

/// The frames of streams come changed, multiplied or not at all.
pub(crate) fn frame(
    change: impl Fn(&SentRequest, Frame) -> Vec<Frame> + Send + Sync + 'static,
) -> Fault {
    Fault { frame: Some(Box::new(change)), ..Fault::default() }
}

/// Open streams (first argument) react to other requests (second argument).
pub(crate) fn overhear(
    react: impl Fn(&SentRequest, &SentRequest) -> Overheard + Send + Sync + 'static,
) -> Fault {
    Fault { overhear: Some(Box::new(react)), ..Fault::default() }
}

impl Fault {
    /// Both faults at once; where both have a part, that of `other` counts.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            ask: other.ask.or(self.ask),
            instead: other.instead.or(self.instead),
            answer: other.answer.or(self.answer),
            frame: other.frame.or(self.frame),
            overhear: other.overhear.or(self.overhear),
            endless: other.endless || self.endless,
        }
    }

    /// Streams that ought to end go on in silence.
    pub(crate) fn endless(self) -> Self {
        Self { endless: true, ..self }
    }
}

/// The same server, broken.
pub(crate) fn broken(target: Target, fault: Fault) -> Target {
    let fault = Arc::new(fault);
    let (answered, _) = broadcast::channel::<SentRequest>(1024);
    Target::in_process(move |request| {
        let (target, fault, answered) = (target.clone(), fault.clone(), answered.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let mut asked = SentRequest {
                method: head.method,
                path: head.uri.path().to_owned(),
                headers: head.headers,
                body: serde_json::from_slice(&body).unwrap_or_default(),
            };
            if let Some(ask) = &fault.ask {
                ask(&mut asked);
            }
            if let Some(answer) = fault.instead.as_ref().and_then(|instead| instead(&asked)) {
                return Ok::<_, BoxError>(encode(answer));
            }
            let mut request = Request::new(if asked.body.is_null() {
                body
            } else {
                asked.body.to_string().into()
            });
            *request.method_mut() = asked.method.clone();
            *request.uri_mut() = asked.path.parse()?;
            *request.headers_mut() = asked.headers.clone();
            request.headers_mut().remove("content-length");
            let others = answered.subscribe();
            let response = target.send(request).await?;
            let _ = answered.send(asked.clone());
            let kind = response.headers().get("content-type").map(|kind| kind.as_bytes().to_vec());
            if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
                return Ok(spoil_stream(response, asked, fault, others));
            }
            let (head, body) = response.into_parts();
            let body = body.collect().await?.to_bytes();
            let mut answer = Answer {
                status: head.status.as_u16(),
                headers: head.headers,
                body: serde_json::from_slice(&body).unwrap_or_default(),
            };
            if let Some(change) = &fault.answer {
                change(&asked, &mut answer);
            }
            Ok(encode(answer))
        }
    })
}

fn encode(answer: Answer) -> Response<Body> {
    let kind = answer.headers.get("content-type");
    let streams = kind.is_some_and(|kind| kind == "text/event-stream");
    let bytes = match answer.body {
        Value::Null => Bytes::new(),
        // A stream is given as it is written.
        Value::String(text) if streams => text.into(),
        body => body.to_string().into(),
    };
    let body = Full::from(bytes).map_err(BoxError::from);
    let body = if answer.headers.contains_key(ENDLESS) {
        let open = stream::pending::<Result<http_body::Frame<Bytes>, BoxError>>();
        let frames = body.into_data_stream().map_ok(http_body::Frame::data);
        StreamBody::new(frames.chain(open)).boxed_unsync()
    } else {
        body.boxed_unsync()
    };
    let mut response = Response::new(body);
    *response.status_mut() = answer.status.try_into().unwrap();
    *response.headers_mut() = answer.headers;
    response.headers_mut().remove("content-length");
    response
}

/// How long a stream listens for other requests once its server has ended it: what it receives then was answered
/// before.
const LAST_WORDS: Duration = Duration::from_millis(1);

fn spoil_stream(
    response: Response<Body>,
    asked: SentRequest,
    fault: Arc<Fault>,
    others: broadcast::Receiver<SentRequest>,
) -> Response<Body> {
    struct Streaming {
        body: Body,
        decoder: Decoder,
        asked: SentRequest,
        fault: Arc<Fault>,
        others: broadcast::Receiver<SentRequest>,
        ended: bool,
    }
    response.map(|body| {
        let streaming = Streaming { body, decoder: Decoder::default(), asked, fault, others, ended: false };
        let frames = stream::unfold(streaming, |mut streaming| async move {
            loop {
                let Streaming { body, decoder, asked, fault, others, ended } = &mut streaming;
                let mut said = Vec::new();
                tokio::select! {
                    biased;
                    Ok(other) = others.recv() => match fault.overhear.as_ref().map(|overhear| overhear(asked, &other)) {
                        Some(Overheard::Ends) => return None,
                        Some(Overheard::Says(frame)) => said.push(frame),
                        Some(Overheard::Nothing) | None => {}
                    },
                    frame = body.frame(), if !*ended => match frame {
                        Some(frame) => {
                            let mut frames = VecDeque::new();
                            decoder.push(&frame.unwrap().into_data().unwrap_or_default(), &mut frames).unwrap();
                            for frame in frames {
                                match &fault.frame {
                                    Some(change) => said.append(&mut change(asked, frame)),
                                    None => said.push(frame),
                                }
                            }
                        }
                        None => *ended = true,
                    },
                    () = tokio::time::sleep(LAST_WORDS), if *ended && !fault.endless => return None,
                }
                if !said.is_empty() {
                    let text: String = said.iter().map(write).collect();
                    return Some((Ok::<_, BoxError>(http_body::Frame::data(Bytes::from(text))), streaming));
                }
            }
        });
        StreamBody::new(frames).boxed_unsync()
    })
}

fn write(frame: &Frame) -> String {
    match frame {
        Frame::Comment(text) => format!(":{text}\n\n"),
        Frame::Event(SseEvent { event, id, data, retry: _ }) => {
            let event = event.as_ref().map(|event| format!("event: {event}\n")).unwrap_or_default();
            let id = id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
            let data: String = data.split('\n').map(|line| format!("data: {line}\n")).collect();
            format!("{event}{id}{data}\n")
        }
    }
}

/// An event of the stream of commands.
pub(crate) fn command_event(data: &Value) -> Frame {
    let (event, id) = (Some("command".to_owned()), Some("99".to_owned()));
    Frame::Event(SseEvent { event, id, data: data.to_string(), retry: None })
}
