//! The transcripts find out a server that is broken in one way: none passes whatever the server says.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use mcp_conformance::{BoxError, Era, Replay, Target};
use mcp_proto::StreamableHttpService;
use serde_json::{Value, json};
use spec_server::mcp;

use super::harness::{Copy, settings};
use super::transcripts::transcripts;

/// The fixture a transcript needs, or `library`; the transcript; the tool that is broken; the ways in which it is, one
/// at a time.
type BrokenTool = (&'static str, &'static str, &'static str, &'static [Fault]);

/// What is wrong with what a tool says, in its structure and its text alike.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// A member is missing.
    Without(&'static str),
    /// A member is another one.
    With(&'static str, fn() -> Value),
    /// An error is returned as a result.
    NoError,
    /// The error has another code.
    Code,
}

use Fault::{Code, NoError, With, Without};

const BROKEN_TOOLS: [BrokenTool; 13] = [
    ("library", "interface-layer", "get_scenario", &[NoError, Without("/requirement_description")]),
    (
        "library",
        "list-specs",
        "list_specs",
        &[
            Without("/specs"),
            Without("/specs/0/id"),
            Without("/specs/0/title"),
            Without("/specs/2/purpose"),
            With("/specs/1/requirements", || json!([])),
        ],
    ),
    (
        "empty",
        "list-specs-empty",
        "list_specs",
        &[With("/specs", || Value::Null), With("/specs", || json!([{"id": "ghost"}]))],
    ),
    (
        "library",
        "get-spec-requirements",
        "get_spec_requirements",
        &[
            Without("/requirements/1/name"),
            Without("/requirements/1/scenario_count"),
            With("/requirements/0/scenarios", || json!([])),
            NoError,
            Code,
        ],
    ),
    (
        "library",
        "get-scenario",
        "get_scenario",
        &[
            Without("/requirement_description"),
            Without("/name"),
            Without("/when"),
            Without("/then"),
            Without("/then/1"),
            With("/given", || json!(["nothing"])),
            With("/name", || json!("Copy is lent already")),
            NoError,
            Code,
        ],
    ),
    (
        "library",
        "search-specs",
        "search_specs",
        &[
            Without("/results/0/spec_id"),
            Without("/results/0/requirement"),
            Without("/results/0/score"),
            Without("/results/0/snippet"),
            With("/results", || json!([])),
            With("/ranker", || json!("luck")),
        ],
    ),
    (
        "library",
        "list-changes",
        "list_changes",
        &[
            Without("/changes/0/id"),
            Without("/changes/0/title"),
            Without("/changes/1/task_progress"),
            Without("/changes/0/task_progress/completed"),
            Without("/changes/0/task_progress/total"),
        ],
    ),
    ("empty", "list-changes-empty", "list_changes", &[Without("/changes")]),
    (
        "library",
        "get-change",
        "get_change",
        &[
            Without("/proposal/why"),
            Without("/proposal/what_changes"),
            Without("/tasks/content"),
            Without("/tasks/total"),
            Without("/design"),
            With("/deltas", || json!([])),
            Without("/deltas/reservations"),
            With("/design", || json!("A queue belongs to an item.")),
            NoError,
            Code,
        ],
    ),
    (
        "library",
        "validate-spec",
        "validate_spec",
        &[
            Without("/valid"),
            With("/valid", || json!(false)),
            Without("/errors"),
            Without("/warnings"),
            Without("/summary"),
        ],
    ),
    (
        "broken",
        "validate-spec-broken",
        "validate_spec",
        &[
            With("/valid", || json!(true)),
            Without("/errors/0/file"),
            Without("/errors/0/description"),
        ],
    ),
    (
        "broken",
        "validate-change-broken",
        "validate_change",
        &[
            Without("/errors/0/file"),
            Without("/errors/0/section"),
            Without("/errors/0/description"),
        ],
    ),
    ("library", "validate-change", "validate_change", &[NoError]),
];

#[tokio::test]
async fn no_transcript_passes_on_a_broken_server() {
    let transcripts = transcripts();
    let mut passed = Vec::new();
    for project in ["library", "empty", "broken"] {
        let copy = Copy::of(project);
        let service = StreamableHttpService::new(mcp::server(settings(copy.root())).unwrap());
        for (_, name, tool, faults) in BROKEN_TOOLS.iter().filter(|(of, ..)| *of == project) {
            let transcript = transcripts.iter().find(|transcript| transcript.name() == *name);
            let transcript = transcript.unwrap_or_else(|| panic!("there is no transcript {name}"));
            for (fault, era) in faults.iter().flat_map(|fault| Era::ALL.map(|era| (*fault, era))) {
                let replay = Replay::new(broken(service.clone(), tool, fault));
                if replay.run_one(transcript, era).await.is_ok() {
                    passed.push(format!("{name} {era}: {tool} {fault:?}"));
                }
            }
        }
    }
    assert!(passed.is_empty(), "not found out:\n{}", passed.join("\n"));
}

/// The server, with one fault in all that this tool says.
fn broken(service: StreamableHttpService, tool: &'static str, fault: Fault) -> Target {
    Target::in_process(move |request: Request<Full<Bytes>>| {
        let service = service.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
            let concerned = asked.pointer("/params/name") == Some(&json!(tool));
            let request = Request::from_parts(head, Full::new(body));
            let (head, body) = service.handle(request).await.into_parts();
            let body = body.collect().await?.to_bytes();
            let body = match serde_json::from_slice::<Value>(&body) {
                Ok(mut answer) if concerned => {
                    fault.put_into(&mut answer["result"]);
                    Bytes::from(answer.to_string())
                }
                _ => body,
            };
            let mut response = Response::from_parts(head, Full::new(body));
            response.headers_mut().remove("content-length");
            Ok::<_, BoxError>(response)
        }
    })
}

impl Fault {
    fn put_into(self, result: &mut Value) {
        let is_error = result["isError"] == true;
        let text = result["content"][0]["text"].as_str().unwrap();
        let mut told: Value = serde_json::from_str(text).unwrap();
        match self {
            Without(pointer) => remove(&mut told, pointer),
            With(pointer, value) if !is_error => put(&mut told, pointer, value()),
            Code if is_error => told["error"]["code"] = json!("SOMETHING"),
            NoError if is_error => result["isError"] = json!(false),
            With(..) | Code | NoError => {}
        }
        if let Some(structured) = result.get_mut("structuredContent") {
            *structured = told.clone();
        }
        result["content"][0]["text"] = json!(told.to_string());
    }
}

fn remove(value: &mut Value, pointer: &str) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    match value.pointer_mut(parent) {
        Some(Value::Object(members)) => drop(members.remove(last)),
        Some(Value::Array(items)) if items.len() > last.parse().unwrap() => {
            items.remove(last.parse().unwrap());
        }
        _ => {}
    }
}

/// Puts a value where there is a place for it.
fn put(value: &mut Value, pointer: &str, new: Value) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    if let Some(Value::Object(members)) = value.pointer_mut(parent) {
        members.insert(last.to_owned(), new);
    }
}
