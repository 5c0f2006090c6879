//! Every message that came while the other rules were checked: its frame, its id, its schema.

use futures_util::FutureExt as _;
use serde_json::{Value, json};

use super::super::heard::{Heard, every};
use super::super::rule::Probe::{Asks, Hears, Looks};
use super::super::rule::{Outcome, Rule, Scope};
use super::{EVERYWHERE, HTTP, MODERN, MODERN_HTTP, MUST, PRACTICE, SHOULD, STDIO};
use crate::probe::{Bench, Exchange, Logged, NOT_WRITTEN, QUIET, Revision, is_like_a_message};
use crate::schema::misfit;
use crate::sse::is_event_stream;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "base.answered",
        level: MUST,
        section: "Base protocol, Responses (JSON-RPC 2.0 §5)",
        title: "Every request gets a response",
        fix: "answer each request with a result or an error, and keep the connection and the process until then",
        scope: EVERYWHERE,
        probe: Looks(answered),
    },
    Rule {
        id: "base.once",
        level: MUST,
        section: "Base protocol, Responses (JSON-RPC 2.0 §5)",
        title: "Each request gets one response, and nothing else does",
        fix: "send the response of a request once, and none for what was not requested",
        scope: EVERYWHERE,
        probe: Hears(once),
    },
    Rule {
        id: "base.id-echo",
        level: MUST,
        section: "Base protocol, Responses",
        title: "A response has the id of its request, with the same JSON type, and so does an error",
        fix: "return the id unchanged: a string stays a string, a number stays a number, spaces stay, and stdin and stdout are UTF-8",
        scope: EVERYWHERE,
        probe: Asks(|bench| id_echo(bench).boxed()),
    },
    Rule {
        id: "base.frame",
        level: MUST,
        section: "Base protocol, Responses",
        title: "A response has either a result or an error",
        fix: "send {\"jsonrpc\":\"2.0\",\"id\":…} with result or error, never both",
        scope: EVERYWHERE,
        probe: Hears(frame),
    },
    Rule {
        id: "base.notification",
        level: MUST,
        section: "Base protocol, Notifications",
        title: "A notification gets no JSON-RPC response, even if its method is unknown",
        fix: "send no response to a message without an id",
        scope: EVERYWHERE,
        probe: Asks(|bench| notification(bench).boxed()),
    },
    Rule {
        id: "base.json",
        level: MUST,
        section: "Base protocol (RFC 8259)",
        title: "Every message is valid JSON, in UTF-8",
        fix: "write null for a number that JSON does not have, such as NaN or Infinity, keep the quotes of texts such as ids, and set the encoding of stdout to UTF-8",
        scope: EVERYWHERE,
        probe: Hears(valid_json),
    },
    Rule {
        id: "stdio.messages-only",
        level: MUST,
        section: "stdio",
        title: "Every line on stdout is a JSON-RPC message, from the start of the program to its end",
        fix: "write logs to stderr, in tools too, and each message on one line",
        scope: STDIO,
        probe: Hears(messages_only),
    },
    Rule {
        id: "messages.schema",
        level: MUST,
        section: "Schema reference (schema.json of the revision)",
        title: "Every message is valid by the official schema of its revision",
        fix: "send all required members with the types of the schema, and leave optional members out instead of sending null",
        scope: EVERYWHERE,
        probe: Hears(fit),
    },
    Rule {
        id: "messages.error-codes",
        level: SHOULD,
        section: "2026-07-28, Base protocol, Error codes",
        title: "Errors have no code that only older revisions used, or that is reserved for the protocol",
        fix: "use −32602 for things that do not exist, and codes outside −32768 to −32000 for your own errors",
        scope: MODERN,
        probe: Hears(error_codes),
    },
    Rule {
        id: "messages.no-requests",
        level: MUST,
        section: "2025-06-18, Lifecycle, Operation; 2026-07-28, Base protocol",
        title: "The server sends no request that needs a capability which the client does not declare; since 2026-07-28 it sends no request at all",
        fix: "look at the capabilities of the client before you ask it; in 2026-07-28 ask with a result that needs input (resultType input_required)",
        scope: Scope { first: Revision::V2025_06_18, ..EVERYWHERE },
        probe: Hears(no_requests),
    },
    Rule {
        id: "http.unbuffered",
        level: SHOULD,
        section: "2026-07-28, Streamable HTTP, Sending messages",
        title: "An event stream has the header X-Accel-Buffering: no",
        fix: "send X-Accel-Buffering: no with every event stream, so that proxies pass events on at once",
        scope: MODERN_HTTP,
        probe: Looks(unbuffered),
    },
    Rule {
        id: "http.streams-end",
        level: SHOULD,
        section: "Streamable HTTP, Sending messages",
        title: "An event stream that answers a request ends after the response",
        fix: "close the stream once the response is sent",
        scope: HTTP,
        probe: Looks(streams_end),
    },
    Rule {
        id: "http.event-name",
        level: PRACTICE,
        section: "Streamable HTTP, Sending messages (WHATWG HTML §9.2.6)",
        title: "An event that carries a message has no name, or the name message",
        fix: "leave out event:, or send event: message, since clients ignore other events",
        scope: HTTP,
        probe: Hears(event_name),
    },
    Rule {
        id: "http.content-type",
        level: MUST,
        section: "Streamable HTTP, Sending messages",
        title: "A request is answered with application/json or text/event-stream",
        fix: "set Content-Type to the media type of the body",
        scope: HTTP,
        probe: Hears(content_type),
    },
    Rule {
        id: "http.status",
        level: PRACTICE,
        section: "Streamable HTTP, Sending messages",
        title: "A result comes with status 200, and a JSON-RPC error not with a server error (5xx)",
        fix: "send results with status 200, and errors with 200 or the 4xx that the revision names: clients take 5xx for a failed connection",
        scope: HTTP,
        probe: Hears(status),
    },
    Rule {
        id: "session.lasts",
        level: PRACTICE,
        section: "none",
        title: "The session, or the program, is still there after a wrong request",
        fix: "answer a wrong request with an error, and keep the session and the process",
        scope: EVERYWHERE,
        probe: Looks(lasts),
    },
];

