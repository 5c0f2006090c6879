//! What the runner sends and how it judges answers, shown on servers of a few lines.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use mcp_conformance::{Body, BoxError, Era, Failure, Replay, Target, Transcript};
use serde_json::{Value, json};

/// What a server was asked, in order.
type Asked = Arc<Mutex<Vec<(String, HeaderMap, Value)>>>;

/// A server that answers every request by a function of its path and JSON body, and what it was asked.
fn server(answer: fn(&str, &Value) -> Response<Body>) -> (Target, Asked) {
    let asked = Asked::default();
    let log = asked.clone();
    let target = Target::in_process(move |request: Request<Full<Bytes>>| {
        let log = log.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let path = head.uri.path().to_owned();
            let response = answer(&path, &body);
            log.lock()
                .unwrap()
                .push((format!("{} {path}", head.method), head.headers, body));
            Ok::<_, BoxError>(response)
        }
    });
    (target, asked)
}

fn json(status: u16, body: &Value) -> Response<Body> {
    let body = Full::from(body.to_string())
        .map_err(BoxError::from)
        .boxed_unsync();
    Response::builder()
        .status(status)
        .header("content-type", "application/json")
        .body(body)
        .unwrap()
}

/// An event stream of these pieces, which then ends or stays open.
fn events(pieces: &[&str], open: bool) -> Response<Body> {
    let pieces: Vec<_> = pieces
        .iter()
        .map(|piece| Ok::<_, BoxError>(http_body::Frame::data(Bytes::from((*piece).to_owned()))))
        .collect();
    let rest = if open {
        stream::pending().left_stream()
    } else {
        stream::empty().right_stream()
    };
    let body = StreamBody::new(stream::iter(pieces).chain(rest)).boxed_unsync();
    Response::builder()
        .header("content-type", "text/event-stream; charset=utf-8")
        .body(body)
        .unwrap()
}

/// Answers any MCP request with an empty result, as its era wants it.
fn echo(_: &str, body: &Value) -> Response<Body> {
    if body["id"].is_null() {
        return Response::builder()
            .status(202)
            .body(Full::default().map_err(BoxError::from).boxed_unsync())
            .unwrap();
    }
    let modern = body["params"]["_meta"].is_object();
    let result = match modern {
        true => json!({"resultType": "complete", "_meta": {}, "ttlMs": 5, "cacheScope": "public"}),
        false if body["method"] == "initialize" => {
            json!({"protocolVersion": "2025-06-18", "capabilities": {}})
        }
        false => json!({}),
    };
    let mut response = json(
        200,
        &json!({"jsonrpc": "2.0", "id": body["id"], "result": result}),
    );
    response
        .headers_mut()
        .insert("mcp-session-id", "s-1".parse().unwrap());
    response
}

async fn replay(target: &Target, era: Era, steps: &str) -> Result<(), Failure> {
    let transcript = Transcript::parse(
        "t.jsonl",
        &format!("{{\"transcript\":1,\"name\":\"t\"}}\n{steps}"),
    );
    let transcript = transcript.unwrap_or_else(|error| panic!("{error}"));
    Replay::new(target.clone())
        .step_timeout(Duration::from_millis(200))
        .run_one(&transcript, era)
        .await
}

#[track_caller]
fn fails(outcome: Result<(), Failure>, line: usize, says: &str) {
    let failure = outcome.unwrap_err();
    assert_eq!(failure.line, line, "{failure:?}");
    assert!(format!("{failure:?}").contains(says), "{failure:?}");
}

const OPEN: &str = r#"{"open":"main"}"#;
const CALL: &str =
    r#"{"mcp":{"method":"tools/call","params":{"name":"t"}},"expect":{"result":{}}}"#;

#[tokio::test]
async fn a_legacy_client_shakes_hands_once_and_names_its_session() {
    let (target, asked) = server(echo);
    replay(&target, Era::Legacy, &format!("{OPEN}\n{CALL}\n{CALL}"))
        .await
        .unwrap();
    let asked = asked.lock().unwrap();
    let methods: Vec<&str> = asked
        .iter()
        .map(|(_, _, body)| body["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        [
            "initialize",
            "notifications/initialized",
            "tools/call",
            "tools/call"
        ]
    );
    assert_eq!(asked[0].2["params"]["protocolVersion"], "2025-11-25");
    assert!(!asked[0].1.contains_key("mcp-session-id"));
    for (line, headers, body) in &asked[1..] {
        assert_eq!(line, "POST /mcp");
        assert_eq!(headers["mcp-session-id"], "s-1");
        assert_eq!(
            headers["mcp-protocol-version"], "2025-06-18",
            "the version that the server chose"
        );
        assert_eq!(headers["accept"], "application/json, text/event-stream");
        assert_eq!(headers["content-type"], "application/json");
        assert_eq!(headers["host"], "127.0.0.1");
        assert!(body["params"].get("_meta").is_none());
    }
    assert_ne!(asked[2].2["id"], asked[3].2["id"]);
}

