//! The steps of a transcript, one JSON object each.

use http::{HeaderName, Method};
use serde_json::Value;

use super::Era;
use super::expect::{Expect, Of};
use super::fields::Fields;
use super::opening::Opening;
use crate::error::{Problem, each_element};
use crate::pattern::Pattern;
use crate::template::{Template, Text};

/// How deep `parallel` and `silent` may hold each other.
const MAX_NESTING: usize = 4;

/// One line of a transcript, or one element of a nested list of steps.
#[derive(Debug)]
pub(crate) struct Step {
    /// The line it stands on, counted from 1.
    pub(crate) line: usize,
    /// The only era it is for.
    pub(crate) era: Option<Era>,
    /// What it shows, for failure reports.
    pub(crate) note: Option<String>,
    pub(crate) action: Action,
}

#[derive(Debug)]
pub(crate) enum Action {
    /// Opens an MCP client: the handshake in the legacy era, nothing but its name in the modern one.
    Open { client: String, opening: Box<Opening>, expect: Option<Expect> },
    /// One HTTP exchange.
    Http { send: Send, expect: Expect },
    /// One MCP message, framed as the era wants it.
    Rpc { client: String, kind: RpcKind, method: String, params: Option<Template>, expect: Expect },
    /// Opens a stream under a name.
    Stream { name: String, source: StreamSource, expect: Option<Expect> },
    /// Waits for the next thing on a stream.
    Await { stream: String, wanted: Wanted },
    /// Runs steps, during which the streams stay open and silent.
    Silent { streams: Vec<String>, steps: Vec<Step> },
    /// Waits for a stream to end without another event.
    End { stream: String },
    /// Drops a stream from this side.
    Close { stream: String },
    /// Compares a captured variable.
    Check { name: String, pattern: Pattern },
    /// Runs lists of steps at the same time.
    Parallel(Vec<Vec<Step>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RpcKind {
    Request,
    Notification,
}

#[derive(Debug)]
pub(crate) enum StreamSource {
    Http(Send),
    /// The era's stream for notifications that answer no request: GET, or `subscriptions/listen` with this filter.
    Listen {
        client: String,
        filter: Template,
        /// Methods of messages that do not count, since other clients of the server may cause them.
        ignore: Vec<String>,
    },
}

#[derive(Debug)]
pub(crate) enum Wanted {
    /// An event as `{event, data, id?, retry?}`.
    Event(Pattern),
    /// An event whose data is a JSON-RPC message.
    Message(Pattern),
    Comment(Pattern),
}

/// A request as it stands in a transcript.
#[derive(Debug)]
pub(crate) struct Send {
    pub(crate) method: Method,
    pub(crate) path: Text,
    pub(crate) headers: Vec<(HeaderName, Text)>,
    pub(crate) body: SendBody,
}

#[derive(Debug)]
pub(crate) enum SendBody {
    Empty,
    /// Sent with `content-type: application/json` unless the headers say otherwise.
    Json(Template),
    Text(Text),
}

/// A step is what the first of these that it has says; `stream` stands before the `http` it may be opened by.
const VERBS: [&str; 10] =
    ["open", "stream", "http", "mcp", "await", "silent", "end", "close", "check", "parallel"];

impl Step {
    pub(super) fn parse(line: usize, source: &Value) -> Result<Self, Problem> {
        Self::parse_nested(line, source, 0)
    }

    fn parse_nested(line: usize, source: &Value, depth: usize) -> Result<Self, Problem> {
        let mut fields = Fields::of(source)?;
        let era = fields.optional_string("era")?.map(|era| era.parse()).transpose();
        let era = era.map_err(|problem: Problem| problem.within("era"))?;
        let note = fields.optional_string("note")?;
        let Some(verb) = VERBS.into_iter().find(|verb| fields.has(verb)) else {
            return Err(Problem::new(format!(
                "this is not a step: a step has one of the members {}",
                VERBS.join(", ")
            )));
        };
        let steps = |source: &Value| steps(line, source, depth + 1);
        let action = match verb {
            "open" => Action::Open {
                client: fields.string("open")?,
                opening: Box::new(Opening::parse(&mut fields)?),
                expect: fields.parse("expect", |source| Expect::parse(source, Of::Rpc))?,
            },
            "stream" => Action::Stream {
                name: fields.string("stream")?,
                source: stream_source(&mut fields)?,
                expect: fields.parse("expect", |source| Expect::parse(source, Of::Head))?,
            },
            "http" => Action::Http {
                send: fields.parse_required("http", Send::parse)?,
                expect: expect(&mut fields, Of::Http)?,
            },
            "mcp" => rpc(&mut fields)?,
            "await" => {
                Action::Await { stream: fields.string("await")?, wanted: wanted(&mut fields)? }
            }
            "silent" => Action::Silent {
                streams: fields
                    .strings("silent")?
                    .filter(|streams| !streams.is_empty())
                    .ok_or_else(|| Problem::new("lists no stream").within("silent"))?,
                steps: fields.parse_required("while", steps)?,
            },
            "end" => Action::End { stream: fields.string("end")? },
            "close" => Action::Close { stream: fields.string("close")? },
            "check" => Action::Check {
                name: fields.string("check")?,
                pattern: fields.parse_required("is", Pattern::parse)?,
            },
            _ => Action::Parallel(
                fields.parse("parallel", |source| each(source, steps))?.unwrap_or_default(),
            ),
        };
        fields.finish()?;
        Ok(Self { line, era, note, action })
    }

    /// The lists of steps inside it.
    pub(crate) fn nested(&self) -> Vec<&[Self]> {
        match &self.action {
            Action::Silent { steps, .. } => vec![steps],
            Action::Parallel(branches) => branches.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn is_for(&self, era: Era) -> bool {
        self.era.is_none_or(|only| only == era)
    }
}

/// How many steps there are, nested ones included.
pub(super) fn count(steps: &[Step]) -> usize {
    steps.iter().map(|step| 1 + step.nested().into_iter().map(count).sum::<usize>()).sum()
}

impl Send {
    fn parse(source: &Value) -> Result<Self, Problem> {
        let mut fields = Fields::of(source)?;
        let method = fields.string("method")?;
        let send = Self {
            method: method.parse().map_err(|_| {
                Problem::new(format!("{method:?} is not an HTTP method")).within("method")
            })?,
            path: fields
                .parse_required("path", |path| Text::parse(path.as_str().unwrap_or_default()))?,
            headers: fields.headers("strings", |value| {
                Text::parse(value.as_str().ok_or_else(|| Problem::new("expected a string"))?)
            })?,
            body: match (fields.parse("json", Template::parse)?, fields.optional_string("text")?) {
                (None, None) => SendBody::Empty,
                (Some(json), None) => SendBody::Json(json),
                (None, Some(text)) => {
                    SendBody::Text(Text::parse(&text).map_err(|problem| problem.within("text"))?)
                }
                _ => return Err(Problem::new("a body is either `json` or `text`").within("text")),
            },
        };
        fields.finish()?;
        Ok(send)
    }
}

fn rpc(fields: &mut Fields) -> Result<Action, Problem> {
    let client = fields.optional_string("client")?.unwrap_or_else(|| "main".to_owned());
    let source = fields.required("mcp")?;
    let within = |problem: Problem| problem.within("mcp");
    let mut call = Fields::of(&source).map_err(within)?;
    let (kind, method) = match (
        call.optional_string("method").map_err(within)?,
        call.optional_string("notify").map_err(within)?,
    ) {
        (Some(method), None) => (RpcKind::Request, method),
        (None, Some(method)) => (RpcKind::Notification, method),
        _ => {
            return Err(Problem::new(
                "needs either `method` (for a request) or `notify` (for a notification)",
            )
            .within("mcp"));
        }
    };
    let params = call.parse("params", Template::parse).map_err(within)?;
    call.finish().map_err(within)?;
    let expect = match kind {
        RpcKind::Request => expect(fields, Of::Rpc)?,
        RpcKind::Notification if fields.has("expect") => expect(fields, Of::Http)?,
        RpcKind::Notification => Expect::only_status(202),
    };
    Ok(Action::Rpc { client, kind, method, params, expect })
}

fn stream_source(fields: &mut Fields) -> Result<StreamSource, Problem> {
    let client = fields.optional_string("client")?;
    let ignore = fields.strings("ignore")?;
    match (fields.parse("http", Send::parse)?, fields.parse("listen", Template::parse)?) {
        (Some(send), None) if client.is_none() && ignore.is_none() => Ok(StreamSource::Http(send)),
        (None, Some(filter)) => Ok(StreamSource::Listen {
            client: client.unwrap_or_else(|| "main".to_owned()),
            filter,
            ignore: ignore.unwrap_or_default(),
        }),
        _ => Err(Problem::new(
            "a stream needs either `http` or `listen`; `client` and `ignore` are only for `listen`",
        )
        .within("stream")),
    }
}

fn wanted(fields: &mut Fields) -> Result<Wanted, Problem> {
    let event = fields.parse("event", Pattern::parse)?.map(Wanted::Event);
    let message = fields.parse("message", Pattern::parse)?.map(Wanted::Message);
    let comment = fields.parse("comment", Pattern::parse)?.map(Wanted::Comment);
    match (event, message, comment) {
        (Some(wanted), None, None) | (None, Some(wanted), None) | (None, None, Some(wanted)) => {
            Ok(wanted)
        }
        _ => Err(Problem::new("needs one of `event`, `message` and `comment`").within("await")),
    }
}

fn expect(fields: &mut Fields, of: Of) -> Result<Expect, Problem> {
    fields.parse_required("expect", |source| Expect::parse(source, of))
}

fn steps(line: usize, source: &Value, depth: usize) -> Result<Vec<Step>, Problem> {
    if depth > MAX_NESTING {
        return Err(Problem::new(format!("steps are nested deeper than {MAX_NESTING}")));
    }
    each(source, |step| Step::parse_nested(line, step, depth))
}

fn each<T>(
    source: &Value,
    parse: impl Fn(&Value) -> Result<T, Problem>,
) -> Result<Vec<T>, Problem> {
    match source {
        Value::Array(items) if !items.is_empty() => each_element(items, parse),
        _ => Err(Problem::new("expected an array with at least one element")),
    }
}