fn answered(log: &Logged) -> Vec<(String, &Exchange)> {
    // A program that can run only once at a time, since it has a port or a file, answers nothing in the second one, and
    // a slow machine may start it too late.
    let has_started = |it: &&Exchange| {
        let has_ended = it.broken.as_ref().is_some_and(|it| it.starts_with(NOT_WRITTEN));
        !it.is_unheard && !has_ended
    };
    let unanswered = log.unanswered.iter().filter(has_started);
    unanswered.map(|it| (it.outcome(), it)).collect()
}

fn lasts(log: &Logged) -> Vec<(String, &Exchange)> {
    let seen =
        |rule: &str, it: &Exchange| format!("after the requests of {rule}: {}", it.outcome());
    log.lost.iter().map(|(rule, it)| (seen(rule, it), it)).collect()
}

async fn id_echo(bench: &mut Bench) -> Outcome {
    for id in [json!("a string"), json!("7"), json!(7), json!(0), json!(" with späces ")] {
        let message = bench.message_with(id, bench.plain(), json!({}));
        bench.send(&message).await;
    }
    every(bench, |heard| {
        if !heard.is_response() || heard.request().is_some() || heard.may_lack_id() {
            return None;
        }
        Some(format!("the id {} came back as {}", heard.pending()?, heard.id()))
    })
}

fn once(heard: &Heard<'_>) -> Option<String> {
    // A stream of its own may bring again what was lost on another.
    heard.last().filter(|_| heard.is_response() && !heard.may_lack_id())?;
    let id = heard.id();
    match heard.request() {
        Some(_) => {
            (!id.is_null() && heard.is_surplus()).then(|| format!("the id {id} was answered again"))
        }
        None if heard.pending().is_some() || heard.requests(id) > 0 => None,
        // An id that is not in what could not be read is made up.
        None if heard.notification().is_some() && !heard.may_be_of_garbage() => None,
        None => Some(format!("a response with the id {id} came, which no request has")),
    }
}

fn frame(heard: &Heard<'_>) -> Option<String> {
    let seen = broken_frame(heard)?;
    Some(format!("{}: {seen}", heard.method().unwrap_or("a response")))
}

