//! Servers on pipes as targets.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use mcp_conformance::Target;
use serde_json::{Value, json};
use tokio::time::timeout;

/// Counts the lines it has read. Says so to requests, which all have the id 1, and to `two` in two messages.
const COUNTING: &str = r#"
n=0
while IFS= read -r line; do
    n=$((n+1))
    case "$line" in *'"two"'*) printf '{"jsonrpc":"2.0","id":7,"result":{}}\n{"jsonrpc":"2.0","method":"first"}\n';; esac
    case "$line" in *'"after"'*) printf '{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","method":"late"}\n'; continue;; esac
    case "$line" in *'"gone"'*) exit 3;; *'"noise"'*) echo 'listening';; esac
    case "$line" in *'"hang"'*) continue;; esac
    case "$line" in *'"id"'*) printf '{"jsonrpc":"2.0","id":1,"result":{"n":%d}}\n' "$n";; esac
done
"#;

fn counting() -> Target {
    Target::command("sh", ["-c", COUNTING])
}

fn post(method: &str, id: Option<u8>) -> Request<Bytes> {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(id) = id {
        message["id"] = id.into();
    }
    Request::post("/mcp").body(message.to_string().into()).unwrap()
}

/// The status, the type and the body of the answer.
async fn ask(target: &Target, request: Request<Bytes>) -> (u16, String, String) {
    let answer = target.send(request).await.unwrap();
    let kind = answer.headers().get("content-type");
    let kind = kind.map_or("", |kind| kind.to_str().unwrap()).to_owned();
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, kind, String::from_utf8(body.to_vec()).unwrap())
}

async fn count(target: &Target, method: &str) -> Value {
    let (status, kind, body) = ask(target, post(method, Some(1))).await;
    assert_eq!((status, kind.as_str()), (200, "application/json"));
    serde_json::from_str::<Value>(&body).unwrap()["result"]["n"].take()
}

#[tokio::test]
async fn one_process_is_asked_until_somebody_initializes() {
    let target = counting();
    assert_eq!(count(&target, "x").await, 1);
    let (status, kind, body) = ask(&target, post("told", None)).await;
    assert_eq!((status, kind.as_str(), body.as_str()), (202, "", ""));
    assert_eq!(count(&target.clone(), "x").await, 3);
    assert_eq!(count(&target, "initialize").await, 1);
    assert_eq!(count(&target, "x").await, 2);
}

#[tokio::test]
async fn messages_before_the_answer_come_with_it_and_answers_to_others_do_not() {
    let (status, kind, body) = ask(&counting(), post("two", Some(1))).await;
    assert_eq!((status, kind.as_str()), (200, "text/event-stream"));
    assert_eq!(
        body,
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"first\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":1}}\n\n"
    );
}

#[tokio::test]
async fn what_comes_before_the_first_listener_waits_for_it() {
    let target = counting();
    let (_, _, body) = ask(&target, post("after", Some(1))).await;
    assert!(body.contains("result"), "{body}");
    let listen = Request::get("/mcp").body(Bytes::new()).unwrap();
    let mut stream = target.send(listen).await.unwrap().into_body();
    let frame = timeout(Duration::from_secs(10), stream.frame()).await;
    let frame = frame.expect("it is lost").unwrap().unwrap();
    let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"late\"}\n\n";
    assert_eq!(frame.into_data().unwrap(), event);
}

#[tokio::test]
async fn what_is_http_alone_is_refused() {
    let request = Request::delete("/mcp").body(Bytes::new()).unwrap();
    assert_eq!(ask(&counting(), request).await.0, 405);
}

#[tokio::test]
async fn a_server_that_fails_is_reported_in_words_and_started_again() {
    let failure =
        async |target: &Target, request| target.send(request).await.err().unwrap().to_string();
    let target = counting();
    let told = failure(&target, post("gone", Some(1))).await;
    assert_eq!(told, "no answer from sh: the server closed its stdout");
    assert_eq!(count(&target, "x").await, 1);
    let told = failure(&target, post("noise", Some(1))).await;
    assert!(
        told.ends_with(
            "a line of stdout is not JSON: expected value at line 1 column 1: listening"
        ),
        "{told}"
    );
    assert_eq!(count(&target, "x").await, 1);
    let broken = Request::post("/mcp").body(Bytes::from("{")).unwrap();
    assert!(failure(&target, broken).await.contains("the request is not JSON"));
    assert_eq!(count(&target, "x").await, 2);
    let none = Target::command("/no/such/server", [""; 0]);
    assert!(failure(&none, post("x", Some(1))).await.contains("cannot start /no/such/server"));
}

#[tokio::test]
async fn who_gives_up_leaves_a_server_that_answers_others() {
    let target = counting();
    assert_eq!(count(&target, "x").await, 1);
    let mut hanging = Box::pin(target.send(post("hang", Some(9))));
    // Polled until it is on its way: the next is written after it.
    for _ in 0..10 {
        tokio::select! {
            biased;
            _ = &mut hanging => panic!("there is an answer"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(hanging);
    assert_eq!(count(&target, "x").await, 3, "the same process");
}
