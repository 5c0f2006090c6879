//! What a server offers is changed while it runs: every client sees it, every listener hears of it, and nothing that is
//! wrong gets in, over HTTP and stdio in both eras.

use std::sync::{Arc, Mutex, OnceLock};

use http::Method;
use http_body_util::BodyExt as _;
use mcp_proto::http::ResponseBody;
use mcp_proto::scopes::{Guarded, Wanted};
use mcp_proto::{
    BuildError, CallToolResult, Context, GetPromptResult, Prompt, RequestError, Resource,
    ResourceContents, ResourceTemplate, ResourceUri, Scopes, Server, StreamableHttpService, Tool,
    ToolAnnotations, Update,
};
use serde_json::{Map, Value, json};

use crate::common::{
    PATIENCE, Raw, builder, call, every_client, messages, open_session, probe, refused, request,
    say, with_meta,
};
use crate::listen::{self, listen};
use crate::peer::Peer;

fn tool(name: &str) -> Tool {
    Tool::new(name, "").with_input_schema(json!({"type": "object"}))
}

async fn fixed_answer(
    text: &'static str,
    _: Map<String, Value>,
    _: Context,
) -> Result<CallToolResult, mcp_proto::ToolError> {
    Ok(CallToolResult::text(text))
}

async fn read(text: &'static str, _: Context) -> Result<ResourceContents, RequestError> {
    Ok(ResourceContents::text("memo://one", text))
}

