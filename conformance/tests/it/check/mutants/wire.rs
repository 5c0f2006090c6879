//! What breaks the frame of messages, the streams and sessions that carry them, and values with a form.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use serde_json::{Value, json};

use super::{Mutant, instead_error, legacy, modern, named, set};
use crate::mutation::{
    Answer, ENDLESS, Fault, SentRequest, answer, answer_to, ask, instead, result,
};

pub(super) fn wire() -> Vec<Mutant> {
    vec![
        legacy("base.answered", silent("logging/setLevel")),
        modern("base.answered", silent("completion/complete")),
        legacy("base.once", looking(|response| format!("data: {response}\n\n").repeat(2))),
        modern(
            "base.once",
            looking(|response| {
                let other =
                    json!({"jsonrpc": "2.0", "id": "never asked", "result": response["result"]});
                format!("data: {response}\n\ndata: {other}\n\n")
            }),
        ),
        legacy(
            "base.json",
            looking(|response| {
                let broken =
                    response.to_string().replace("\"content\":[]", "\"content\":[],\"x\":NaN");
                format!("data: {broken}\n\n")
            }),
        ),
        legacy(
            "messages.no-requests",
            looking(|response| {
                let asked =
                    json!({"jsonrpc": "2.0", "id": "of the server", "method": "roots/list"});
                format!("data: {asked}\n\ndata: {response}\n\n")
            }),
        ),
        modern(
            "messages.log-unasked",
            looking(|response| {
                let params = json!({"level": "info", "data": "looking"});
                let log =
                    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                format!("data: {log}\n\ndata: {response}\n\n")
            }),
        ),
        legacy("messages.changes-unasked", changing("resources/updated")),
        modern("messages.changes-unasked", changing("tools/list_changed")),
        modern("http.unbuffered", streaming(false, |_, it| format!("data: {it}\n\n"))),
        legacy("messages.progress-unasked", late()),
        legacy("messages.progress-unasked", unasked()),
        modern("messages.progress-unasked", unasked()),
        legacy("http.event-name", looking(|it| format!("event: response\ndata: {it}\n\n"))),
        modern("http.status", answer_to(|it| it.is_call("look"), |answer| answer.status = 201)),
        legacy("http.status", answer_to(|it| it.is_rpc("no/such/method"), |it| it.status = 500)),
        legacy(
            "resources.subscribe",
            result("initialize", |result| {
                result["capabilities"]["resources"]["subscribe"] = true.into();
            })
            .and(instead_error(
                |asked| asked.is_rpc("resources/subscribe"),
                200,
                -32601,
            )),
        ),
        legacy("http.streams-end", endless()),
        legacy("session.guessable", counted()),
        legacy("session.lasts", forgetful()),
        legacy(
            "contents.base64",
            content(
                json!({"type": "image", "mimeType": "image/png", "data": "data:image/png;base64,AAAA"}),
            ),
        ),
        modern(
            "contents.base64",
            content(json!({"type": "resource", "resource": {"uri": "test://one", "blob": "a_b-"}})),
        ),
        modern(
            "contents.uri",
            content(json!({"type": "resource_link", "name": "one", "uri": "one.txt"})),
        ),
        legacy(
            "contents.uri",
            content(json!({"type": "resource_link", "name": "one", "uri": "file:///a b"})),
        ),
        legacy(
            "contents.uri",
            result("resources/templates/list", |result| {
                result["resourceTemplates"][0]["uriTemplate"] = "test://by/{id".into();
            }),
        ),
        legacy("contents.own", result("resources/read", |result| result["contents"] = json!([]))),
        modern(
            "contents.own",
            result("resources/read", |result| result["contents"][0]["uri"] = "test://two".into()),
        ),
    ]
}

/// Requests of this method are taken like notifications.
fn silent(method: &'static str) -> Fault {
    let declared = result("server/discover", |result| {
        result["capabilities"]["completions"] = json!({});
    });
    declared.and(instead(move |asked| asked.is_rpc(method).then(|| Answer::new(202, Value::Null))))
}