#[tokio::test]
async fn a_modern_client_says_in_each_request_who_it_is() {
    let (target, asked) = server(echo);
    replay(&target, Era::Modern, &format!("{OPEN}\n{CALL}"))
        .await
        .unwrap();
    let asked = asked.lock().unwrap();
    let [(_, headers, body)] = asked.as_slice() else {
        panic!("{asked:?}")
    };
    assert_eq!(headers["mcp-protocol-version"], "2026-07-28");
    assert_eq!(headers["mcp-method"], "tools/call");
    assert_eq!(headers["mcp-name"], "t");
    assert!(!headers.contains_key("mcp-session-id"));
    let meta = &body["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({})
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientInfo"]["name"],
        "mcp-conformance"
    );
}

#[tokio::test]
async fn an_answer_may_come_as_a_stream() {
    let (target, _) = server(|_, body| {
        let note =
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "hm"}});
        let done = json!({"jsonrpc": "2.0", "id": body["id"], "result": {"resultType": "complete", "ok": true}});
        events(
            &[
                "id: 1\ndata:\n\n",
                &format!(":\n\ndata: {note}\n"),
                &format!("\ndata: {done}\n\n"),
            ],
            true,
        )
    });
    let call = |notifications: &str| {
        format!(
            r#"{{"mcp":{{"method":"tools/list"}},"expect":{{"result":{{"ok":true}},"notifications":{notifications}}}}}"#
        )
    };
    let one = call(r#"[{"$contains":{"method":"notifications/message"}}]"#);
    replay(&target, Era::Modern, &format!("{OPEN}\n{one}"))
        .await
        .unwrap();
    let none = call("[]");
    fails(
        replay(&target, Era::Modern, &format!("{OPEN}\n{none}")).await,
        3,
        "/notifications",
    );
}

