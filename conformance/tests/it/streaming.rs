//! How the runner opens, awaits, watches and drops streams, and runs steps at the same time.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, StreamBody};
use mcp_conformance::{Body, BoxError, Era, Target};
use serde_json::{Value, json};

use crate::small_server::{events, fails, json, replay, server};

const STREAM: &str = r#"{"stream":"s","http":{"method":"GET","path":"/events"}}"#;

#[tokio::test]
async fn events_are_awaited_in_order_and_not_for_ever() {
    let (target, _) = server(|_, _| {
        events(&[":hi\n\n", "event: a\nid: 1\ndata: {\"x\":1}\n\n", "data: 2\n\n"], true)
    });
    let first = r#"{"await":"s","event":{"event":"a","id":"1","data":{"$json":{"x":1}}}}"#;
    let second = r#"{"await":"s","event":{"event":"message","data":"2"}}"#;
    let comment = r#"{"await":"s","comment":"hi"}"#;
    replay(&target, Era::Legacy, &[STREAM, comment, first, second].join("\n")).await.unwrap();
    replay(&target, Era::Legacy, &[STREAM, first, second].join("\n")).await.unwrap();
    fails(replay(&target, Era::Legacy, &[STREAM, second].join("\n")).await, 3, "/event/event");
    fails(
        replay(&target, Era::Legacy, &[STREAM, first, comment].join("\n")).await,
        4,
        "expected a comment",
    );
    fails(
        replay(&target, Era::Legacy, &[STREAM, first, second, first].join("\n")).await,
        5,
        "nothing arrived within 200ms",
    );
    fails(
        replay(&target, Era::Legacy, &[STREAM, first, r#"{"end":"s"}"#].join("\n")).await,
        4,
        "must end",
    );
}

#[tokio::test]
async fn the_end_of_a_stream_is_seen() {
    let (target, _) = server(|_, _| events(&["data: 1\n\n"], false));
    let one = r#"{"await":"s","message":1}"#;
    replay(&target, Era::Legacy, &[STREAM, one, r#"{"end":"s"}"#].join("\n")).await.unwrap();
    fails(
        replay(&target, Era::Legacy, &[STREAM, one, one].join("\n")).await,
        4,
        "the stream s ended",
    );
    let silent = r#"{"silent":["s"],"while":[{"open":"main"}]}"#;
    fails(
        replay(&target, Era::Modern, &[STREAM, one, silent].join("\n")).await,
        4,
        "must stay open",
    );
}

#[tokio::test]
async fn a_stream_must_be_one() {
    let (target, _) = server(|_, _| json(200, &json!({})));
    fails(replay(&target, Era::Legacy, STREAM).await, 2, "/headers/content-type");
    let (busy, _) = server(|_, _| json(409, &json!({})));
    fails(replay(&busy, Era::Legacy, STREAM).await, 2, "answered 409 Conflict");
}

#[tokio::test]
async fn silence_is_broken_by_events_but_not_by_comments_or_events_without_data() {
    let silent = r#"{"silent":["s"],"while":[{"open":"main"}]}"#;
    let (quiet, _) = server(|_, _| events(&[": keep-alive\n\n", "id: 1\ndata: \n\n"], true));
    replay(&quiet, Era::Modern, &[STREAM, silent].join("\n")).await.unwrap();
    let (loud, _) = server(|_, _| events(&["data: 1\n\n"], true));
    fails(replay(&loud, Era::Modern, &[STREAM, silent].join("\n")).await, 3, "must be silent");
}

#[tokio::test]
async fn what_others_cause_may_be_ignored_and_nothing_else() {
    let listen = |ignore: &str| format!(r#"{{"stream":"s","listen":{{}},"ignore":["{ignore}"]}}"#);
    let open = r#"{"open":"main"}"#;
    let silent = r#"{"silent":["s"],"while":[{"open":"other"}]}"#;
    let (target, _) =
        server(|_, _| events(&["data: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n"], true));
    let ignored = [open, &listen("a"), silent].join("\n");
    replay(&target, Era::Modern, &ignored).await.unwrap();
    let other = [open, &listen("b"), silent].join("\n");
    fails(replay(&target, Era::Modern, &other).await, 4, "must be silent");
    let (ends, _) =
        server(|_, _| events(&["data: {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n"], false));
    let end = [open, &listen("a"), r#"{"end":"s"}"#].join("\n");
    replay(&ends, Era::Modern, &end).await.unwrap();
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
            Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
        }
        answer
    });
    let parallel = r#"{"parallel":[[{"await":"s","message":1}],[{"http":{"method":"POST","path":"/go"},"expect":{"status":200}}]]}"#;
    replay(&target, Era::Legacy, &[STREAM, parallel].join("\n")).await.unwrap();
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
            Ok(Response::builder().header("content-type", "text/event-stream").body(body).unwrap())
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
