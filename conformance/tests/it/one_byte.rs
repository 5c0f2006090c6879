//! Recordings replayed against servers that differ in one byte of one answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use mcp_conformance::{Body, BoxError, Era, Replay, Target, Transcript};
use proptest::prelude::any;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use crate::recording::{record, universe};
use crate::server::target;

/// The places of scalars in a message, with one byte of each changed.
pub(crate) fn changes(value: &Value, path: &str, at: usize, found: &mut Vec<(String, Value)>) {
    match value {
        Value::String(text) if text.is_ascii() && !text.is_empty() => {
            let at = at % text.len();
            let mut bytes = text.clone().into_bytes();
            bytes[at] = if bytes[at] == b'q' { b'r' } else { b'q' };
            found.push((path.to_owned(), String::from_utf8(bytes).unwrap().into()));
        }
        Value::Number(number) => {
            let changed = number.as_f64().map_or(0.0, |number| number + 1.0);
            found.push((path.to_owned(), json!(changed)));
        }
        Value::Bool(value) => found.push((path.to_owned(), json!(!value))),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                changes(item, &format!("{path}/{index}"), at, found);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                changes(member, &format!("{path}/{name}"), at, found);
            }
        }
        _ => {}
    }
}

/// What was changed: in which answer, counted from 0, and where.
type Changed = Arc<std::sync::Mutex<Option<(usize, String)>>>;

/// The universe server, of which one scalar of one answer is another.
fn changed(answer: usize, scalar: usize, at: usize) -> (Target, Changed) {
    let (inner, count, changed) = (target(None), Arc::new(AtomicUsize::new(0)), Changed::default());
    let told = changed.clone();
    let service = move |request: Request<Full<Bytes>>| {
        let (inner, count, told) = (inner.clone(), count.clone(), told.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let asks =
                serde_json::from_slice::<Value>(&body).is_ok_and(|sent| sent.get("id").is_some());
            let response = inner.send(Request::from_parts(head, body)).await?;
            let is_json = response
                .headers()
                .get("content-type")
                .is_some_and(|kind| kind == "application/json");
            if !asks || !is_json {
                return Ok::<Response<Body>, BoxError>(response);
            }
            let number = count.fetch_add(1, Ordering::Relaxed);
            let (head, body) = response.into_parts();
            let mut message: Value = serde_json::from_slice(&body.collect().await?.to_bytes())?;
            if number == answer {
                let mut found = Vec::new();
                for member in ["result", "error"] {
                    changes(&message[member], &format!("/{member}"), at, &mut found);
                }
                let (path, value) = found.swap_remove(scalar % found.len());
                *message.pointer_mut(&path).unwrap() = value;
                *told.lock().unwrap() = Some((number, path));
            }
            let mut response = Response::from_parts(
                head,
                Full::from(message.to_string()).map_err(BoxError::from).boxed_unsync(),
            );
            response.headers_mut().remove("content-length");
            Ok(response)
        }
    };
    (Target::in_process(service), changed)
}

/// Whatever scalar of whatever answer is another, the replay fails and names its place, unless the recording says that
/// the place was loosened.
#[test]
fn one_changed_byte_is_found_where_it_is() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let files = runtime.block_on(record(
        target(None),
        &universe(&["REQ-MCP-01", "REQ-MCP-02"]),
        folder.path(),
        false,
    ));
    let transcripts = Transcript::read_all([folder.path()]).unwrap();
    let (found, loose) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let places = (any::<usize>(), any::<usize>(), any::<usize>(), any::<usize>());
    TestRunner::new(Config { cases: 300, failure_persistence: None, ..Config::default() })
        .run(&places, |(which, answer, scalar, at)| {
            let transcript = &transcripts[which % transcripts.len()];
            let file = files
                .iter()
                .find(|file| file.path.to_str() == Some(transcript.source_name()))
                .unwrap();
            let era = transcript.eras()[0];
            // The client is opened by an answer in the legacy era, and by none in the other.
            let answers = file.steps - usize::from(era == Era::Modern);
            let (target, changed) = changed(answer % answers, scalar, at);
            let outcome = runtime.block_on(Replay::new(target).run_one(transcript, era));
            let Some((number, path)) = changed.lock().unwrap().take() else {
                return Ok(());
            };
            let line = number + if era == Era::Legacy { 2 } else { 3 };
            if file.loosened.iter().any(|place| place.line == line && place.path == path) {
                loose.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            let failure = outcome.expect_err(&format!("{era} {line} {path}"));
            assert!(
                failure.mismatches.iter().any(|mismatch| mismatch.path.ends_with(&path)),
                "{line} {path}: {failure:?}"
            );
            found.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .unwrap();
    let (found, loose) = (found.into_inner(), loose.into_inner());
    assert!(found > 200, "{found} found, {loose} in places that were loosened");
}