/// Calls of the read-only tool are answered by an event stream of this text.
fn looking(text: fn(&Value) -> String) -> Fault {
    streaming(true, move |_, response| text(response))
}

/// A change comes with the answer to a call.
fn changing(what: &'static str) -> Fault {
    streaming(true, move |_, response| {
        let change = json!({
            "jsonrpc": "2.0", "method": format!("notifications/{what}"),
            "params": {"uri": "test://one"},
        });
        format!("data: {change}\n\ndata: {response}\n\n")
    })
}

/// Progress comes after the answer.
fn late() -> Fault {
    streaming(true, |asked, response| {
        let token = &asked.body["params"]["_meta"]["progressToken"];
        let params = json!({"progressToken": token, "progress": 1});
        let progress =
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        let more = if token.is_null() { String::new() } else { format!("data: {progress}\n\n") };
        format!("data: {response}\n\n{more}")
    })
}

/// The same, as proxies pass it on at once, or not.
fn streaming(
    is_unbuffered: bool,
    text: impl Fn(&SentRequest, &Value) -> String + Send + Sync + 'static,
) -> Fault {
    instead(move |asked| {
        let mut result = json!({"content": [], "_meta": named()});
        if asked.headers.contains_key("mcp-method") {
            result["resultType"] = "complete".into();
        }
        let response = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result});
        let mut answer = Answer::new(200, text(asked, &response).into());
        let kind = HeaderValue::from_static("text/event-stream");
        answer.headers.insert("content-type", kind);
        if is_unbuffered {
            answer.headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
        }
        asked.is_call("look").then_some(answer)
    })
}

fn endless() -> Fault {
    instead(|asked| {
        let response = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": {"content": []}});
        let mut answer = Answer::new(200, format!("data: {response}\n\n").into());
        for (name, value) in [("content-type", "text/event-stream"), (ENDLESS, "yes")] {
            answer.headers.insert(name, HeaderValue::from_static(value));
        }
        asked.is_call("look").then_some(answer)
    })
}

/// Progress comes although no token was given.
fn unasked() -> Fault {
    answer(|asked, answer| {
        if asked.is_call("look") && asked.body["params"]["_meta"]["progressToken"].is_null() {
            let params = json!({"progressToken": "x", "progress": 1});
            let progress =
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
            answer.body = json!([progress, answer.body]);
        }
    })
}

/// Sessions are counted.
fn counted() -> Fault {
    let all = Arc::new(Mutex::new(Vec::<String>::new()));
    let known = all.clone();
    ask(move |asked| {
        let number = asked.session().and_then(|it| it.strip_prefix("session-number-"));
        if let Some(number) = number.map(|it| it.parse::<usize>().unwrap()) {
            let session = known.lock().unwrap()[number].clone();
            set(asked, "mcp-session-id", &session);
        }
    })
    .and(answer(move |_, answer| {
        if let Some(session) = answer.headers.get_mut("mcp-session-id") {
            let mut all = all.lock().unwrap();
            all.push(session.to_str().unwrap().to_owned());
            *session = format!("session-number-{}", all.len() - 1).parse().unwrap();
        }
    }))
}

/// A session does not outlive an unknown method, which is answered as it has to be.
fn forgetful() -> Fault {
    let gone = Mutex::new(BTreeSet::new());
    let session = |asked: &SentRequest| asked.session().unwrap_or_default().to_owned();
    instead(move |asked| {
        let mut gone = gone.lock().unwrap();
        let is_gone = gone.contains(&session(asked));
        if asked.is_rpc("no/such/method") {
            gone.insert(session(asked));
        }
        is_gone.then(|| Answer::new(404, Value::Null))
    })
}

/// The read-only tool returns this.
fn content(content: Value) -> Fault {
    answer(move |asked, answer| {
        if asked.is_call("look") && answer.body.get("result").is_some() {
            answer.body["result"]["content"] = json!([content]);
        }
    })
}