async fn day(
    _: &'static str,
    asked: ResourceUri,
    _: Context,
) -> Result<ResourceContents, RequestError> {
    Ok(ResourceContents::text(asked.uri, "a day"))
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Tone {
    tone: Voice,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Voice {
    Kind,
    Strict,
}

async fn filled(_: &'static str, asked: Tone, _: Context) -> Result<GetPromptResult, RequestError> {
    Ok(GetPromptResult::text(format!("{:?}", asked.tone)))
}

/// One of each kind.
fn everything(state: &'static str) -> Update<&'static str> {
    Update::new(state)
        .raw_tool(tool("late"), fixed_answer)
        .resource(Resource::new("memo://one", "one"), read)
        .resource_template(ResourceTemplate::new("day://{day}", "day"), day)
        .prompt(Prompt::new("tone", ""), filled)
}

fn nothing_left() -> Update<()> {
    Update::new(())
        .without_tool("late")
        .without_resource("memo://one")
        .without_resource_template("day://{day}")
        .without_prompt("tone")
}

fn changing() -> Server {
    let server = Server::builder("s", "1", "old")
        .raw_tool(tool("always"), fixed_answer)
        .prompt(Prompt::new("old", ""), filled)
        .tools_list_changed()
        .resources_list_changed()
        .prompts_list_changed();
    server.build().unwrap()
}

fn names(list: &Value, member: &str, key: &str) -> Vec<String> {
    let items = list[member].as_array().unwrap().iter();
    items.map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_added_is_listed_and_answered_until_it_is_taken_away() {
    let server = changing();
    let (clients, served) = every_client(&server).await;
    let requests = [
        ("tools/call", json!({"name": "late", "arguments": {}})),
        ("resources/read", json!({"uri": "memo://one"})),
        ("resources/read", json!({"uri": "day://monday"})),
        ("prompts/get", json!({"name": "tone", "arguments": {"tone": "kind"}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "tone"}, "argument": {"name": "tone", "value": "st"}}),
        ),
    ];
    let lists = [
        ("tools/list", "tools", "name", ["always", "late"].as_slice(), 1),
        ("resources/list", "resources", "uri", &["memo://one"], 0),
        ("resources/templates/list", "resourceTemplates", "uriTemplate", &["day://{day}"], 0),
        ("prompts/list", "prompts", "name", &["old", "tone"], 1),
    ];
    for round in ["first", "second"] {
        for (name, client) in &clients {
            for (method, params) in &requests {
                refused(client.request(method, params.clone()).await);
            }
            for (method, member, key, all, before) in lists {
                let list = client.request(method, json!({})).await.unwrap();
                assert_eq!(names(&list, member, key), all[..before], "{name} {method}");
            }
        }
        server.update(everything(round)).unwrap();
        for (name, client) in &clients {
            let mut answers = Vec::new();
            for (method, params) in &requests {
                answers.push(client.request(method, params.clone()).await.unwrap());
            }
            assert_eq!(answers[0]["content"][0]["text"], round, "{name}");
            assert_eq!(answers[1]["contents"][0]["text"], round, "{name}");
            assert_eq!(answers[2]["contents"][0]["uri"], "day://monday", "{name}");
            assert_eq!(answers[4]["completion"]["values"], json!(["strict"]));
            for (method, member, key, all, _) in lists {
                let list = client.request(method, json!({})).await.unwrap();
                assert_eq!(names(&list, member, key), all, "{name} {method}");
            }
        }
        server.update(nothing_left()).unwrap();
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn a_tool_is_replaced_in_one_step_and_calls_that_run_go_on() {
    let (probe, mut events) = probe();
    let server = builder(&probe).build().unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let running = client.request("tools/call", call("gate"));
        let replacing = async {
            events.expect("started").await;
            let other =
                Update::new("another").without_tool("gate").raw_tool(tool("gate"), fixed_answer);
            server.update(other).unwrap();
            let answer = client.request("tools/call", call("gate")).await.unwrap();
            assert_eq!(answer["content"][0]["text"], "another", "{name}");
            probe.gate.notify_one();
        };
        let (running, ()) = tokio::join!(running, replacing);
        assert_eq!(running.unwrap()["content"][0]["text"], "through", "{name}");
        events.expect("finished").await;
        let gate = Update::new(probe.clone()).without_tool("gate").raw_tool(
            tool("gate"),
            async |probe: crate::common::Probe, _, _| {
                probe.report("started");
                probe.gate.notified().await;
                probe.report("finished");
                Ok(CallToolResult::text("through"))
            },
        );
        server.update(gate).unwrap();
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn every_listener_hears_once_of_each_list_that_an_update_changes() {
    let server = changing();
    let service = StreamableHttpService::new(server.clone());
    let wanted =
        json!({"toolsListChanged": true, "resourcesListChanged": true, "promptsListChanged": true});
    let mut modern = listen::open(&service, listen(7, &wanted)).await;
    listen::next(&mut modern).await;
    let session = open_session(&service).await;
    let get =
        Raw::bare(Method::GET).set("accept", "text/event-stream").set("mcp-session-id", &session);
    let mut legacy = service.handle(get.request()).await.into_body();
    frame(&mut legacy).await;
    let mut modern_pipe = Peer::new(server.clone());
    let params = with_meta(json!({ "notifications": wanted }));
    modern_pipe.send(&request(1, "subscriptions/listen", &params)).await;
    modern_pipe.next().await;
    let mut legacy_pipe = Peer::new(server.clone());
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    legacy_pipe.send(&request(1, "initialize", &params)).await;
    legacy_pipe.next().await;
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    legacy_pipe.send(&ready).await;
    legacy_pipe.send(&request(2, "ping", &json!({}))).await;
    legacy_pipe.next().await;

    // What fails, and what changes nothing, is not told.
    server.update(Update::new(()).without_tool("none")).unwrap_err();
    server.update(Update::new(())).unwrap();
    server.update(everything("one")).unwrap();
    server.update(Update::new(()).without_prompt("tone")).unwrap();
    for list in ["tools", "resources", "prompts", "prompts"] {
        for event in [
            listen::next(&mut modern).await,
            frame(&mut legacy).await,
            modern_pipe.next().await,
            legacy_pipe.next().await,
        ] {
            assert_eq!(event["method"], format!("notifications/{list}/list_changed"));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_served_changes_nothing() {
    let server = changing();
    let late = || Update::new("x").raw_tool(tool("late"), fixed_answer);
    let bad_key = Map::from_iter([("no/key/".to_owned(), json!(1))]);
    let mut meta = tool("meta");
    meta.meta = Some(bad_key);
    for (update, wanted) in [
        (late().raw_tool(tool("always"), fixed_answer), "another tool has the same name"),
        (late().raw_tool(tool("no name"), fixed_answer), "a tool's name has"),
        (late().without_tool("none"), "cannot be taken away"),
        (late().without_prompt("none"), "cannot be taken away"),
        (late().without_resource("memo://none"), "cannot be taken away"),
        (late().without_resource_template("day://{x}"), "cannot be taken away"),
        (late().raw_tool(meta, fixed_answer), "not a key for _meta"),
        (
            late().raw_tool(
                tool("t").with_task_support(mcp_proto::TaskSupport::Optional),
                fixed_answer,
            ),
            "ServerBuilder::tasks",
        ),
    ] {
        let error = server.update(update).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        let service = StreamableHttpService::new(server.clone());
        let list = Raw::modern("tools/list", json!({})).send(&service).await;
        assert_eq!(names(&list.result(), "tools", "name"), ["always"]);
    }
}

#[test]
fn a_list_that_was_not_declared_to_change_does_not() {
    let server = Server::builder("s", "1", ()).build().unwrap();
    for (update, wanted) in [
        (Update::new("x").raw_tool(tool("late"), fixed_answer), "tools_list_changed"),
        (Update::new("x").prompt(Prompt::new("p", ""), filled), "prompts_list_changed"),
        (
            Update::new("x").resource(Resource::new("memo://one", "one"), read),
            "resources_list_changed",
        ),
    ] {
        let error = server.update(update).unwrap_err();
        assert!(matches!(&error, BuildError::Server(text) if text.contains(wanted)), "{error}");
    }
}

#[tokio::test]
async fn scopes_by_annotation_hold_for_what_is_added_later() {
    let server = Server::builder("s", "1", "x")
        .tools_list_changed()
        .scopes_by_annotation(&Scopes::of(["read"]), &Scopes::of(["write"]))
        .build()
        .unwrap();
    let service = StreamableHttpService::new(server.clone());
    let status = async |name: &str| {
        let mut call = Raw::modern("tools/call", json!({"name": name, "arguments": {}})).request();
        call.extensions_mut().insert(Scopes::of(["read"]));
        service.handle(call).await.status().as_u16()
    };
    let reading = || tool("late").with_annotations(ToolAnnotations::read_only());
    server
        .update(
            Update::new("x")
                .raw_tool(reading(), fixed_answer)
                .raw_tool(tool("own"), fixed_answer)
                .require_scopes(Guarded::Tool("own".to_owned()), Scopes::of(["read"])),
        )
        .unwrap();
    assert_eq!(status("late").await, 200);
    assert_eq!(status("own").await, 200);
    // Another tool under the name of one that only read.
    let writing = Update::new("x").without_tool("late").raw_tool(tool("late"), fixed_answer);
    server.update(writing).unwrap();
    assert_eq!(status("late").await, 403);
    // What was asked for by hand stays.
    let again = Update::new("x").without_tool("own").raw_tool(tool("own"), fixed_answer);
    server.update(again).unwrap();
    assert_eq!(status("own").await, 200);
}

#[tokio::test]
async fn a_server_that_only_reads_hides_what_writes_and_is_added_later() {
    let server = changing();
    server.hide_writing_tools();
    let reading = tool("look").with_annotations(ToolAnnotations::read_only());
    server
        .update(
            Update::new("x").raw_tool(tool("late"), fixed_answer).raw_tool(reading, fixed_answer),
        )
        .unwrap();
    let (clients, served) = every_client(&server).await;
    for (name, client) in &clients {
        let list = client.request("tools/list", json!({})).await.unwrap();
        assert_eq!(names(&list, "tools", "name"), ["look"], "{name}");
        refused(client.request("tools/call", call("late")).await);
    }
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn what_comes_under_the_name_of_a_hidden_tool_is_hidden() {
    let server = changing();
    let update = |update: Update<&'static str>| server.update(update).unwrap();
    update(Update::new("one").raw_tool(tool("late"), fixed_answer));
    assert!(server.hide_tools(&["late"]));
    let (clients, served) = every_client(&server).await;
    let listed = async |wanted: &[&str]| {
        for (name, client) in &clients {
            let list = client.request("tools/list", json!({})).await.unwrap();
            assert_eq!(names(&list, "tools", "name"), wanted, "{name}");
            let called = client.request("tools/call", call("late")).await;
            assert_eq!(called.is_ok(), wanted.contains(&"late"), "{name}");
        }
    };
    let gone = || Update::new("two").without_tool("late");
    update(gone().raw_tool(tool("late"), fixed_answer));
    listed(&["always"]).await;
    update(gone());
    update(Update::new("three").raw_tool(tool("late"), fixed_answer));
    listed(&["always"]).await;
    assert!(server.show_tools(&["late"]));
    listed(&["always", "late"]).await;
    update(gone().raw_tool(tool("late"), fixed_answer));
    listed(&["always", "late"]).await;
    drop(clients);
    served.ended().await;
}

#[tokio::test]
async fn what_answers_a_call_is_what_its_caller_was_allowed() {
    let params = json!({"name": "always", "arguments": {}});
    for way in ["modern", "legacy", "batch"] {
        let judging = Arc::new(OnceLock::<Server>::new());
        let judge = Arc::clone(&judging);
        let server = Server::builder("s", "1", "old")
            .raw_tool(tool("always"), fixed_answer)
            .tools_list_changed()
            .scopes_by(move |wanted, _| {
                // Another tool takes the name while the call is judged, and asks for more.
                if let (Wanted::Tool(name, Some(_)), Some(server)) = (wanted, judge.get()) {
                    let other = Update::new("new")
                        .without_tool(name)
                        .raw_tool(tool(name), fixed_answer)
                        .require_scopes(Guarded::Tool(name.to_owned()), Scopes::of(["write"]));
                    server.update(other).unwrap();
                }
                None
            })
            .build()
            .unwrap();
        let service = StreamableHttpService::new(server.clone());
        let opened = Raw::initialize("2025-03-26").send(&service).await;
        let session = opened.header("mcp-session-id").unwrap();
        judging.set(server).unwrap();
        let one = |id| request(id, "tools/call", &params);
        let raw = || match way {
            "modern" => Raw::modern("tools/call", params.clone()),
            "legacy" => Raw::legacy(session, "tools/call", &params),
            _ => Raw::post(json!([one(1), one(2)]).to_string()).set("mcp-session-id", session),
        };
        let send = async || {
            let mut request = raw().request();
            request.extensions_mut().insert(Scopes::of(["read"]));
            let body = service.handle(request).await.into_body();
            let body = body.collect().await.unwrap().to_bytes();
            String::from_utf8(body.to_vec()).unwrap()
        };
        let answer = send().await;
        let calls = if way == "batch" { 2 } else { 1 };
        assert_eq!(answer.matches("\"old\"").count(), calls, "{way}: {answer}");
        let answer = send().await;
        assert!(!answer.contains("\"old\"") && !answer.contains("\"new\""), "{way}: {answer}");
    }
}

#[tokio::test]
async fn updates_at_once_are_all_there_afterwards() {
    let server = builder(&probe().0).build().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (server, seen) = (server.clone(), Arc::clone(&seen));
            scope.spawn(move || {
                for number in 0..8 {
                    let name = format!("tool-{thread}-{number}");
                    let update = Update::new("x").raw_tool(tool(&name), fixed_answer);
                    server.update(update).unwrap();
                    seen.lock().unwrap().push(name);
                }
            });
        }
    });
    let service = StreamableHttpService::new(server);
    let seen = seen.lock().unwrap().clone();
    for name in &seen {
        let params = json!({"name": name, "arguments": {}});
        let answer = Raw::modern("tools/call", params).send(&service).await;
        assert_eq!(answer.result()["content"][0]["text"], "x");
    }
    let echo = Raw::modern("tools/call", say("hi")).send(&service).await;
    assert_eq!(echo.result()["structuredContent"]["text"], "hi");
}

/// The next message of a GET stream; null for a frame without one.
async fn frame(stream: &mut ResponseBody) -> Value {
    let frame = tokio::time::timeout(PATIENCE, stream.frame()).await;
    let data = frame.unwrap().unwrap().unwrap().into_data().unwrap();
    messages(&data).pop().unwrap_or_default()
}