fn broken_frame(heard: &Heard<'_>) -> Option<&'static str> {
    let has = |member| heard.message.get(member).is_some();
    match (has("result"), has("error")) {
        _ if !heard.is_response() => None,
        (true, true) => Some("there is a result and an error"),
        (false, false) => Some("there is neither a result nor an error"),
        _ => None,
    }
}

async fn notification(bench: &mut Bench) -> Outcome {
    bench.notify("notifications/no-such-notification", QUIET).await;
    every(bench, |heard| {
        let is_refusal = || heard.may_lack_id() || heard.may_be_of_garbage();
        if !heard.is_response() || heard.request().is_some() || is_refusal() {
            return None;
        }
        let method = heard.notification().filter(|_| heard.pending().is_none())?;
        Some(format!("{method} was answered"))
    })
}

fn valid_json(heard: &Heard<'_>) -> Option<String> {
    let is_meant = heard.talk.http.is_some() || is_like_a_message(&heard.line.text);
    let is_garbled = match &heard.talk.http {
        Some(exchange) => exchange.is_garbled,
        None => heard.line.messages.is_none(),
    };
    match serde_json::from_str::<Value>(&heard.line.text) {
        Err(error) if is_meant => Some(format!("a message is not JSON: {error}")),
        Ok(_) if is_garbled => Some("a message is not UTF-8".to_owned()),
        _ => None,
    }
}

fn messages_only(heard: &Heard<'_>) -> Option<String> {
    // A log may be JSON, too.
    let is_message = heard.is_response() || heard.message.get("method").is_some();
    let is_good = is_message || is_like_a_message(&heard.line.text);
    let start: String = heard.line.text.chars().take(80).collect();
    (!is_good).then(|| format!("a line is not a message: {start}"))
}

fn fit(heard: &Heard<'_>) -> Option<String> {
    let revision = heard.revision;
    let asked = match heard.message.get("method") {
        Some(_) => "",
        None => heard.method()?,
    };
    // A server that accepts a handshake answers it for an older revision, even in a modern request.
    let is_older = revision.is_modern() && asked == "initialize";
    // A line that is no message has no schema, and whether the result of ping is empty is another rule.
    let is_other = heard.message.is_null()
        || asked == "ping" && heard.message.get("result").is_some_and(|it| !it.is_object());
    if is_older || is_other || heard.is_free() || broken_frame(heard).is_some() {
        return None;
    }
    let misfit = misfit(revision, asked, heard.message)?;
    let own = heard.message.get("method").and_then(Value::as_str);
    Some(format!("{}: {misfit}", own.unwrap_or(asked)))
}

fn error_codes(heard: &Heard<'_>) -> Option<String> {
    let code = heard.message.pointer("/error/code")?.as_i64()?;
    // Those of the protocol are −32020 to −32022; −32002 and −32042 went with older revisions.
    let is_kept = (-32099..=-32023).contains(&code) || (-32019..=-32000).contains(&code);
    let method = heard.method().filter(|_| is_kept)?;
    Some(format!("{method} was refused with {code}"))
}

fn no_requests(heard: &Heard<'_>) -> Option<String> {
    // Every revision before has it in both directions.
    let is_free = |method: &Value| !heard.revision.is_modern() && method == "ping";
    heard.message.get("id")?;
    let method = heard.message.get("method").filter(|method| !is_free(method))?;
    Some(format!("the server sent the request {method}; the client declares no capabilities"))
}

fn unbuffered(log: &Logged) -> Vec<(String, &Exchange)> {
    let all = log.talks.iter().filter_map(|talk| talk.http.as_ref());
    let streams = all.filter(|it| it.status == Some(200) && is_event_stream(&it.headers));
    let wrong = streams.filter(|it| it.header("x-accel-buffering") != Some("no"));
    wrong.map(|it| ("the stream has no X-Accel-Buffering: no".to_owned(), it)).collect()
}

fn event_name(heard: &Heard<'_>) -> Option<String> {
    let name = heard.line.event.as_deref().filter(|name| *name != "message")?;
    heard.message.get("jsonrpc")?;
    Some(format!("a message came as the event {name:?}"))
}

fn content_type(heard: &Heard<'_>) -> Option<String> {
    let exchange = heard.talk.http.as_ref().filter(|it| it.status == Some(200))?;
    let kind = exchange.header("content-type").unwrap_or_default();
    let kind = kind.split(';').next()?.trim().to_ascii_lowercase();
    let is_good = kind == "application/json" || kind == "text/event-stream";
    let method = heard.method().filter(|_| !is_good)?;
    Some(format!("{method}: Content-Type is {kind:?}"))
}

fn status(heard: &Heard<'_>) -> Option<String> {
    let method = heard.method().filter(|_| heard.is_response())?;
    let status = heard.talk.http.as_ref()?.status?;
    match heard.message.get("result") {
        Some(_) if status != 200 => Some(format!("{method}: a result with status {status}")),
        // A server that is too busy may say so.
        None if status >= 500 && status != 503 => {
            Some(format!("{method}: an error with status {status}"))
        }
        _ => None,
    }
}

fn streams_end(log: &Logged) -> Vec<(String, &Exchange)> {
    let all = log.talks.iter().filter_map(|talk| talk.http.as_ref());
    let seen = || format!("the stream was still open {} ms after its response", QUIET.as_millis());
    all.filter(|it| it.is_open).map(|it| (seen(), it)).collect()
}
