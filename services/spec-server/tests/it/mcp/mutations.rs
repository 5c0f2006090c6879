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

/// The fixture a transcript needs, or `library`; the transcript; the tool that is broken; how.
type Mutation = (&'static str, &'static str, &'static str, Fault);

/// What is wrong with what a tool says, in its structure and its text alike.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// A member is missing.
    Without(&'static str),
    /// A member is another one.
    With(&'static str, fn() -> Value),
    /// An error is told as a result.
    NoError,
    /// The error has another code.
    Code,
}

use Fault::{Code, NoError, With, Without};

const MUTATIONS: [Mutation; 57] = [
    ("library", "interface-layer", "get_scenario", NoError),
    (
        "library",
        "interface-layer",
        "get_scenario",
        Without("/requirement_description"),
    ),
    ("library", "list-specs", "list_specs", Without("/specs")),
    (
        "library",
        "list-specs",
        "list_specs",
        Without("/specs/0/id"),
    ),
    (
        "library",
        "list-specs",
        "list_specs",
        Without("/specs/0/title"),
    ),
    (
        "library",
        "list-specs",
        "list_specs",
        Without("/specs/2/purpose"),
    ),
    (
        "library",
        "list-specs",
        "list_specs",
        With("/specs/1/requirements", || json!([])),
    ),
    (
        "empty",
        "list-specs-empty",
        "list_specs",
        With("/specs", || Value::Null),
    ),
    (
        "empty",
        "list-specs-empty",
        "list_specs",
        With("/specs", || json!([{"id": "ghost"}])),
    ),
    (
        "library",
        "get-spec-requirements",
        "get_spec_requirements",
        Without("/requirements/1/name"),
    ),
    (
        "library",
        "get-spec-requirements",
        "get_spec_requirements",
        Without("/requirements/1/scenario_count"),
    ),
    (
        "library",
        "get-spec-requirements",
        "get_spec_requirements",
        With("/requirements/0/scenarios", || json!([])),
    ),
    (
        "library",
        "get-spec-requirements",
        "get_spec_requirements",
        NoError,
    ),
    (
        "library",
        "get-spec-requirements",
        "get_spec_requirements",
        Code,
    ),
    (
        "library",
        "get-scenario",
        "get_scenario",
        Without("/requirement_description"),
    ),
    ("library", "get-scenario", "get_scenario", Without("/name")),
    ("library", "get-scenario", "get_scenario", Without("/when")),
    ("library", "get-scenario", "get_scenario", Without("/then")),
    (
        "library",
        "get-scenario",
        "get_scenario",
        Without("/then/1"),
    ),
    (
        "library",
        "get-scenario",
        "get_scenario",
        With("/given", || json!(["nothing"])),
    ),
    (
        "library",
        "get-scenario",
        "get_scenario",
        With("/name", || json!("Copy is lent already")),
    ),
    ("library", "get-scenario", "get_scenario", NoError),
    ("library", "get-scenario", "get_scenario", Code),
    (
        "library",
        "search-specs",
        "search_specs",
        Without("/results/0/spec_id"),
    ),
    (
        "library",
        "search-specs",
        "search_specs",
        Without("/results/0/requirement"),
    ),
    (
        "library",
        "search-specs",
        "search_specs",
        Without("/results/0/score"),
    ),
    (
        "library",
        "search-specs",
        "search_specs",
        Without("/results/0/snippet"),
    ),
    (
        "library",
        "search-specs",
        "search_specs",
        With("/results", || json!([])),
    ),
    (
        "library",
        "search-specs",
        "search_specs",
        With("/ranker", || json!("luck")),
    ),
    (
        "library",
        "list-changes",
        "list_changes",
        Without("/changes/0/id"),
    ),
    (
        "library",
        "list-changes",
        "list_changes",
        Without("/changes/0/title"),
    ),
    (
        "library",
        "list-changes",
        "list_changes",
        Without("/changes/1/task_progress"),
    ),
    (
        "library",
        "list-changes",
        "list_changes",
        Without("/changes/0/task_progress/completed"),
    ),
    (
        "library",
        "list-changes",
        "list_changes",
        Without("/changes/0/task_progress/total"),
    ),
    (
        "empty",
        "list-changes-empty",
        "list_changes",
        Without("/changes"),
    ),
    (
        "library",
        "get-change",
        "get_change",
        Without("/proposal/why"),
    ),
    (
        "library",
        "get-change",
        "get_change",
        Without("/proposal/what_changes"),
    ),
    (
        "library",
        "get-change",
        "get_change",
        Without("/tasks/content"),
    ),
    (
        "library",
        "get-change",
        "get_change",
        Without("/tasks/total"),
    ),
    ("library", "get-change", "get_change", Without("/design")),
    (
        "library",
        "get-change",
        "get_change",
        With("/deltas", || json!([])),
    ),
    (
        "library",
        "get-change",
        "get_change",
        Without("/deltas/reservations"),
    ),
    (
        "library",
        "get-change",
        "get_change",
        With("/design", || json!("A queue belongs to an item.")),
    ),
    ("library", "get-change", "get_change", NoError),
    ("library", "get-change", "get_change", Code),
    (
        "library",
        "validate-spec",
        "validate_spec",
        Without("/valid"),
    ),
    (
        "library",
        "validate-spec",
        "validate_spec",
        With("/valid", || json!(false)),
    ),
    (
        "library",
        "validate-spec",
        "validate_spec",
        Without("/errors"),
    ),
    (
        "library",
        "validate-spec",
        "validate_spec",
        Without("/warnings"),
    ),
    (
        "library",
        "validate-spec",
        "validate_spec",
        Without("/summary"),
    ),
    (
        "broken",
        "validate-spec-broken",
        "validate_spec",
        With("/valid", || json!(true)),
    ),
    (
        "broken",
        "validate-spec-broken",
        "validate_spec",
        Without("/errors/0/file"),
    ),
    (
        "broken",
        "validate-spec-broken",
        "validate_spec",
        Without("/errors/0/description"),
    ),
    (
        "broken",
        "validate-change-broken",
        "validate_change",
        Without("/errors/0/file"),
    ),
    (
        "broken",
        "validate-change-broken",
        "validate_change",
        Without("/errors/0/section"),
    ),
    (
        "broken",
        "validate-change-broken",
        "validate_change",
        Without("/errors/0/description"),
    ),
    ("library", "validate-change", "validate_change", NoError),
];

#[tokio::test]
async fn no_transcript_passes_on_a_broken_server() {
    let transcripts = transcripts();
    let mut passed = Vec::new();
    for project in ["library", "empty", "broken"] {
        let copy = Copy::of(project);
        let service = StreamableHttpService::new(mcp::server(settings(copy.root())).unwrap());
        for (_, name, tool, fault) in MUTATIONS.iter().filter(|(of, ..)| *of == project) {
            let transcript = transcripts
                .iter()
                .find(|transcript| transcript.name() == *name);
            let transcript = transcript.unwrap_or_else(|| panic!("there is no transcript {name}"));
            for era in Era::ALL {
                let replay = Replay::new(broken(service.clone(), tool, *fault));
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