#[tokio::test]
async fn the_frame_of_an_answer_is_judged() {
    let list = r#"{"mcp":{"method":"tools/list"},"expect":{"result":{}}}"#;
    let steps = format!("{OPEN}\n{list}");
    let (wrong_id, _) = server(|_, _| {
        json(
            200,
            &json!({"jsonrpc": "2.0", "id": 99, "result": {"resultType": "complete"}}),
        )
    });
    fails(replay(&wrong_id, Era::Modern, &steps).await, 3, "\"/id\"");
    let (no_version, _) = server(|_, body| {
        json(
            200,
            &json!({"id": body["id"], "result": {"resultType": "complete"}}),
        )
    });
    fails(
        replay(&no_version, Era::Modern, &steps).await,
        3,
        "\"/jsonrpc\"",
    );
    let (no_type, _) = server(|_, body| {
        json(
            200,
            &json!({"jsonrpc": "2.0", "id": body["id"], "result": {}}),
        )
    });
    fails(
        replay(&no_type, Era::Modern, &steps).await,
        3,
        "/result/resultType",
    );
    let (bad_hint, _) = server(|_, body| {
        json(
            200,
            &json!({"jsonrpc": "2.0", "id": body["id"], "result": {"resultType": "complete", "ttlMs": -1}}),
        )
    });
    fails(
        replay(&bad_hint, Era::Modern, &steps).await,
        3,
        "/result/ttlMs",
    );
    let (error, _) = server(|_, body| {
        json(
            200,
            &json!({"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32601, "message": "no"}}),
        )
    });
    fails(replay(&error, Era::Modern, &steps).await, 3, "\"/error\"");
}

#[tokio::test]
async fn a_pattern_may_judge_the_envelope_itself() {
    let (target, _) = server(echo);
    let steps = format!(
        r#"{OPEN}
{{"mcp":{{"method":"tools/list"}},"expect":{{"result":{{"ttlMs":5}}}}}}"#
    );
    replay(&target, Era::Modern, &steps).await.unwrap();
    fails(
        replay(&target, Era::Modern, &steps.replace("5}", "6}")).await,
        3,
        "/result/ttlMs",
    );
}

#[tokio::test]
async fn a_wrong_head_is_shown_with_its_body() {
    let (target, _) = server(|_, _| json(500, &json!({"error": "out of order"})));
    let get = r#"{"note":"it works","http":{"method":"GET","path":"/x"},"expect":{"status":200,"headers":{"etag":{"$any":true}},"json":{}}}"#;
    let failure = replay(&target, Era::Legacy, get).await.unwrap_err();
    assert_eq!(
        (failure.step.as_str(), failure.note.as_deref()),
        ("GET /x", Some("it works"))
    );
    assert_eq!(
        failure.problem,
        "answered 500 Internal Server Error with {\"error\":\"out of order\"}"
    );
    let paths: Vec<&str> = failure
        .mismatches
        .iter()
        .map(|mismatch| mismatch.path.as_str())
        .collect();
    assert_eq!(paths, ["/status", "/headers/etag"]);
}

#[tokio::test]
async fn requests_are_filled_with_what_was_captured() {
    let (target, asked) = server(|path, _| {
        json(
            200,
            &if path == "/new" {
                json!({"id": "u-1", "n": 3})
            } else {
                json!("${id}")
            },
        )
    });
    let steps = r#"{"http":{"method":"POST","path":"/new"},"expect":{"status":200,"json":{"id":{"$capture":"u"},"n":{"$capture":"n"}}}}
{"http":{"method":"PUT","path":"/at/${u}/${n}","headers":{"x-id":"<${u}>"},"json":{"n":{"$var":"n"},"s":"n=${n}","l":{"$literal":{"$var":"u"}}}},"expect":{"status":200,"json":"$${id}"}}"#;
    replay(&target, Era::Legacy, steps).await.unwrap();
    let asked = asked.lock().unwrap();
    let (line, headers, body) = &asked[1];
    assert_eq!(line, "PUT /at/u-1/3");
    assert_eq!(headers["x-id"], "<u-1>");
    assert_eq!(*body, json!({"n": 3, "s": "n=3", "l": {"$var": "u"}}));
}

const STREAM: &str = r#"{"stream":"s","http":{"method":"GET","path":"/events"}}"#;

#[tokio::test]
async fn events_are_awaited_in_order_and_not_for_ever() {
    let (target, _) = server(|_, _| {
        events(
            &[
                ":hi\n\n",
                "event: a\nid: 1\ndata: {\"x\":1}\n\n",
                "data: 2\n\n",
            ],
            true,
        )
    });
    let first = r#"{"await":"s","event":{"event":"a","id":"1","data":{"$json":{"x":1}}}}"#;
    let second = r#"{"await":"s","event":{"event":"message","data":"2"}}"#;
    let comment = r#"{"await":"s","comment":"hi"}"#;
    replay(
        &target,
        Era::Legacy,
        &[STREAM, comment, first, second].join("\n"),
    )
    .await
    .unwrap();
    replay(&target, Era::Legacy, &[STREAM, first, second].join("\n"))
        .await
        .unwrap();
    fails(
        replay(&target, Era::Legacy, &[STREAM, second].join("\n")).await,
        3,
        "/event/event",
    );
    fails(
        replay(&target, Era::Legacy, &[STREAM, first, comment].join("\n")).await,
        4,
        "a comment ought to come",
    );
    fails(
        replay(
            &target,
            Era::Legacy,
            &[STREAM, first, second, first].join("\n"),
        )
        .await,
        5,
        "nothing came within 200ms",
    );
    fails(
        replay(
            &target,
            Era::Legacy,
            &[STREAM, first, r#"{"end":"s"}"#].join("\n"),
        )
        .await,
        4,
        "ought to end",
    );
}

#[tokio::test]
async fn the_end_of_a_stream_is_seen() {
    let (target, _) = server(|_, _| events(&["data: 1\n\n"], false));
    let one = r#"{"await":"s","message":1}"#;
    replay(
        &target,
        Era::Legacy,
        &[STREAM, one, r#"{"end":"s"}"#].join("\n"),
    )
    .await
    .unwrap();
    fails(
        replay(&target, Era::Legacy, &[STREAM, one, one].join("\n")).await,
        4,
        "the stream s ended",
    );
    let silent = r#"{"silent":["s"],"while":[{"open":"main"}]}"#;
    fails(
        replay(&target, Era::Modern, &[STREAM, one, silent].join("\n")).await,
        4,
        "it ought to stay open",
    );
}

#[tokio::test]
async fn a_stream_must_be_one() {
    let (target, _) = server(|_, _| json(200, &json!({})));
    fails(
        replay(&target, Era::Legacy, STREAM).await,
        2,
        "/headers/content-type",
    );
    let (busy, _) = server(|_, _| json(409, &json!({})));
    fails(
        replay(&busy, Era::Legacy, STREAM).await,
        2,
        "answered 409 Conflict",
    );
}

#[tokio::test]
async fn silence_is_broken_by_events_but_not_by_comments() {
    let silent = r#"{"silent":["s"],"while":[{"open":"main"}]}"#;
    let (quiet, _) = server(|_, _| events(&[": keep-alive\n\n"], true));
    replay(&quiet, Era::Modern, &[STREAM, silent].join("\n"))
        .await
        .unwrap();
    let (loud, _) = server(|_, _| events(&["data: 1\n\n"], true));
    fails(
        replay(&loud, Era::Modern, &[STREAM, silent].join("\n")).await,
        3,
        "it ought to be silent",
    );
}

#[tokio::test]
async fn branches_run_at_the_same_time() {
    // Each branch waits for what only the other one sends.
    let (target, _) = server({
        fn answer(path: &str, _: &Value) -> Response<Body> {
            static SENT: Mutex<Vec<tokio::sync::mpsc::UnboundedSender<()>>> =
                Mutex::new(Vec::new());
            if path != "/events" {
                for sender in SENT.lock().unwrap().iter() {
                    let _ = sender.send(());
                }
                return json(200, &json!({}));
            }
            let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
            SENT.lock().unwrap().push(sender);
            let frames = stream::unfold(receiver, |mut receiver| async {
                receiver.recv().await?;
                Some((
                    Ok::<_, BoxError>(http_body::Frame::data(Bytes::from_static(b"data: 1\n\n"))),
                    receiver,
                ))
            });
            let body = StreamBody::new(frames).boxed_unsync();
            Response::builder()
                .header("content-type", "text/event-stream")
                .body(body)
                .unwrap()
        }
        answer
    });
    let parallel = r#"{"parallel":[[{"await":"s","message":1}],[{"http":{"method":"POST","path":"/go"},"expect":{"status":200}}]]}"#;
    replay(&target, Era::Legacy, &[STREAM, parallel].join("\n"))
        .await
        .unwrap();
}

#[tokio::test]
async fn dropping_a_stream_ends_the_exchange() {
    struct Watched(Arc<Mutex<bool>>);
    impl Drop for Watched {
        fn drop(&mut self) {
            *self.0.lock().unwrap() = true;
        }
    }
    let dropped = Arc::new(Mutex::new(false));
    let seen = dropped.clone();
    let target = Target::in_process(move |request: Request<Full<Bytes>>| {
        let watched = Watched(seen.clone());
        let checked = *seen.lock().unwrap();
        async move {
            if request.uri().path() != "/events" {
                std::mem::forget(watched);
                return Ok::<_, BoxError>(json(200, &checked.into()));
            }
            let frames =
                stream::pending::<Result<http_body::Frame<Bytes>, BoxError>>().map(move |frame| {
                    let _ = &watched;
                    frame
                });
            let body = StreamBody::new(frames).boxed_unsync();
            Ok(Response::builder()
                .header("content-type", "text/event-stream")
                .body(body)
                .unwrap())
        }
    });
    let check = |is: bool| {
        format!(r#"{{"http":{{"method":"GET","path":"/"}},"expect":{{"status":200,"json":{is}}}}}"#)
    };
    replay(
        &target,
        Era::Legacy,
        &[STREAM, &check(false), r#"{"close":"s"}"#, &check(true)].join("\n"),
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn steps_of_the_other_era_are_left_out() {
    let (target, asked) = server(|_, _| json(200, &json!({})));
    let steps = r#"{"era":"legacy","http":{"method":"GET","path":"/old"},"expect":{"status":200}}
{"era":"modern","http":{"method":"GET","path":"/new"},"expect":{"status":200}}"#;
    replay(&target, Era::Modern, steps).await.unwrap();
    let lines: Vec<String> = asked
        .lock()
        .unwrap()
        .iter()
        .map(|(line, ..)| line.clone())
        .collect();
    assert_eq!(lines, ["GET /new"]);
}

#[tokio::test]
async fn no_answer_is_a_failure() {
    let target = Target::in_process(|_: Request<Full<Bytes>>| async {
        Err::<Response<Body>, BoxError>("down".into())
    });
    let get = r#"{"http":{"method":"GET","path":"/"},"expect":{"status":200}}"#;
    fails(
        replay(&target, Era::Legacy, get).await,
        2,
        "no answer from the server in this process: down",
    );
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let target = Target::url(&format!("http://{nobody}/base/")).unwrap();
    fails(
        replay(&target, Era::Legacy, get).await,
        2,
        &format!("no answer from http://{nobody}/base"),
    );
}

#[test]
fn urls_are_checked() {
    for (url, says) in [
        ("https://x", "scheme"),
        ("127.0.0.1:1", "scheme"),
        ("http://x/?q", "query"),
        ("no url", "invalid"),
    ] {
        let error = Target::url(url).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}
